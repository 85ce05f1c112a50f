/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_set.h - storage of an H3M: K HMMs of one emission family and dimension, each with its own S and M. */
#ifndef VH_HMM_HMM_SET_H
#define VH_HMM_HMM_SET_H

#include "core/ctx.h"
#include "emission/emission.h"
#include "hmm/set_util.h"

typedef struct {
    int S, M;
    char *name, *label; /* NULL for none */
    char *extra;        /* JSON object with unknown keys, to be written again; NULL */
    double *pi, *A;     /* [S] [S][S], in one block with theta; pi owns it */
    double *theta;      /* c [S][M], then each parameter of the family [S][M][size] */
    size_t n_theta;
    bool lent; /* the block is part of one that belongs to the set */
} vh_hmm;
/* How many numbers there are from pi on. */
static inline size_t vh_hmm_numbers(const vh_hmm *h)
{
    return (size_t)(h->theta - h->pi) + h->n_theta;
}

typedef struct vh_h3m_block vh_h3m_block; /* the numbers of many HMMs in one block */

#define VH_SUM_TOLERANCE 1e-6 /* of probabilities that sum to 1 */

typedef struct {              /* frames of the sequences that models were fitted to */
    int64_t min, median, max; /* all 0: not known */
    int64_t frames;           /* that a model was fitted to, in the median; 0: those of a sequence */
} vh_lengths;

typedef struct {
    const vh_emission *family;
    vh_shape shape;
    int d;
    int64_t K;     /* d: shape.d */
    double *omega; /* [K] */
    vh_hmm *hmm;   /* [K] */
    vh_h3m_block *blocks;
    vh_lengths lengths;
    char *prior;              /* that of the fit, a JSON object as text (prior.h); NULL: none */
    char *posterior;          /* whose means they are, likewise (posterior_set.h); not in files; NULL: none */
    char *extra, *provenance; /* JSON objects as text, or NULL */
} vh_h3m;

static inline double *vh_hmm_c(const vh_hmm *h)
{
    return h->theta; /* [S][M] */
}
/* Parameter p of all components, [S][M][vh_param_size]. */
double *vh_hmm_param(const vh_h3m *h3m, const vh_hmm *h, int p);
/* The parameters of component (s, m), par [VH_MAX_PARAM]. */
void vh_hmm_component(const vh_h3m *h3m, const vh_hmm *h, int s, int m, double **par);

/* A copy of K HMMs given as views (emission, n_theta, theta or c, mu and cov); validated. */
vhem_status vh_h3m_from_views(vhem_ctx *ctx, const char *emission, int d, int64_t K, const vhem_hmm_view *hmm,
                              vh_h3m **out);
vhem_status vh_h3m_view(const vh_h3m *h3m, int64_t i, vhem_hmm_view *out);
vhem_status vh_h3m_validate(vhem_ctx *ctx, const vh_h3m *h3m);
/* Of n HMMs alone, from `first` on, whatever their weights sum to; in sentences the first has this number. */
vhem_status vh_h3m_check(vhem_ctx *ctx, const vh_h3m *h3m, int64_t first, int64_t n, int64_t number);
vhem_status vh_h3m_check_omega(vhem_ctx *ctx, const vh_h3m *h3m); /* of the weights alone */
/* Largest difference |a - b| / max(1, |a|, |b|) over all parameters; infinity when the shapes differ. */
double vh_h3m_compare(const vh_h3m *a, const vh_h3m *b);
void vh_h3m_free(vh_h3m *h3m);
VH_OWNED(vh_h3m, vh_h3m_free)

/* K empty slots with omega = 1/K; give each its shape with vh_h3m_shape before use. */
vhem_status vh_h3m_new(vhem_ctx *ctx, const vh_emission *family, vh_shape shape, int64_t K, vh_h3m **out);
/* Storage for HMM i, all zero. */
vhem_status vh_h3m_shape(vhem_ctx *ctx, vh_h3m *h3m, int64_t i, int S, int M);
/* The same for HMMs first .. first+n-1, which have none yet, in one block; S, M [n].  Several threads may do
 * this for different HMMs. */
vhem_status vh_h3m_shape_many(vhem_ctx *ctx, vh_h3m *h3m, int64_t first, int n, const int *S, const int *M);
/* What HMMs that moved from one set to another borrow there moves with them: all of it. */
void vh_h3m_move_blocks(vh_h3m *from, vh_h3m *to);
vhem_status vh_h3m_set_text(vhem_ctx *ctx, char **slot, const char *text); /* NULL clears */
vhem_status vh_h3m_set_cluster(vhem_ctx *ctx, char **slot, int j); /* the name of cluster j: "cluster_j" */
/* Copies the numbers of HMM src[j] into dst[i], which must have the same shape. */
void vh_hmm_copy(vh_hmm *dst, const vh_hmm *src);
/* Keeps the first K HMMs, K at most what there is, with equal weights. */
void vh_h3m_truncate(vh_h3m *h3m, int64_t K);
/* Refuses NaN and infinity, which files cannot hold; names the HMM and the array. */
vhem_status vh_h3m_require_finite(vhem_ctx *ctx, const vh_h3m *h3m);
/* Puts "HMM i: ", with its name if it has one, before the current error sentence. */
void vh_h3m_prefix(vhem_ctx *ctx, const vh_h3m *h3m, int64_t i);
/* st; where it is a failure, its sentence gets that prefix. */
vhem_status vh_h3m_error_in(vhem_ctx *ctx, vhem_status st, const vh_h3m *h3m, int64_t i);

/* Of the weights and all numbers of the HMMs. */
uint64_t vh_h3m_fingerprint(const vh_h3m *h3m);

#endif
