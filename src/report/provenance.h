/* SPDX-License-Identifier: BSD-3-Clause */
/* provenance.h - how to reproduce a result. */
#ifndef VH_REPORT_PROVENANCE_H
#define VH_REPORT_PROVENANCE_H

#include "core/ctx.h"

#include <stdio.h>

/* Writes a heading, the command and every option of a provenance record (JSON object as text, or NULL). */
vhem_status vh_provenance_put(vhem_ctx *ctx, FILE *f, const char *what, const char *json);

#endif
