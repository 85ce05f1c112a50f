/* SPDX-License-Identifier: BSD-3-Clause */
/* prior.h - conjugate priors of HMMs with Gaussian mixtures.
 *
 *   pi ~ Dir(eta)   rows of A ~ Dir(eps)   rows of c ~ Dir(kappa)            each symmetric
 *   full   Lambda ~ Wishart(W, nu), mu | Lambda ~ N(m, (lambda Lambda)^-1)   nu > d - 1
 *   diag   the same with d = 1 in each dimension by itself                   nu > 0
 *
 * Lambda is the precision, and nu how many frames the prior counts for.  B = W^-1 is the scatter of these
 * frames: it is what statistics are added to. */
#ifndef VH_MODEL_PRIOR_H
#define VH_MODEL_PRIOR_H

#include "model/h3m.h"

typedef struct {
    const vh_emission *family;
    int d;
    double alpha, eta, eps, kappa; /* alpha: of the weights of a mixture of HMMs */
    double lambda, nu;
    double *m;        /* [d] */
    double *B;        /* diag [d], full [d][d] */
    double *variance; /* [d]  of the data it was made from: what floors are shares of; NULL: not known */
    bool broad;       /* fits begin at HMMs with large variances, not at those of highest likelihood */
} vh_prior;

/* Does the family have a conjugate prior?  Without one there is no variational Bayes. */
static inline bool vh_prior_exists(const vh_emission *family)
{
    return family->prior != VH_PRIOR_FRAMES;
}
/* Is B a matrix? */
static inline bool vh_prior_full(const vh_emission *family)
{
    return family->prior == VH_PRIOR_NORMAL_WISHART;
}
/* Numbers of a scatter, such as B: d, or d d. */
static inline size_t vh_scatter_size(const vh_emission *family, int d)
{
    return vh_prior_full(family) ? (size_t)d * (size_t)d : (size_t)d;
}
static inline size_t vh_prior_size(const vh_prior *p)
{
    return vh_scatter_size(p->family, p->d);
}
/* Where the scatter of dimension k by itself stands in it. */
static inline size_t vh_scatter_at(const vh_emission *family, int d, int k)
{
    return vh_prior_full(family) ? (size_t)k * (size_t)d + (size_t)k : (size_t)k;
}

/* Room for a prior; all numbers are the caller's to fill in. */
vhem_status vh_prior_new(vhem_ctx *ctx, const vh_emission *family, int d, vh_prior **out);
void vh_prior_free(vh_prior *prior);

vhem_status vh_prior_copy(vhem_ctx *ctx, const vh_prior *prior, vh_prior **out);
/* x, [d] positive numbers or a positive definite matrix [d][d], becomes its inverse; false when it is none. */
bool vh_prior_invert(const vh_prior *prior, double *x);
/* The prior in a file, its own or that of a model or clustering file, as JSON text. */
vhem_status vh_prior_load(vhem_ctx *ctx, const char *path, char **text);

/* The JSON object of docs/formats.md, and back; the text is free()d by the caller.  It holds W, not B: who
 * wants the same numbers now and when the file is read takes those of the text. */
vhem_status vh_prior_text(vhem_ctx *ctx, const vh_prior *prior, char **out);
vhem_status vh_prior_read(vhem_ctx *ctx, const char *text, vh_prior **out);
/* The same where it must be one of this dimension and family; what has them: "the data". */
vhem_status vh_prior_read_for(vhem_ctx *ctx, const char *text, const char *what, int d, const char *emission,
                              vh_prior **out);

#endif
