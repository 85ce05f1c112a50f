/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_report.c - room for what is told of a fit. */
#include "core/alloc.h"
#include "core/array2.h"
#include "core/object.h"
#include "fit/fit.h"

static void clear_report(void *record)
{
    vhem_fit_report *report = record;
    free(report->best);
    free(report->frames);
    free(report->run);
}

vhem_status vh_fit_report_new(vhem_ctx *ctx, int64_t K, int R, vhem_fit_report **out)
{
    VH_OWN(vhem_fit_report) *report = NULL;

    VH_NEW_OBJECT(report, clear_report);
    report->K = K;
    report->R = R;
    VH_NEW(report->best, K);
    VH_NEW(report->frames, K);
    VH_NEW(report->run, vh_cells(K, R));
    *out = vh_take(report);
    return VHEM_OK;
}
