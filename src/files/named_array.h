/* SPDX-License-Identifier: BSD-3-Clause */
/* named_array.h - an array of numbers in a file, JSON or HDF5: its name and shape, also for messages. */
#ifndef VH_FILES_NAMED_ARRAY_H
#define VH_FILES_NAMED_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

enum { VH_MAX_RANK = 4 };

typedef struct {
    const char *name;
    int rank;
    struct {
        const char *name;
        int64_t n;
    } dim[VH_MAX_RANK]; /* name and extent: "S" and its value */
    double *at;         /* the numbers, where a model has storage for them; else NULL */
    bool nulls;         /* in JSON, null is allowed and becomes NaN */
} vh_named_array;

#endif
