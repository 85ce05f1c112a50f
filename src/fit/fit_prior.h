/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_prior.h - the prior of a whole fit: given, or learned from first fits to some of the sets. */
#ifndef VH_FIT_FIT_PRIOR_H
#define VH_FIT_FIT_PRIOR_H

#include "fit/estep.h"
#include "fit/baum_welch.h"
#include "fit/options.h"
#include "fit/sets.h"
#include "data/data.h"
#include "prior/prior.h"

/* ---- the requested prior ------------------------------------------------------------------------------- */

/* The option, and priors learned from the data. */

#define VH_PRIOR_DEFAULT "vb" /* for fits without a given start */

typedef struct { /* the option, parsed */
    bool none;
    char *text;     /* the prior as JSON, if given; NULL: learn it, as follows */
    bool estimate;  /* estimate nu0 and the scale by type-II maximum likelihood; else pooled */
    double nu0;     /* degrees of freedom of a variance */
    double count;   /* pseudo-counts of entries of pi, A and c */
    double lambda;  /* frames that the mean counts for, if states are as wide as the data */
    bool broad;     /* fits begin with large variances */
    bool effective; /* nu0 counts independent frames: more frames if consecutive frames are correlated */
    const char *gaussian; /* name of a setting given that applies only to Gaussians; NULL: none */
    double least;         /* minimum variance of states, as a share of that within states */
    const double *within; /* [d]  deviation within states; NULL: that of all the data */
} vh_prior_choice;        /* zero it before use */

/* Parses spec, as vhem_fit_options.prior; NULL: the default, none if there is a start.  Reads the file. */
vhem_status vh_prior_choose(vhem_ctx *ctx, const char *spec, bool started, vh_prior_choice *out);
void vh_prior_choice_free(vh_prior_choice *choice);

typedef struct {     /* statistics gathered by the states of some fits */
    int64_t n;       /* number of states, or of their components */
    double *frames;  /* [n] */
    double *seen;    /* [n][d]  frames that have each column; NULL: all of them */
    double *scatter; /* [n][size]  about their means; size: d, or d d for full covariances */
} vh_scatters;

/* Computes the requested prior, as JSON, from the scatters of states; mean and variance [d] are those of all
 * frames, rho their correlation with the next frame. */
vhem_status vh_prior_learn(vhem_ctx *ctx, const vh_prior_choice *choice, const vh_emission *family, int d,
                           const double *mean, const double *variance, double rho, const vh_scatters *from,
                           char **out);

/* Rounds x to eight digits of a number of this size. */
double vh_prior_digits(double x, double size);

/* ---- learned from sequences ---------------------------------------------------------------------------- */

#define VH_BROAD 0.5 /* smallest variance of a first fit, as a share of that of the data */
enum {
    VH_PRIOR_SETS = 1000,    /* maximum number of sets to learn a prior from, */
    VH_PRIOR_ROOM = 1 << 23, /* fewer if their scatters exceed this many numbers, */
    VH_PRIOR_LEAST = 20,     /* but at least this many, */
    VH_PRIOR_ROUNDS = 3,     /* number of rounds */
};

/* Reads the prior in the choice's text; its dimension and family must match. */
vhem_status vh_fit_prior_given(vhem_ctx *ctx, const vh_prior_choice *choice, int d, const char *emission,
                               vh_prior **out);

/* Computes the prior that vh_fit_each would use with these options, as JSON text, without fitting the HMMs;
 * *out stays NULL if none.  The caller frees it. */
vhem_status vh_fit_prior_text(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, char **out);

/* Sets the scale to that of the data the prior was learned from, so that a sequence gets the same HMM
 * whatever the other data; share: of the floor. */
void vh_fit_prior_scale(const vh_prior *prior, double share, vh_fit_scale *scale);
/* Rounds its variances to the digits that a prior keeps. */
void vh_fit_prior_step(int d, double share, vh_fit_scale *scale);

/* Raises all variances of the models to at least floor [d]. */
vhem_status vh_fit_prior_widen(vhem_ctx *ctx, const double *floor, vh_h3m *runs);

/* Gathers statistics of the components of an HMM over the sequences of the item: frames [S M], scatter [S
 * M][size], and seen [S M][d], the frames that have each column, unless it is NULL. */
vhem_status vh_fit_prior_gather(vhem_ctx *ctx, const vh_fit_item *item, const vh_h3m *hmm,
                                vh_workers *workers, double *frames, double *seen, double *scatter);

/* Correlation of frames with the next in the same sequence, averaged over the dimensions that vary (not still
 * [d]), in n of the sets. */
double vh_fit_prior_correlation(const vhem_data *data, const vh_sets *sets, const bool *still,
                                const int64_t *which, int64_t n);

#endif
