/* SPDX-License-Identifier: BSD-3-Clause */
/* vhem.h - for programs written for 0.4 and before: the whole library.  New ones include vhem.h itself. */
#ifndef VHEM_VHEM_H
#define VHEM_VHEM_H

#include "../vhem.h"
#include "analysis.h"
#include "classes.h"
#include "distributed.h"

#endif
