/* SPDX-License-Identifier: BSD-3-Clause */
/* prior_option.h - which prior a fit has: the option, and priors learnt from the data. */
#ifndef VH_FIT_PRIOR_OPTION_H
#define VH_FIT_PRIOR_OPTION_H

#include "data/data.h"
#include "prior/prior.h"

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
double vh_prior_round(double x, double size);

#endif
