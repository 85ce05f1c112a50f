/* SPDX-License-Identifier: BSD-3-Clause */
/* gaussian.h - what Gaussians with diagonal and with full covariances have in common: a place. */
#ifndef VH_EMISSION_GAUSSIAN_H
#define VH_EMISSION_GAUSSIAN_H

#include "emission/emission.h"
#include "emission/component_split.h"

extern const vh_location vh_location_diag, vh_location_full, vh_location_gaps, vh_location_full_gaps;
/* The families with statistics that know of missing cells. */
extern const vh_emission vh_gaussian_diag_gaps, vh_gaussian_full_gaps;

/* Entries that a family has in common with its twin for missing cells; what they do is said in emission.h. */
void vh_diag_moments(const vh_shape *shape, const double *const *par, double *mean, double *var);
void vh_full_moments(const vh_shape *shape, const double *const *par, double *mean, double *var);
bool vh_full_expected_density(const vh_shape *shape, const double *const *r, const double *const *b, int n,
                              double *out, int step, double *work);
bool vh_full_log_product(const vh_shape *shape, const double *const *p, const double *const *q, double lambda,
                         double *out, double *work);
bool vh_full_root(const vh_shape *shape, const double *const *par, double *r, double *work);
void vh_full_draw(vh_rng *rng, const vh_shape *shape, const double *const *par, const double *r, double *y);
bool vh_full_validate(const vh_shape *shape, const double *const *par, char *why, size_t size, double *work);
double vh_full_n_free(const vh_shape *shape);

#endif
