/* SPDX-License-Identifier: BSD-3-Clause */
/* predict.h - what the models of classes say about items. */
#ifndef VH_ANNOTATE_PREDICT_H
#define VH_ANNOTATE_PREDICT_H

#include "annotate/classes.h"
#include "estimate/items.h"

/* loglik [n][C]: mean over the sequences of item which[i] (NULL: item i) of log p(y | class c); fast: as
 * vhem_classes_predict.  *scored: the share of the models that were scored. */
vhem_status vh_predict(vhem_ctx *ctx, const vhem_classes *classes, const vhem_data *data,
                       const vh_items *items, const int *which, int n, int fast, double *loglik,
                       double *scored);
/* Bayes' rule: log_posterior [C] from loglik [C]; a class of prior 0 has none. */
void vh_bayes(int C, const double *loglik, const double *prior, double *log_posterior);
/* An empty prediction of all items for C classes; loglik and log_posterior are -inf. */
vhem_status vh_prediction_new(vhem_ctx *ctx, const vh_items *items, int C, vhem_prediction **out);

#endif
