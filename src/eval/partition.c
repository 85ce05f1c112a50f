/* SPDX-License-Identifier: BSD-3-Clause */
/* partition.c - how well two partitions agree; the sums are in math/agreement.c. */
#include "math/agreement.h"

void vhem_partition_compare(int n, const int *a, const int *b, vhem_agreement *out)
{
    vh_agreement(n, a, b, out);
}
