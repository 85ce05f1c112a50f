/* SPDX-License-Identifier: BSD-3-Clause */
/* array2.h - indices of two-dimensional arrays, in size_t: int products overflow from 46341 models on. */
#ifndef VH_CORE_ARRAY2_H
#define VH_CORE_ARRAY2_H

#include <stddef.h>
#include <stdint.h>

/* Number of elements of an array [m][n]. */
static inline size_t vh_cells(int64_t m, int64_t n)
{
    return (size_t)m * (size_t)n;
}

/* Offset of row i of an array [][n]. */
static inline size_t vh_row(int64_t i, int64_t n)
{
    return (size_t)i * (size_t)n;
}

/* Offset of element [i][j] of an array [][n]. */
static inline size_t vh_ij(int64_t i, int64_t n, int64_t j)
{
    return (size_t)i * (size_t)n + (size_t)j;
}

#endif
