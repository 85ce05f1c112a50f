/* SPDX-License-Identifier: BSD-3-Clause */
/* on_disk.h - models that stay on disk until they are wanted. */
#ifndef VH_TESTS_ON_DISK_H
#define VH_TESTS_ON_DISK_H

#include "support.h"

#include "models/models.h"
#include "vhem.h"

#include <stdlib.h>

/* The set in a folder of so many files, opened and not read; 0: the folder is removed, and NULL. */
static inline vhem_models *on_disk(vhem_ctx *ctx, const vhem_models *m, int shards, const char *path)
{
    char command[600];
    vh_shards *set = NULL;
    vhem_models *out = NULL;
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
    if (shards == 0)
        return NULL;
    assert_ok(ctx, vhem_models_merge(ctx, 1, &m, shards, NULL, path));
    assert_ok(ctx, vh_shards_open(ctx, path, &set));
    set->bytes = 1 << 30; /* as if it were large */
    assert_ok(ctx, vh_models_take_shards(ctx, set, &out));
    return out;
}

#endif
