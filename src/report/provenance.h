/* SPDX-License-Identifier: BSD-3-Clause */
/* provenance.h - how to make a result again. */
#ifndef VH_REPORT_PROVENANCE_H
#define VH_REPORT_PROVENANCE_H

#include <stdio.h>

/* A heading, the command and every option of a record as files carry it (JSON object as text, or NULL). */
void vh_provenance_put(FILE *f, const char *what, const char *json);

#endif
