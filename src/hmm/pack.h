/* SPDX-License-Identifier: BSD-3-Clause */
/* pack.h - HMMs laid out for the kernels: all components of all HMMs in one matrix of natural parameters. */
#ifndef VH_HMM_PACK_H
#define VH_HMM_PACK_H

#include "core/own.h"
#include "hmm/hmm_set.h"

typedef struct {
    const vh_emission *family;
    vh_shape shape;
    int d, n_stat; /* d: shape.d */
    /* HMMs, and their states and components all together.  They are int because base HMMs come in chunks of
     * VH_REDUCE_CHUNK, and the others, that a frame or a base HMM is held against, are so many at once. */
    int K, n_state, n_comp;
    size_t n_trans;      /* entries of all A together */
    int *S, *M;          /* [K] */
    int *state0, *comp0; /* [K+1]  where the states and components of an HMM begin */
    size_t *trans0;      /* [K+1]  where its A begins */
    double *pi, *A;      /* [n_state] [n_trans] */
    double *c, *mean;    /* [n_comp] [n_comp][n_stat]  base sets only: mixture weights, E_b[T] */
    bool *lacks;         /* [K][d]  columns that a base HMM lacks (missing_columns.h); NULL: they have all */
    double *theta;       /* [n_comp][n_stat]  natural parameters, log c added to the constant */
    double *log_c;       /* [n_comp] */
    double
        *seen_shift; /* [n_comp][vh_shift_counts]  added to the log density of what was observed; or NULL */
    const double **par;    /* [n_comp][VH_MAX_PARAM]  the component's parameters, in the model */
    unsigned char *direct; /* [n_comp]  the product would lose digits: take log_density instead */
    int n_direct;
    bool sparse;      /* most of a statistic of a frame is 0, and there is much of it */
    int64_t at_fault; /* HMM that made vh_pack_update fail, -1 for none */
    vh_coords x;      /* coordinates of the product; origin and scale are owned */
    vh_coords *about; /* [n_comp]  coordinates of its statistics: x, or moved to its own mean */
    void *keep;       /* of a block that was made for somebody: what its maker has to release; else NULL */
} vh_packed;

/* Space for the HMMs chosen by index (NULL: all K of the H3M), in coordinates with this origin and scale [d].
 * The numbers come with vh_pack_update; the model must outlive the packed set. */
vhem_status vh_pack_new(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, int64_t K,
                        const double *origin, const double *scale, vh_packed **out);
/* Takes the present numbers of the same HMMs.  Fails when a covariance is
 * singular; pk->at_fault is then its HMM. */
vhem_status vh_pack_update(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, vh_packed *pk);
/* The other side of the product: HMMs as base models, whose components enter through their mean statistics.
 * Singular covariances are welcome.  Made once; par and the model's numbers must not change. */
vhem_status vh_pack_base(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, int64_t K,
                         const double *origin, const double *scale, vh_packed **out);
void vh_pack_free(vh_packed *pk);
VH_OWNED(vh_packed, vh_pack_free)

/* What component r adds for the cells that the frame y has: 0 where there is no seen_shift. */
double vh_pack_seen_shift(const vh_packed *pk, int r, const double *y);
/* The same for base HMM i, which may lack columns. */
double vh_pack_shift(const vh_packed *pk, int r, const vh_packed *base, int i);

/* The table log c_r + log p(y_t | r) of a chunk of frames, in three steps because frames come from several
 * places: the statistics T [n][n_stat] of each piece, one product for all, G [n_comp][ld], of which only the
 * rows of components lo .. hi-1 are made, and for each piece the rows of the components that need the direct
 * form.  work [vh_emission_work]. */
void vh_table_stats(const vh_packed *pk, const double *y, int64_t n, double *T);
/* The first two steps in one for n frames, where T has one entry beside the constant (vh_emission.hot); and
 * what sums of T with weights W [n_comp][ld] become: sum [n_comp][n_stat] += W T, components lo .. hi-1. */
void vh_table_look_up(const vh_packed *pk, int lo, int hi, const double *y, int64_t n, double *G, size_t ld);
void vh_table_add_up(const vh_packed *pk, int lo, int hi, const vh_known_frames *frames, const double *W,
                     size_t ld, double *sum);
void vh_table_product(const vh_packed *pk, int lo, int hi, int n, const double *T, double *G, size_t ld);
vhem_status vh_table_direct(vhem_ctx *ctx, const vh_packed *pk, const vh_known_frames *frames, double *G,
                            size_t ld, double *work);

#endif
