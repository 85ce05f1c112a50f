/* SPDX-License-Identifier: BSD-3-Clause */
/* provenance.h - how to make a result again. */
#ifndef VH_REPORT_PROVENANCE_H
#define VH_REPORT_PROVENANCE_H

#include "core/ctx.h"

#include <stdio.h>

/* A heading, the command and every option of a record as files carry it (JSON object as text, or NULL). */
vhem_status vh_provenance_put(vhem_ctx *ctx, FILE *f, const char *what, const char *json);

#endif
