/* SPDX-License-Identifier: BSD-3-Clause */
/* paired.c - the paired t-test: do two lists differ, run by run, by more than chance? */
#include "math/student.h"
#include "vhem/analysis.h"

#include <math.h>

/* Relative to the values: a smaller spread of the differences is rounding and invalidates the test. */
#define ROUNDING 1e-10

void vhem_paired_t(int64_t n, const double *a, const double *b, double *t, double *p)
{
    double mean = 0, square = 0, size = 0;
    *t = *p = NAN;
    for (int64_t i = 0; i < n; i++)
        mean += (a[i] - b[i]) / (double)n;
    for (int64_t i = 0; i < n; i++)
        size = fmax(size, fmax(fabs(a[i]), fabs(b[i])));
    for (int64_t i = 0; i < n; i++)
        square += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    if (n < 2 || !(sqrt(square / (double)n) > ROUNDING * size))
        return;
    *t = mean / sqrt(square / (double)(n - 1) / (double)n);
    *p = vh_student_two_sided(*t, (double)(n - 1));
}
