/* SPDX-License-Identifier: BSD-3-Clause */
/* backend.h - the kernel table: everything that is worth doing differently on different hardware.
 *
 * A backend starts as a copy of `ref`, which defines the right answer, and
 * replaces the entries it speeds up. */
#ifndef VH_BACKEND_BACKEND_H
#define VH_BACKEND_BACKEND_H

#include "core/scratch.h"
#include "data/data.h"
#include "model/stats.h"

typedef struct vh_batch { /* some whole sequences of a data set */
    const vhem_data *data;
    const int *seq; /* [n]  their indices */
    int n;
    int64_t frames; /* all together */
    /* How much each pair of a sequence and an HMM counts in the statistics, w [n][K], said once loglik [n][K]
     * is known.  NULL: a pair counts with the weight of its sequence. */
    void (*weigh)(const struct vh_batch *, const double *loglik, double *w);
    bool known;      /* weigh needs no loglik: pairs of weight zero are then left out altogether, and their
                        loglik stays as it was */
    const void *arg; /* what weigh needs to know, */
    int first;       /* and the place of seq[0] in the list that was cut into batches */
} vh_batch;

typedef struct {           /* base against reduced HMMs, for virtual samples of tau frames */
    const vh_packed *base; /* from vh_pack_base; HMMs of one shape side by side */
    const vh_packed *reduced;
    int tau;
    bool soft; /* most pairs will have weight: what score finds on its way may be kept in its scratch memory
                  for accumulate of the same HMMs */
} vh_estep;

enum { VH_ESTEP_BLOCK = 64 }; /* base HMMs that are scored and accumulated together */

typedef struct {                   /* the probability product kernel between two sets of HMMs */
    const vh_packed *a, *b;        /* from vh_pack_base, HMMs of one shape side by side; may be the same */
    const double *self_a, *self_b; /* [n_comp]  log int p^2 of each component, which tells |Sigma| */
    int tau;
    double lambda; /* > 0 */
} vh_product;

typedef struct vh_backend {
    const char *name;
    bool (*usable)(void); /* CPU flag or device present */

    /* Every HMM of the set against every sequence of the batch: loglik [n][K], in nats.  With stats (NULL:
     * only the log-likelihood is wanted) the expected statistics of each pair times its weight are added to
     * it; pairs that weigh says are of weight zero cost nothing there.  scratch belongs to the calling
     * thread. */
    vhem_status (*forward_backward)(vhem_ctx *, const vh_packed *, const vh_batch *, vh_scratch *,
                                    double *loglik, vh_stats *stats);

    /* The variational E-step (paper, Appendix A).  L [n][Kr]: the bound
     * L_hmm of base HMMs first .. first+n-1. */
    vhem_status (*score)(vhem_ctx *, const vh_estep *, int first, int n, vh_scratch *, double *L);
    /* Adds the summary statistics nu1, nu, xi of the same pairs, each times w_ij, w [n][Kr];
     * pairs of weight zero cost nothing. */
    vhem_status (*accumulate)(vhem_ctx *, const vh_estep *, int first, int n, const double *w, vh_scratch *,
                              vh_stats *);

    /* log k~ (paper, Section 4.2) of HMMs a0 .. a0+na-1 of a against b0 .. b0+nb-1 of b: log_k [na][nb]. */
    vhem_status (*product)(vhem_ctx *, const vh_product *, int a0, int na, int b0, int nb, vh_scratch *,
                           double *log_k);
} vh_backend;

extern const vh_backend vh_backend_ref;

/* Frames a batch should have so that the tables of a chunk stay in the second-level cache. */
int vh_batch_frames(const vh_packed *pk);

#endif
