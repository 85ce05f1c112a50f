/* SPDX-License-Identifier: BSD-3-Clause */
/* intervals.h - how well the centres of variational Bayes are known: intervals that hold a parameter with a
 * probability of 95 %, from the posterior in the file.
 *
 * The posterior counts virtual samples, nv of tau frames for each model, and an interval says what these
 * leave open: not the errors of the models, and not that a model which was fitted to one sequence has been
 * seen to start once and not nv times (vh_known_start).
 *
 * An entry of a Dirichlet distribution with parameters a is a beta variable, Beta(a_k, sum a - a_k).  A mean
 * is one of Student's with nu degrees of freedom (full covariances: nu - d + 1 = f), scale sqrt(B_kk /
 * (lambda f)).  Other families say their own (vh_counts). */
#ifndef VH_REPORT_INTERVALS_H
#define VH_REPORT_INTERVALS_H

#include "model/posteriors.h"
#include "report/facts.h"

typedef struct {
    double mean, low, high;
} vh_interval;

/* The posterior of a level; NULL where it has none. */
vhem_status vh_known_read(vhem_ctx *ctx, const vh_clustering *c, vh_posteriors **out);
/* Entry k of a row of n parameters of a Dirichlet distribution. */
vh_interval vh_known_share(int n, const double *a, int k);
/* Entry s of pi, if each model is counted as one start: eta [S] of the posterior is eta0 and the starts of
 * all virtual samples, nv of each model.  As the posterior has it where nv is at most 1. */
vh_interval vh_known_start(int S, const double *eta, double eta0, double nv, int s);
/* Entry k of the first parameter of component q: a dimension of the mean, or the probability of a symbol. */
vh_interval vh_known_mean(const vh_prior *shape, const vh_posterior *h, int q, int k);

/* Figure and tables of a card: transition probabilities and means of centre j. */
void vh_figure_known(FILE *f, const vh_facts *facts, int l, int j);
/* Every interval of all levels, as a table. */
void vh_known_put(FILE *f, const vh_facts *facts);
/* In words: how many clusters there are of at most how many; nothing for other methods. */
void vh_known_lead(FILE *f, const vh_facts *facts, int l);

#endif
