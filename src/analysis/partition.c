/* SPDX-License-Identifier: BSD-3-Clause */
/* partition.c - agreement between two partitions; math/agreement.c computes the sums. */
#include "core/alloc.h"
#include "core/names.h"
#include "math/agreement.h"
#include "vhem/analysis.h"

#include <limits.h>
#include <math.h>
#include <string.h>

int64_t vhem_partition_compare(int64_t n, const int *a, const int *b, vhem_agreement *out)
{
    enum { FEW = 2048 };
    int few[2 * FEW], *x = n <= FEW ? few : malloc(2 * (size_t)n * sizeof *x);
    int64_t m = 0;

    *out = (vhem_agreement){ NAN, NAN, NAN, NAN };
    for (int64_t i = 0; x && i < n; i++)
        if (a[i] >= 0 && b[i] >= 0) {
            x[m] = a[i];
            x[n + m++] = b[i];
        }
    if (m > 1)
        vh_agreement(m, x, x + n, out);
    if (x != few)
        free(x);
    return x ? m : -1;
}

vhem_status vhem_number_names(vhem_ctx *ctx, int64_t n, const char *const *name, int *number, int *n_names)
{
    if (n > 0)
        VH_ENTER(name, number);
    VH_CLEANUP(vh_names_free) vh_names names = { 0 };
    bool is_new;

    for (int64_t i = 0; i < n; i++) {
        int64_t index = -1;
        if (name[i] && name[i][0])
            VH_TRY(vh_names_put(ctx, &names, name[i], strlen(name[i]), &index, &is_new));
        VH_CHECK(index <= INT_MAX, VHEM_EINVAL, "more than %d different names", INT_MAX);
        number[i] = (int)index;
    }
    if (n_names)
        *n_names = (int)names.n;
    return VHEM_OK;
}
