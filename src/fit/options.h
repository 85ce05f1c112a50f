/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - options of a fit: defaults, checks, and what they mean for given data. */
#ifndef VH_FIT_OPTIONS_H
#define VH_FIT_OPTIONS_H

#include "data/data.h"
#include "fit/sets.h"
#include "hmm/models_record.h"

/* Without a given start, when none were asked for.  With 4 for an HMM by itself, the best of three HMMs in
 * ten depends on the seed (docs/choosing.md). */
enum { VH_FIT_RESTARTS = 10, VH_MIXTURE_RESTARTS = 4 };

/* The options with every default that does not depend on the data; asked may be NULL.  restarts stays open.
 */
vhem_fit_options vh_fit_filled(const vhem_fit_options *asked);
/* Are dynamic textures asked for? */
bool vh_fit_wants_textures(const vhem_fit_options *opt);
/* Defaults filled in, everything checked against the data, of which a start is the caller's to check. */
vhem_status vh_fit_resolve(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *asked,
                           vhem_fit_options *out);
/* The HMMs of a given start, NULL when there is none. */
static inline const vh_h3m *vh_fit_start(const vhem_fit_options *opt)
{
    return opt->start ? opt->start->h3m : NULL;
}
typedef struct {
    double *spread; /* [d]  the deviation of all the data */
    double *within; /* [d]  that of frames in one state (vh_spread_within) */
    double *floor;  /* [d]  smallest variances, a share of the square of `within`; NULL: none */
} vh_fit_scale;     /* zeroed is empty */

/* For HMMs of n_state components, one for each of the sets.  sets NULL: for textures, whose noise has nothing
 * to do with states, the share is of the variance of all.  A dimension that never varies counts with unit
 * spread.  To be freed by the caller, on failure too. */
vhem_status vh_fit_scale_of(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, int n_state,
                            double share, vh_fit_scale *out);
void vh_fit_scale_free(vh_fit_scale *scale);
/* floor [d] := share of the squares of `within`; nothing when there is no floor. */
void vh_fit_scale_floor(int d, double share, vh_fit_scale *scale);

/* The sentence for a column without values; by_column: the emission names it. */
vhem_status vh_fit_no_values(vhem_ctx *ctx, const vhem_data *data, int lacking, bool by_column);
/* Refuses a column that is missing throughout. */
vhem_status vh_fit_require_values(vhem_ctx *ctx, const vhem_data *data);
/* Is column k missing throughout n of the sequences?  seq NULL: the first n. */
bool vh_fit_lacks(const vhem_data *data, const int64_t *seq, int64_t n, int k);
/* The sizes of components for these sequences, and their family. */
vh_shape vh_fit_shape(const vhem_data *data);
const vh_emission *vh_fit_family(const vhem_data *data, const vhem_fit_options *opt);

#endif
