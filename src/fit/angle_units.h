/* SPDX-License-Identifier: BSD-3-Clause */
/* angle_units.h - angles that look like degrees where radians are needed. */
#ifndef VH_FIT_ANGLE_UNITS_H
#define VH_FIT_ANGLE_UNITS_H

#include "data/data.h"
#include "emission/layout.h"

/* Warns, once for a set of sequences, of columns that models of this family take as angles and whose values
 * go beyond a turn.  Columns are those of the layout, found in the data at place [d]; NULL: the columns of
 * the data. */
void vh_warn_of_angle_units(vhem_ctx *ctx, const vhem_data *data, const vh_emission *family,
                            const vh_layout *layout, const int *place);

#endif
