/* SPDX-License-Identifier: BSD-3-Clause */
/* angle_units.h - detects angles in degrees where radians are expected. */
#ifndef VH_FIT_ANGLE_UNITS_H
#define VH_FIT_ANGLE_UNITS_H

#include "data/data.h"
#include "emission/layout.h"

/* Does column k hold angles?  layout NULL: one family for all columns, NULL if it is not known. */
bool vh_is_angle(const vh_emission *family, const vh_layout *layout, int k);
/* Warns, once per data set, about columns that models of this family treat as angles and whose values exceed
 * a full turn.  Columns are those of the layout, found in the data at place [d]; NULL: those of the data. */
void vh_warn_of_angle_units(vhem_ctx *ctx, const vhem_data *data, const vh_emission *family,
                            const vh_layout *layout, const int *place);

#endif
