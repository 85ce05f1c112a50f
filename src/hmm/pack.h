/* SPDX-License-Identifier: BSD-3-Clause */
/* pack.h - HMMs in the layout of the kernels: all components of all HMMs in one matrix of natural
 * parameters. */
#ifndef VH_HMM_PACK_H
#define VH_HMM_PACK_H

#include "core/own.h"
#include "hmm/hmm_set.h"

typedef struct {
    const vh_emission *family;
    vh_shape shape;
    int d, n_stat; /* d: shape.d */
    /* Numbers of HMMs, states and components.  int suffices: base HMMs come in chunks of VH_REDUCE_CHUNK, and
     * reduced HMMs are few enough to be in memory together. */
    int K, n_state, n_comp;
    size_t n_trans;        /* entries of all A */
    int *S, *M;            /* [K] */
    int *state0, *comp0;   /* [K+1]  index of the first state and component of each HMM */
    size_t *trans0;        /* [K+1]  index of the first entry of its A */
    double *pi, *A;        /* [n_state] [n_trans] */
    double *c, *mean;      /* [n_comp] [n_comp][n_stat]  base sets only: mixture weights, E_b[T] */
    bool *lacks;           /* [K][d]  columns missing from each base HMM (missing_columns.h); NULL: none */
    double *theta;         /* [n_comp][n_stat]  natural parameters; the constant includes log c */
    double *log_c;         /* [n_comp] */
    double *seen_shift;    /* [n_comp][vh_shift_counts]  added to log densities by observed cells; or NULL */
    const double **par;    /* [n_comp][VH_MAX_PARAM]  the component's parameters, within the model */
    unsigned char *direct; /* [n_comp]  the product would lose digits: use log_density instead */
    int n_direct;
    bool sparse;      /* statistics of frames are long and mostly 0 */
    int64_t at_fault; /* HMM on which vh_pack_update failed, -1 for none */
    vh_coords x;      /* coordinates of the product; owns origin and scale */
    vh_coords *about; /* [n_comp]  coordinates of its statistics: x, or centred at its own mean */
    void *keep;       /* owner of a block's memory, freed by the release function; else NULL */
} vh_packed;

/* Allocates a packed set for the HMMs index [K] (NULL: all K of the H3M), in coordinates with this origin and
 * scale [d].  vh_pack_update fills it; the model must outlive it. */
vhem_status vh_pack_new(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, int64_t K,
                        const double *origin, const double *scale, vh_packed **out);
/* Copies the current numbers of the same HMMs.  Fails if a covariance is singular; pk->at_fault is then its
 * HMM. */
vhem_status vh_pack_update(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, vh_packed *pk);
/* Packs HMMs as base models, whose components enter the product through their mean statistics.  Allows
 * singular covariances.  par and the model's numbers must not change afterwards. */
vhem_status vh_pack_base(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, int64_t K,
                         const double *origin, const double *scale, vh_packed **out);
void vh_pack_free(vh_packed *pk);
VH_OWNED(vh_packed, vh_pack_free)

/* Term of component r for the observed cells of frame y; 0 without seen_shift. */
double vh_pack_seen_shift(const vh_packed *pk, int r, const double *y);
/* Same for base HMM i, which may lack columns. */
double vh_pack_shift(const vh_packed *pk, int r, const vh_packed *base, int i);

/* The table log c_r + log p(y_t | r) of a chunk of frames, in three steps because the frames are not
 * contiguous: the statistics T [n][n_stat] of each piece; one product for all, G [n_comp][ld], rows of
 * components lo .. hi-1 only; and for each piece the rows of components in direct form.  work
 * [vh_emission_work]. */
void vh_table_stats(const vh_packed *pk, const double *y, int64_t n, double *T);
/* The first two steps combined for n frames, if T has at most one nonzero besides the constant
 * (vh_emission.hot); and the matching sums with weights W [n_comp][ld]: sum [n_comp][n_stat] += W T,
 * components lo .. hi-1. */
void vh_table_look_up(const vh_packed *pk, int lo, int hi, const double *y, int64_t n, double *G, size_t ld);
void vh_table_add_up(const vh_packed *pk, int lo, int hi, const vh_known_frames *frames, const double *W,
                     size_t ld, double *sum);
void vh_table_product(const vh_packed *pk, int lo, int hi, int n, const double *T, double *G, size_t ld);
vhem_status vh_table_direct(vhem_ctx *ctx, const vh_packed *pk, int lo, int hi, const vh_known_frames *frames,
                            double *G, size_t ld, double *work);

#endif
