/* SPDX-License-Identifier: BSD-3-Clause */
/* angle_units.c - see angle_units.h. */
#include "fit/angle_units.h"

#include <math.h>

#define MOST 7.0 /* radians: a full turn, from 0 or from -pi, with some margin */

bool vh_is_angle(const vh_emission *family, const vh_layout *layout, int k)
{
    for (int c = 0; layout && c < layout->n_channel; c++)
        if (k >= layout->channel[c].column && k < layout->channel[c].column + layout->channel[c].shape.d)
            family = layout->channel[c].family;
    return family && family->values == VH_ANGLES;
}

/* The angle of largest magnitude in column k of the data, at sequence *n, frame *t. */
static double find_largest(const vhem_data *data, int k, int64_t *n, int64_t *t)
{
    double largest = 0;
    for (int64_t i = 0; i < data->N; i++) {
        const double *y = vh_data_frames(data, i) + k;
        for (int64_t s = 0; s < vh_data_length(data, i); s++)
            if (fabs(y[s * data->d]) > fabs(largest)) {
                largest = y[s * data->d];
                *n = i;
                *t = s;
            }
        vh_data_passed(data, i);
    }
    return largest;
}

static void warn(vhem_ctx *ctx, const vhem_data *data, int k)
{
    int64_t n = 0, t = 0;
    double largest = find_largest(data, k, &n, &t);
    if (fabs(largest) > MOST)
        vh_log(ctx, VHEM_LOG_WARN, "%s is %g: angles must be in radians, not degrees",
               vh_data_location(data, n, t, k, (char[VH_PLACE_SIZE]){ "" }), largest);
}

void vh_warn_of_angle_units(vhem_ctx *ctx, const vhem_data *data, const vh_emission *family,
                            const vh_layout *layout, const int *place)
{
    bool any = false;
    for (int k = 0; k < (layout ? layout->d : data->d) && !any; k++)
        any = vh_is_angle(family, layout, k);
    if (!any || atomic_exchange(&((vhem_data *)data)->told_degrees, true))
        return;
    for (int k = 0; k < (layout ? layout->d : data->d); k++)
        if (vh_is_angle(family, layout, k))
            warn(ctx, data, place ? place[k] : k);
}
