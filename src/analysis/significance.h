/* SPDX-License-Identifier: BSD-3-Clause */
/* significance.h - paired and two-sample t, Mann-Whitney U, Cohen's d, correction for multiple tests. */
#ifndef VH_ANALYSIS_SIGNIFICANCE_H
#define VH_ANALYSIS_SIGNIFICANCE_H

#include "core/ctx.h"
#include "vhem/analysis.h"

/* Each fills counts, means, statistic, freedom, p, p_greater and d with its interval; results undefined for
 * lack of data or spread are NaN.  Skips non-finite numbers, and in pairs their partners. */
vhem_status vh_test_paired(vhem_ctx *ctx, int64_t n, const double *a, const double *b, double confidence,
                           vhem_test *out);
/* Welch's t; d by the pooled standard deviation. */
vhem_status vh_test_groups(vhem_ctx *ctx, int64_t n_a, const double *a, int64_t n_b, const double *b,
                           double confidence, vhem_test *out);
/* Exact if a group has at most 8 numbers and there are no ties, otherwise the normal approximation with
 * corrections for ties and continuity. */
vhem_status vh_test_ranks(vhem_ctx *ctx, int64_t n_a, const double *a, int64_t n_b, const double *b,
                          vhem_test *out);

/* Sets p_adjusted within each kind of test: "holm", "bonferroni", "bh", "none". */
vhem_status vh_tests_adjust(vhem_ctx *ctx, int n, vhem_test *test, const char *correction);

#endif
