/* SPDX-License-Identifier: BSD-3-Clause */
/* restarts.h - a reduction from many starts, for every kind of model that is reduced by hierarchical EM.
 *
 * The objective has many optima.  With the virtual samples one wants, assignments are hard from the first
 * iteration on, and a run stays near where it began; so a run first goes through a soft phase with few
 * virtual samples.  That helps on most sets of models and harms on some (docs/choosing.md), so that with init
 * "auto", which takes all kinds of starts in turn, every second round of them goes without.  Most of the
 * starts are given up after a few iterations: where they stand then tells well enough where they would
 * end.  Restarts come in rounds, and end when the best bound has been found again.
 *
 * Candidates that others have prepared (spectral_starts.h) join the restarts and compete with them. */
#ifndef VH_SEARCH_RESTARTS_H
#define VH_SEARCH_RESTARTS_H

#include "parallel/scratch.h"
#include "vhem/vhem_h3m.h"

typedef struct {
    const char *kind; /* of its start; NULL: a given one */
    uint64_t seed;
    void *centers;               /* models of the kind at hand */
    void (*free)(void *centers); /* NULL: they are lent */
    vh_vhem_run run;             /* iterations at the wanted N; z and L of the best restart only */
    double J;
    int *label;        /* [Kb]  its partition when it is finished, else NULL */
    double modularity; /* of that; NaN: not known */
    int soft;          /* iterations of its soft phase */
    bool begun, finished, stopped;
    bool candidate; /* not one of the restarts */
    vhem_status st;
} vh_restart;

enum { VH_MAX_CANDIDATES = 16 };

typedef struct { /* one run of the loop of hierarchical EM, and the threads it may use */
    bool trial;  /* on a sample of the base models */
    vh_vhem_options opt;
    const vh_workers *workers;
} vh_reduction;

typedef struct { /* what the kind of model provides; arg is its own */
    /* The start of a restart. */
    vhem_status (*start)(vhem_ctx *ctx, void *arg, const vh_restart *r, vh_scratch *scratch, void **centers);
    /* The loop, as vh_vhem. */
    vhem_status (*reduce)(vhem_ctx *ctx, void *arg, const vh_reduction *how, void *centers, vh_vhem_run *run);
    void (*free)(void *centers);
} vh_restart_ops;

typedef struct vh_search {
    const vh_restart_ops *ops;
    void *arg;
    const vhem_cluster_options *opt;
    const double *floor;  /* [d], or NULL */
    int64_t K;            /* clusters */
    int64_t Kb, Kb_trial; /* base models, and those restarts are judged on; equal: all */
    bool given;           /* the one restart is a start that somebody has given */
    bool lean;            /* runs on all base models have labels, but neither z nor L */
    double work;          /* of an E-step, very roughly in nanoseconds */
    int R, n;             /* restarts; with the candidates that have joined them */
    vh_restart *all;      /* [R + VH_MAX_CANDIDATES] */
    int *order;           /* [R]  best first, after the short runs */
    vh_workers workers;
    int best;            /* -1: none yet */
    int next;            /* the run that the next candidate would keep; -1: none, or not known */
    double slack;        /* runs whose bounds are this near to the best, in nats, are as good: candidates are
                            then told apart by their modularity */
    double constant;     /* what columns that never vary add to bounds, for each sample; tolerances are shares
                            of the rest.  0 for a given start, whose run others repeat elsewhere */
    int failed;          /* the first restart that failed, by its number; -1: none */
    char sentence[2048]; /* of that one */
} vh_search;

/* opt->restarts of them under a seed, with the kinds [n_kind] of starts in turn, or with opt->init alone when
 * that is one; given: all from the given start.  What is above R is the caller's to fill in. */
vhem_status vh_search_new(vhem_ctx *ctx, const vhem_cluster_options *opt, const char *const *kinds,
                          int n_kind, bool given, uint64_t seed, vh_search *s);
/* All restarts, then the promising ones to their end; s->best is the winner. */
vhem_status vh_search_run(vhem_ctx *ctx, vh_search *s);
/* A run of at most max_iter iterations (-1: to its end) from r->centers, with all threads; trial: on the
 * sample.  What r holds of an earlier run is replaced; its labels and tables are those of the models it was
 * run on. */
vhem_status vh_search_try(vhem_ctx *ctx, vh_search *s, bool trial, int max_iter, vh_restart *r);
/* A finished run on all models joins the restarts, and wins when its bound is the best. */
void vh_search_join(vh_search *s, vh_restart *r);
/* s->best becomes the N-th best of the partitions that differ, each by an adjusted Rand index below
 * VH_SAME_GROUPS from all better ones; the slack of the search says what is better. */
#define VH_SAME_GROUPS 0.9
vhem_status vh_search_select(vhem_ctx *ctx, vh_search *s, int N);
void vh_restart_free(vh_restart *r);
/* Bounds that differ by less than this do not tell partitions apart: nats per virtual frame, dimension and
 * model.  The bound itself is looser than that wherever states overlap (docs/choosing.md). */
#define VH_BOUND_SLACK 0.003
void vh_search_free(vh_search *s);

#endif
