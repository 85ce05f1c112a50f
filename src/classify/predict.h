/* SPDX-License-Identifier: BSD-3-Clause */
/* predict.h - scores items under the models of classes. */
#ifndef VH_CLASSIFY_PREDICT_H
#define VH_CLASSIFY_PREDICT_H

#include "classify/classes.h"
#include "fit/sets.h"
#include "vhem/classes.h"

typedef struct { /* the items to score */
    const vhem_data *data;
    const vh_sets *items;
    const int64_t *which; /* [n]  items; NULL: the first n */
    int64_t n;
    int fast; /* as in vhem_classes_predict */
} vh_question;

/* loglik [n][C]: mean over the sequences of each item of log p(y | class c).  *scored: fraction of the models
 * that were scored. */
vhem_status vh_predict(vhem_ctx *ctx, const vhem_classes *classes, const vh_question *q, double *loglik,
                       double *scored);
/* Bayes' rule: log_posterior [C] from loglik [C]; -inf for a class of prior 0. */
void vh_bayes(int C, const double *loglik, const double *prior, double *log_posterior);
/* Creates a prediction of all items for C classes with loglik and log_posterior -inf. */
vhem_status vh_prediction_new(vhem_ctx *ctx, const vh_sets *items, int C, vhem_prediction **out);

#endif
