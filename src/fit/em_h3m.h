/* SPDX-License-Identifier: BSD-3-Clause */
/* em_h3m.h - EM for a mixture of HMMs on sequences (EM-H3M), several starts in parallel.  Sequences of a set
 * share one assignment.
 *
 *   z_gj ~ omega_j prod_{n in g} p(y_n | M_j)^{w_n}
 *   J = sum_g log sum_j omega_j prod_{n in g} p(y_n | M_j)^{w_n}
 *
 * with w_n the weight of a sequence: it counts as w_n copies that stay together. */
#ifndef VH_FIT_EM_H3M_H
#define VH_FIT_EM_H3M_H

#include "fit/estep.h"
#include "fit/baum_welch.h"
#include "fit/sets.h"

typedef struct { /* a mixture to fit */
    /* asked for: of the item, data and opt, whose K, S, M, emission and restarts are final */
    vh_fit_item item; /* all sequences, in the order of the sets */
    const vh_sets *sets;
    const char *kind; /* of the starts, one of vh_em_starts; NULL: all in turn */
    bool relative;    /* opt->tol is a share of J, not nats per frame */
    uint64_t seed;
    const char *what; /* label for progress */
    /* made of it */
    const vh_limits *limits; /* [K]  of each HMM */
    vh_workers *workers;
    vh_opened_sequences *seqs; /* the sequences, by sets, in the coordinates of the item */
} vh_mixture;

typedef struct { /* one restart */
    uint64_t seed;
    const char *kind; /* how it started */
    int n_iter, converged;
    int n_empty, n_revived, n_fell; /* clusters re-seeded, states revived, decreases of J */
    int n_floored;                  /* covariances at the floor at the end */
    double *J;                      /* [n_iter+1]; freed by the caller */
    vhem_status st;                 /* if not VHEM_OK, the restart failed and J is unreliable */
} vh_em_run;

typedef struct { /* a mixture and its restarts */
    vh_h3m *h3m; /* the best mixture; NULL: none yet */
    int R, best;
    vh_em_run *run; /* [R]  without failed restarts; without J: not begun */
    double *z, *L;  /* [sets][K]  of the best: assignments and log-likelihoods */
    /* of the best mixture after any complete E-step, the only valid result after a stop: */
    int iter;
    double J;
} vh_mixture_result; /* zero it before use */

void vh_mixture_result_free(vh_mixture_result *result);

/* Fits a mixture from several starts; its HMMs get names.  On VHEM_ESTOPPED, `out` is the best so far. */
vhem_status vh_mixture_fit(vhem_ctx *ctx, const vh_mixture *asked, vh_mixture_result *out);

/* `all` holds the K HMMs of R initialised mixtures, one mixture after the other, each with weights omega that
 * sum to 1; each is iterated until it converges, and run [R] describes how.  A mixture whose covariance
 * collapses fails without affecting the others.  A better mixture replaces `best`; its run counts from
 * `first`.  After VHEM_ESTOPPED only `best` is valid: an E-step may have been abandoned. */
vhem_status vh_em_h3m(vhem_ctx *ctx, const vh_mixture *mix, vh_h3m *all, int R, int first, vh_em_run *run,
                      vh_mixture_result *best);

/* Computes assignments z [sets][K] and log-likelihoods L [sets][K] of the sets under one mixture, and J into
 * *J.  Any output may be NULL. */
vhem_status vh_em_assign(vhem_ctx *ctx, const vh_mixture *mix, const vh_h3m *h3m, double *z, double *L,
                         double *J);

typedef struct { /* initialisation of one HMM of a mixture */
    const vh_limits *limits;
    const int64_t *seq; /* [n]  the sequences to fit to */
    int64_t n;
    int iterations; /* of Baum-Welch, after the start */
} vh_em_seeding;

/* Initialises HMM h of an H3M from a few sequences. */
vhem_status vh_em_seed(vhem_ctx *ctx, const vh_mixture *mix, const vh_em_seeding *from, vh_rng *rng,
                       vh_h3m *h3m, vh_hmm *h);

/* ---- starts -------------------------------------------------------------------------------------------- */

/* Names of the starts, "far" and "dealt"; ends with NULL. */
extern const char *const vh_em_starts[];
/* Fills HMMs first .. first+K-1 of the H3M, whose shape is set, and their weights. */
vhem_status vh_em_start(vhem_ctx *ctx, const char *name, const vh_mixture *mix, vh_rng *rng, vh_h3m *h3m,
                        int first);

#endif
