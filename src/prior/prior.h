/* SPDX-License-Identifier: BSD-3-Clause */
/* prior.h - conjugate priors of HMMs.
 *
 *   pi ~ Dir(eta)   rows of A ~ Dir(eps)   rows of c ~ Dir(kappa)            each symmetric
 *   full   Lambda ~ Wishart(W, nu), mu | Lambda ~ N(m, (lambda Lambda)^-1)   nu > d - 1
 *   diag   the same with d = 1, independently in each dimension              nu > 0
 *   counts Dirichlet, beta or gamma distributions with the parameters `count` (vh_counts)
 *   channels of a product: independent
 *
 * Lambda is the precision, and nu the number of frames the prior counts for.  B = W^-1 is the scatter of
 * these frames, to which statistics are added.  Priors of counts and channels are built from a number of
 * frames of one component; files store these. */
#ifndef VH_PRIOR_PRIOR_H
#define VH_PRIOR_PRIOR_H

#include "core/own.h"
#include "core/array2.h"
#include "hmm/hmm_set.h"

/* A prior of pseudo-frames: for families without a conjugate prior, and the source of conjugate priors of
 * families other than Gaussians.  Every component gets `frames` frames of one component, that of all the
 * data, and every entry of pi, A and c a pseudo-count of `count`. */
typedef struct {
    double frames, count;
    vh_h3m *model; /* one state, one component */
} vh_frames_prior; /* zero it before use */

void vh_frames_prior_free(vh_frames_prior *p);
typedef struct vh_prior vh_prior;
struct vh_prior {
    const vh_emission *family;
    vh_shape shape; /* shares ownership of the layout */
    int d;
    double alpha, eta, eps, kappa; /* alpha: weights of a mixture of HMMs */
    double lambda, nu;
    double *m;        /* [d] */
    double *B;        /* diag [d], full [d][d] */
    double *variance; /* [d]  of the data it was computed from; NULL if unknown */
    double *within;   /* [d]  within its states, basis of the floors; NULL: use `variance` */
    bool *still;      /* [d]  columns that never vary and keep their prior; NULL: none */
    int n_still;
    bool broad;         /* fits start at HMMs with large variances, not of highest likelihood */
    double *count;      /* [vh_prior_counts] */
    vh_prior **channel; /* [n_channel]  whose Dirichlet parameters are unused */
    int n_channel;
    vh_frames_prior made_up; /* source of counts and channels */
};

/* True if the family has a conjugate prior, which variational Bayes requires. */
bool vh_prior_exists(const vh_emission *family, const vh_shape *shape);
/* Fails if it has none, with a message that says why and what to do. */
vhem_status vh_prior_require(vhem_ctx *ctx, const vh_emission *family, const vh_shape *shape);

/* True if B is a matrix. */
static inline bool vh_prior_full(const vh_emission *family)
{
    return family->prior == VH_PRIOR_NORMAL_WISHART;
}
/* True if the prior is normal-gamma or normal-Wishart. */
static inline bool vh_prior_normal(const vh_emission *family)
{
    return family->prior == VH_PRIOR_NORMAL_GAMMA || vh_prior_full(family);
}
/* Size of `count`. */
static inline size_t vh_prior_counts(const vh_prior *p)
{
    return p->family->counts ? (size_t)p->family->counts->n_array * vh_param_size(p->family, 0, &p->shape)
                             : 0;
}
/* Size of a scatter, such as B: d, or d d; 0 if the prior has none. */
static inline size_t vh_scatter_size(const vh_emission *family, int d)
{
    return vh_prior_full(family) ? vh_cells(d, d) : vh_prior_normal(family) ? (size_t)d : 0;
}
static inline size_t vh_prior_size(const vh_prior *p)
{
    return vh_scatter_size(p->family, p->d);
}
/* Size of m. */
static inline size_t vh_prior_means(const vh_prior *p)
{
    return vh_prior_normal(p->family) ? (size_t)p->d : 0;
}
/* Index of the diagonal entry of dimension k in a scatter. */
static inline size_t vh_scatter_at(const vh_emission *family, int d, int k)
{
    return vh_prior_full(family) ? vh_ij(k, d, k) : (size_t)k;
}

/* Allocates a prior; the caller fills in its numbers. */
vhem_status vh_prior_new(vhem_ctx *ctx, const vh_emission *family, int d, vh_prior **out);
vhem_status vh_prior_new_shaped(vhem_ctx *ctx, const vh_emission *family, const vh_shape *shape,
                                vh_prior **out);
void vh_prior_free(vh_prior *prior);
VH_OWNED(vh_prior, vh_prior_free)
/* Marks the columns of the data that never vary, with values mean [d].  Such a column does not distinguish
 * states, but each of its frames would make a state more certain; so its frames are not counted, and it keeps
 * its prior in all states.  given: the prior comes from other data; the column is then marked only if it has
 * the same constant value there. */
vhem_status vh_prior_set_still(vhem_ctx *ctx, const bool *never_varies, const double *mean, bool given,
                               vh_prior *prior);
/* True if column k never varies. */
static inline bool vh_prior_still(const vh_prior *p, int k)
{
    return p->n_still > 0 && p->still[k];
}
/* Builds the prior from pseudo-frames; takes ownership of from->model. */
vhem_status vh_prior_from_frames(vhem_ctx *ctx, vh_frames_prior *from, vh_prior **out);

vhem_status vh_prior_copy(vhem_ctx *ctx, const vh_prior *prior, vh_prior **out);
/* Inverts x in place, [d] positive numbers or a positive definite matrix [d][d]; false if it is neither. */
bool vh_prior_invert(const vh_prior *prior, double *x);
#endif
