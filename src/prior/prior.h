/* SPDX-License-Identifier: BSD-3-Clause */
/* prior.h - conjugate priors of HMMs.
 *
 *   pi ~ Dir(eta)   rows of A ~ Dir(eps)   rows of c ~ Dir(kappa)            each symmetric
 *   full   Lambda ~ Wishart(W, nu), mu | Lambda ~ N(m, (lambda Lambda)^-1)   nu > d - 1
 *   diag   the same with d = 1 in each dimension by itself                   nu > 0
 *   counts Dirichlet, beta or gamma distributions with the parameters `count` (vh_counts)
 *   channels of a product: each by itself
 *
 * Lambda is the precision, and nu how many frames the prior counts for.  B = W^-1 is the scatter of these
 * frames: it is what statistics are added to.  The priors of counts and channels are made from a number of
 * frames of one component, which is what files keep of them. */
#ifndef VH_PRIOR_PRIOR_H
#define VH_PRIOR_PRIOR_H

#include "core/own.h"
#include "core/array2.h"
#include "hmm/hmm_set.h"

/* A prior of made-up frames: for families without a conjugate prior, and what the conjugate ones of families
 * other than Gaussians are made from.  Every component sees `frames` frames of one component, that of all the
 * data, and every entry of pi, A and c counts `count` more. */
typedef struct {
    double frames, count;
    vh_h3m *model; /* one state, one component */
} vh_frames_prior; /* zero it before use */

void vh_frames_prior_free(vh_frames_prior *p);
typedef struct vh_prior vh_prior;
struct vh_prior {
    const vh_emission *family;
    vh_shape shape; /* it has a share in the layout */
    int d;
    double alpha, eta, eps, kappa; /* alpha: of the weights of a mixture of HMMs */
    double lambda, nu;
    double *m;        /* [d] */
    double *B;        /* diag [d], full [d][d] */
    double *variance; /* [d]  of the data it was made from; NULL: not known */
    double *within;   /* [d]  within its states, which floors are shares of; NULL: `variance` */
    bool *still;      /* [d]  columns that never vary: what is known of them stays the prior; NULL: none */
    int n_still;
    bool broad;         /* fits begin at HMMs with large variances, not at those of highest likelihood */
    double *count;      /* [vh_prior_counts] */
    vh_prior **channel; /* [n_channel]  whose Dirichlet parameters have no meaning */
    int n_channel;
    vh_frames_prior made_up; /* of counts and channels */
};

/* Does the family have a conjugate prior?  Without one there is no variational Bayes. */
bool vh_prior_exists(const vh_emission *family, const vh_shape *shape);
/* If it has none, a sentence that says why, and what to do. */
vhem_status vh_prior_require(vhem_ctx *ctx, const vh_emission *family, const vh_shape *shape);

/* Is B a matrix? */
static inline bool vh_prior_full(const vh_emission *family)
{
    return family->prior == VH_PRIOR_NORMAL_WISHART;
}
/* Is it of the first two forms? */
static inline bool vh_prior_normal(const vh_emission *family)
{
    return family->prior == VH_PRIOR_NORMAL_GAMMA || vh_prior_full(family);
}
/* Numbers of `count`. */
static inline size_t vh_prior_counts(const vh_prior *p)
{
    return p->family->counts ? (size_t)p->family->counts->n_array * vh_param_size(p->family, 0, &p->shape)
                             : 0;
}
/* Numbers of a scatter, such as B: d, or d d; 0 where there is none. */
static inline size_t vh_scatter_size(const vh_emission *family, int d)
{
    return vh_prior_full(family) ? vh_cells(d, d) : vh_prior_normal(family) ? (size_t)d : 0;
}
static inline size_t vh_prior_size(const vh_prior *p)
{
    return vh_scatter_size(p->family, p->d);
}
/* and of m */
static inline size_t vh_prior_means(const vh_prior *p)
{
    return vh_prior_normal(p->family) ? (size_t)p->d : 0;
}
/* Where the scatter of dimension k by itself stands in it. */
static inline size_t vh_scatter_at(const vh_emission *family, int d, int k)
{
    return vh_prior_full(family) ? vh_ij(k, d, k) : (size_t)k;
}

/* Room for a prior; all numbers are the caller's to fill in. */
vhem_status vh_prior_new(vhem_ctx *ctx, const vh_emission *family, int d, vh_prior **out);
vhem_status vh_prior_new_shaped(vhem_ctx *ctx, const vh_emission *family, const vh_shape *shape,
                                vh_prior **out);
void vh_prior_free(vh_prior *prior);
VH_OWNED(vh_prior, vh_prior_free)
/* Tells the prior which columns of the data never vary, mean [d] their values.  Such a column says nothing of
 * states, but the more of its frames a state had the more certain it would be: they are not counted, and the
 * column stays as in the prior, the same in all states.  given: the prior is of other data; only where that
 * had the same value everywhere is there nothing to learn. */
vhem_status vh_prior_set_still(vhem_ctx *ctx, const bool *never_varies, const double *mean, bool given,
                               vh_prior *prior);
/* Is column k one? */
static inline bool vh_prior_still(const vh_prior *p, int k)
{
    return p->n_still > 0 && p->still[k];
}
/* The prior that made-up frames are, of which *from gives its model away. */
vhem_status vh_prior_from_frames(vhem_ctx *ctx, vh_frames_prior *from, vh_prior **out);

vhem_status vh_prior_copy(vhem_ctx *ctx, const vh_prior *prior, vh_prior **out);
/* x, [d] positive numbers or a positive definite matrix [d][d], becomes its inverse; false when it is
 * none. */
bool vh_prior_invert(const vh_prior *prior, double *x);
#endif
