/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - options of a fit: defaults, checks, and values that depend on the data. */
#ifndef VH_FIT_OPTIONS_H
#define VH_FIT_OPTIONS_H

#include "data/data.h"
#include "fit/sets.h"
#include "hmm/models_record.h"

/* Defaults without a given start.  With 4 for a single HMM, the best of three HMMs in ten would depend on the
 * seed (docs/searching-models.md). */
enum { VH_FIT_RESTARTS = 10, VH_MIXTURE_RESTARTS = 4 };

/* The options with all defaults that do not depend on the data; asked may be NULL.  May leave restarts
 * unset. */
vhem_fit_options vh_fit_filled(const vhem_fit_options *asked);
/* True if the options request dynamic textures. */
bool vh_fit_wants_textures(const vhem_fit_options *opt);
/* Fills in defaults and checks everything against the data, except a start, which the caller checks. */
vhem_status vh_fit_resolve(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *asked,
                           vhem_fit_options *out);
/* The HMMs of a given start, or NULL. */
static inline const vh_h3m *vh_fit_start(const vhem_fit_options *opt)
{
    return opt->start ? opt->start->h3m : NULL;
}
typedef struct {
    double *spread; /* [d]  the deviation of all the data */
    double *within; /* [d]  the deviation of frames in one state (vh_spread_within) */
    double *floor;  /* [d]  smallest variances, a share of the square of `within`; NULL: none */
} vh_fit_scale;     /* zero it to start empty */

/* For HMMs of n_state components, one per set.  sets NULL: for textures, whose noise is unrelated to states,
 * the share is of the total variance.  A constant dimension counts with unit spread.  The caller frees `out`,
 * also on failure. */
vhem_status vh_fit_scale_of(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, int n_state,
                            double share, vh_fit_scale *out);
void vh_fit_scale_free(vh_fit_scale *scale);
/* floor [d] := share of the squares of `within`; does nothing if there is no floor. */
void vh_fit_scale_floor(int d, double share, vh_fit_scale *scale);

/* Reports a column without values; by_column: the emission names it. */
vhem_status vh_fit_no_values(vhem_ctx *ctx, const vhem_data *data, int lacking, bool by_column);
/* Rejects columns without any value. */
vhem_status vh_fit_require_values(vhem_ctx *ctx, const vhem_data *data);
/* True if column k has no value in n of the sequences.  seq NULL: the first n. */
bool vh_fit_lacks(const vhem_data *data, const int64_t *seq, int64_t n, int k);
/* The shape and family of components for these sequences. */
vh_shape vh_fit_shape(const vhem_data *data);
const vh_emission *vh_fit_family(const vhem_data *data, const vhem_fit_options *opt);

#endif
