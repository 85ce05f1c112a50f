/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_prior.h - the prior of a whole fit: given, or learnt from first fits to some of the sets. */
#ifndef VH_FIT_FIT_PRIOR_H
#define VH_FIT_FIT_PRIOR_H

#include "fit/estep.h"
#include "fit/baum_welch.h"
#include "fit/options.h"
#include "fit/sets.h"
#include "data/data.h"
#include "prior/prior.h"

/* ---- the prior that was asked for ---------------------------------------------------------------------- */

/* Which prior a fit has: the option, and priors learnt from the data. */

#define VH_PRIOR_DEFAULT "vb" /* of fits without a given start */

typedef struct { /* the option, read */
    bool none;
    char *text;     /* the prior as JSON, where it is given; NULL: it is to be learnt, as follows */
    bool estimate;  /* nu0 and the scale by type-II maximum likelihood; else the pooled variance */
    double nu0;     /* degrees of freedom of a variance */
    double count;   /* pseudo-counts of entries of pi, A and c */
    double lambda;  /* frames that the mean counts for, if states are as wide as the data */
    bool broad;     /* fits begin at large variances */
    bool effective; /* nu0 is of independent frames: more of them, where frames follow one another closely */
    const char *gaussian; /* a setting that was given and means something for Gaussians alone; NULL: none */
    double least;         /* variances of states count as at least this share of those within states */
    const double *within; /* [d]  deviation within states; NULL: as of all the data */
} vh_prior_choice;        /* zero it before use */

/* spec as vhem_fit_options.prior; NULL: the default, none when there is a start.  The file is read here. */
vhem_status vh_prior_choose(vhem_ctx *ctx, const char *spec, bool started, vh_prior_choice *out);
void vh_prior_choice_free(vh_prior_choice *choice);

typedef struct {     /* what the states of some fits have gathered */
    int64_t n;       /* states, or their components */
    double *frames;  /* [n] */
    double *seen;    /* [n][d]  frames that have each column; NULL: all of them */
    double *scatter; /* [n][size]  about their means; size: d, or d d for full covariances */
} vh_scatters;

/* The prior that the choice asks for, as JSON, from the scatters of states; mean and variance [d] are those
 * of all frames, rho their correlation with the next frame. */
vhem_status vh_prior_learn(vhem_ctx *ctx, const vh_prior_choice *choice, const vh_emission *family, int d,
                           const double *mean, const double *variance, double rho, const vh_scatters *from,
                           char **out);

/* x to eight digits of a number of this size. */
double vh_prior_digits(double x, double size);

/* ---- learned from sequences ---------------------------------------------------------------------------- */

#define VH_BROAD 0.5 /* smallest variance of a first fit, as a share of that of the data */
enum {
    VH_PRIOR_SETS = 1000,    /* a prior is learnt from so many sets at most, */
    VH_PRIOR_ROOM = 1 << 23, /* fewer where their scatters have more numbers than this, */
    VH_PRIOR_LEAST = 20,     /* but so many at least, */
    VH_PRIOR_ROUNDS = 3,     /* so many times */
};

/* The prior in the choice's text; it must be one of this dimension and family. */
vhem_status vh_fit_prior_given(vhem_ctx *ctx, const vh_prior_choice *choice, int d, const char *emission,
                               vh_prior **out);

/* The prior that vh_fit_each would give HMMs with these options, as JSON text, without fitting them; *out
 * stays NULL when it is none.  free() it. */
vhem_status vh_fit_prior_text(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, char **out);

/* The scale becomes that of the data the prior was made from, so that a sequence gets the same HMM whatever
 * is beside it; share: of the floor. */
void vh_fit_prior_scale(const vh_prior *prior, double share, vh_fit_scale *scale);
/* Its variances with the digits that a prior keeps of them. */
void vh_fit_prior_step(int d, double share, vh_fit_scale *scale);

/* All variances of the models at least floor [d]. */
vhem_status vh_fit_prior_widen(vhem_ctx *ctx, const double *floor, vh_h3m *runs);

/* What the components of an HMM gather from the sequences of the job: frames [S M], scatter [S M][size], and
 * seen [S M][d], the frames that have each column, unless it is NULL. */
vhem_status vh_fit_prior_gather(vhem_ctx *ctx, const vh_fit_item *job, const vh_h3m *hmm, vh_workers *workers,
                                double *frames, double *seen, double *scatter);

/* Correlation of frames with the next in the same sequence, the mean over the dimensions but those that never
 * vary, still [d], in n of the sets. */
double vh_fit_prior_correlation(const vhem_data *data, const vh_sets *sets, const bool *still,
                                const int64_t *which, int64_t n);

#endif
