/* SPDX-License-Identifier: BSD-3-Clause */
/* validate_batch.c - see validate_batch.h.
 *
 * Checking one HMM takes a dozen short loops with a test in each.  Over whole arrays, the tests become sums
 * without branches: x - x is 0 for finite x and NaN otherwise, so one comparison at the end checks all of
 * them. */
#include "hmm/validate_batch.h"

#include "hmm/hmm_set.h"

#include <float.h>
#include <math.h>

static bool finite_all(const double *x, size_t n)
{
    double off = 0;
    for (size_t i = 0; i < n; i++)
        off += x[i] - x[i];
    return off == 0;
}

static bool positive_all(const double *x, size_t n)
{
    bool fine = true;
    for (size_t i = 0; i < n; i++)
        fine &= x[i] >= 0 && x[i] <= DBL_MAX;
    return fine;
}

/* True if all rows of `width` numbers are distributions.  A sum within the tolerance has no infinite part. */
static bool sum_to_one(const double *p, size_t rows, int width)
{
    bool fine = true;
    for (size_t r = 0; r < rows; r++, p += width) {
        double sum = 0;
        for (int k = 0; k < width; k++) {
            sum += p[k];
            fine &= p[k] >= 0;
        }
        fine &= fabs(sum - 1) <= VH_SUM_TOLERANCE;
    }
    return fine;
}

bool vh_rows_valid(const vh_emission *family, const vh_shape *shape, int S, int M, int64_t n,
                   double *const *array)
{
    size_t states = (size_t)n * (size_t)S, numbers = states * (size_t)M * (size_t)shape->d;
    /* These tests are those of diagonal Gaussians: finite means, nonnegative variances. */
    if (family->kernel != VH_KERNEL_GAUSSIAN_DIAG || !array[0] || !array[1] || !array[2] || !array[3]
        || !array[4])
        return false;
    return sum_to_one(array[0], (size_t)n, S) && sum_to_one(array[1], states, S)
           && sum_to_one(array[2], states, M) && finite_all(array[3], numbers)
           && positive_all(array[4], numbers);
}

bool vh_rows_weights(const double *omega, int64_t n)
{
    return positive_all(omega, (size_t)n);
}
