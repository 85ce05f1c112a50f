/* SPDX-License-Identifier: BSD-3-Clause */
/* restarts.h - hierarchical EM from many starts, for every kind of model.
 *
 * The objective has many local optima.  With the usual number of virtual samples, assignments are hard from
 * the first iteration on, and a run stays near its start; so a run begins with a soft phase of few virtual
 * samples.  That helps on most sets of models and harms on some (docs/searching-models.md), so with init
 * "auto", which cycles through all kinds of starts, every second cycle skips it.  Most runs are abandoned
 * after a few iterations, when their bounds already predict the final ranking.  Restarts run in batches,
 * until the best bound is found again.
 *
 * Candidates prepared elsewhere (spectral_starts.h) join the restarts and compete with them. */
#ifndef VH_SEARCH_RESTARTS_H
#define VH_SEARCH_RESTARTS_H

#include "parallel/scratch.h"
#include "vhem/vhem_h3m.h"

typedef struct {
    const char *kind; /* kind of start; NULL: given by the caller */
    uint64_t seed;
    void *centers;               /* models of this kind */
    void (*free)(void *centers); /* NULL: not owned */
    vh_vhem_run run;             /* iterations with the final N; only the best restart has z and L */
    double J;
    int *label;        /* [Kb]  its partition when finished, else NULL */
    double modularity; /* of the partition; NaN if unknown */
    int soft;          /* iterations of the soft phase */
    bool begun, finished, stopped;
    bool candidate; /* a candidate, not a restart */
    vhem_status st;
} vh_restart;

enum { VH_MAX_CANDIDATES = 16 };

typedef struct vh_search {
    /* What differs between kinds of models, with arg as its own. */
    /* Makes the start of a restart. */
    vhem_status (*start)(vhem_ctx *ctx, void *arg, const vh_restart *r, vh_scratch *scratch, void **centers);
    /* Runs the EM loop, as vh_vhem; trial: on a sample of the base models. */
    vhem_status (*reduce)(vhem_ctx *ctx, void *arg, bool trial, const vh_vhem_options *opt,
                          const vh_workers *workers, void *centers, vh_vhem_run *run);
    void (*free)(void *centers);
    void *arg;
    const vhem_cluster_options *opt;
    const double *floor;  /* [d], or NULL */
    int64_t K;            /* number of clusters */
    int64_t Kb, Kb_trial; /* base models, and those used to judge restarts; equal: all */
    bool given;           /* the only restart is a start given by the caller */
    bool lean;            /* runs on all base models compute labels, but neither z nor L */
    double work;          /* cost of an E-step, very roughly in nanoseconds */
    int R, n;             /* restarts; with joined candidates */
    vh_restart *all;      /* [R + VH_MAX_CANDIDATES] */
    int *order;           /* [R]  best first, after the short runs */
    vh_workers workers;
    int best;            /* -1: none yet */
    int next;            /* run that candidate N + 1 would select; -1: none or unknown */
    double slack;        /* bounds within this many nats of the best count as equal: candidates are then
                            ranked by modularity */
    double constant;     /* contribution of still columns to the bound, per sample; tolerances are relative to
                            the rest.  0 for a given start, so that its run can be reproduced elsewhere */
    int failed;          /* first failed restart, by index; -1: none */
    char sentence[2048]; /* its error message */
} vh_search;

/* Sets up opt->restarts restarts, which cycle through the kinds [n_kind] of starts, or use only opt->init if
 * it is one of them; given: use the given start.  The caller fills in the fields above R. */
vhem_status vh_search_new(vhem_ctx *ctx, const vhem_cluster_options *opt, const char *const *kinds,
                          int n_kind, bool given, uint64_t seed, vh_search *s);
/* Runs all restarts, then the promising ones to their end; s->best is the best. */
vhem_status vh_search_run(vhem_ctx *ctx, vh_search *s);
/* Runs at most max_iter iterations (-1: the default) from r->centers, with all threads; trial: on the sample.
 * Replaces the results of an earlier run in r; its labels and tables are for the models of this run. */
vhem_status vh_search_try(vhem_ctx *ctx, vh_search *s, bool trial, int max_iter, vh_restart *r);
/* Adds a finished run on all models to the restarts; it becomes s->best if its bound is the best. */
void vh_search_join(vh_search *s, vh_restart *r);
/* Sets s->best to the N-th best of the distinct partitions; distinct: adjusted Rand index with all better
 * ones below VH_SAME_GROUPS.  The slack of the search decides what is better. */
#define VH_SAME_GROUPS 0.9
vhem_status vh_search_select(vhem_ctx *ctx, vh_search *s, int N);
void vh_restart_free(vh_restart *r);
/* Bounds that differ by less than this do not separate partitions: nats per virtual frame, dimension and
 * model.  The bound itself is looser than that wherever states overlap (docs/searching-models.md). */
#define VH_BOUND_SLACK 0.003
void vh_search_free(vh_search *s);

#endif
