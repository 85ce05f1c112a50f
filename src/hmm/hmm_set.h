/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_set.h - storage of an H3M: K HMMs of one emission family and dimension, each with its own S and M. */
#ifndef VH_HMM_HMM_SET_H
#define VH_HMM_HMM_SET_H

#include "core/ctx.h"
#include "emission/emission.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct {
    int S, M;
    char *name, *label; /* NULL for none */
    char *extra;        /* JSON object of unknown keys, written back on save; or NULL */
    double *pi, *A;     /* [S] [S][S], in one block with theta, owned by pi */
    double *theta;      /* c [S][M], then each parameter of the family [S][M][size] */
    size_t n_theta;
    bool lent; /* the block belongs to the set */
} vh_hmm;
/* Numbers from pi on. */
static inline size_t vh_hmm_numbers(const vh_hmm *h)
{
    return (size_t)(h->theta - h->pi) + h->n_theta;
}

typedef struct vh_h3m_block vh_h3m_block; /* numbers of many HMMs in one block */

#define VH_SUM_TOLERANCE 1e-6 /* tolerance for probabilities that sum to 1 */

typedef struct {              /* frames of the sequences that the models were fitted to */
    int64_t min, median, max; /* all 0 if unknown */
    int64_t frames;           /* median number of frames per fitted model; 0: one sequence each */
} vh_lengths;

typedef struct {
    const vh_emission *family;
    vh_shape shape;
    int d; /* shape.d */
    int64_t K;
    double *omega; /* [K] */
    vh_hmm *hmm;   /* [K] */
    vh_h3m_block *blocks;
    vh_lengths lengths;
    char *prior;              /* prior of the fit, JSON text (prior.h); or NULL */
    char *posterior;          /* their posterior, JSON text (posterior_set.h); not saved; or NULL */
    char *extra, *provenance; /* JSON text, or NULL */
} vh_h3m;

static inline double *vh_hmm_c(const vh_hmm *h)
{
    return h->theta; /* [S][M] */
}
/* Parameter p of all components, [S][M][vh_param_size]. */
double *vh_hmm_param(const vh_h3m *h3m, const vh_hmm *h, int p);
/* Sets par [VH_MAX_PARAM] to the parameters of component (s, m). */
void vh_hmm_component(const vh_h3m *h3m, const vh_hmm *h, int s, int m, double **par);

/* Copies and validates K HMMs given as views (emission, n_theta, theta or c, mu and cov). */
vhem_status vh_h3m_from_views(vhem_ctx *ctx, const char *emission, int d, int64_t K, const vhem_hmm_view *hmm,
                              vh_h3m **out);
vhem_status vh_h3m_view(const vh_h3m *h3m, int64_t i, vhem_hmm_view *out);
vhem_status vh_h3m_validate(vhem_ctx *ctx, const vh_h3m *h3m);
/* Validates n HMMs from `first` on, but not the sum of their weights; error messages count from `number`. */
vhem_status vh_h3m_check(vhem_ctx *ctx, const vh_h3m *h3m, int64_t first, int64_t n, int64_t number);
vhem_status vh_h3m_check_omega(vhem_ctx *ctx, const vh_h3m *h3m); /* weights only */
/* Largest difference |a - b| / max(1, |a|, |b|) over all parameters; infinity if the shapes differ. */
double vh_h3m_compare(const vh_h3m *a, const vh_h3m *b);
void vh_h3m_free(vh_h3m *h3m);
VH_OWNED(vh_h3m, vh_h3m_free)

/* K empty slots with omega = 1/K; call vh_h3m_shape for each before use. */
vhem_status vh_h3m_new(vhem_ctx *ctx, const vh_emission *family, vh_shape shape, int64_t K, vh_h3m **out);
/* Allocates HMM i, zeroed. */
vhem_status vh_h3m_shape(vhem_ctx *ctx, vh_h3m *h3m, int64_t i, int S, int M);
/* Same for HMMs first .. first+n-1, which must be empty, in one block; S, M [n].  Thread-safe for different
 * HMMs. */
vhem_status vh_h3m_shape_many(vhem_ctx *ctx, vh_h3m *h3m, int64_t first, int n, const int *S, const int *M);
/* Moves all shared blocks of `from` to `to`, after HMMs that use them were moved. */
void vh_h3m_move_blocks(vh_h3m *from, vh_h3m *to);
vhem_status vh_h3m_set_text(vhem_ctx *ctx, char **slot, const char *text); /* NULL clears */
vhem_status vh_h3m_set_cluster(vhem_ctx *ctx, char **slot, int j); /* name of cluster j: "cluster_j" */
/* Copies the numbers of src to dst, which must have the same shape. */
void vh_hmm_copy(vh_hmm *dst, const vh_hmm *src);
/* Keeps the first K HMMs, with equal weights; K is at most the present number. */
void vh_h3m_truncate(vh_h3m *h3m, int64_t K);
/* Fails on NaN and infinity, which files cannot hold; the message names the HMM and the array. */
vhem_status vh_h3m_require_finite(vhem_ctx *ctx, const vh_h3m *h3m);
/* Prefixes the current error message with "HMM i: " and the HMM's name, if it has one. */
void vh_h3m_prefix(vhem_ctx *ctx, const vh_h3m *h3m, int64_t i);
/* Returns st; if it is a failure, adds that prefix to its message. */
vhem_status vh_h3m_error_in(vhem_ctx *ctx, vhem_status st, const vh_h3m *h3m, int64_t i);

/* Hash of the weights and all numbers of the HMMs. */
uint64_t vh_h3m_fingerprint(const vh_h3m *h3m);

/* The text, or NULL for an empty one. */
const char *vh_model_text(const char *text);
/* Prefixes the current error message with "HMM i: " and the model's name, if it has one; kind is the word
 * "HMM". */
void vh_model_prefix(vhem_ctx *ctx, const char *kind, int64_t i, const char *name);
/* Largest relative difference of a and b [n]; NaN equals NaN, otherwise NaN counts as infinite. */
double vh_model_difference(const double *a, const double *b, size_t n);

#endif
