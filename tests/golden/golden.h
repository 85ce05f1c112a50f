/* SPDX-License-Identifier: BSD-3-Clause */
/* golden.h - reading the golden files: JSON with models and numbers. */
#ifndef VH_TESTS_GOLDEN_H
#define VH_TESTS_GOLDEN_H

#include "files/hmm_file.h"
#include "support.h"

#include "core/ctx.h"
#include "data/data.h"
#include "hmm/hmm_set.h"

#include <jansson.h>

/* The numbers of tests/golden/data/FILE; VHEM_GOLDEN names another folder.  A file that is not there is a
 * failure. */
static inline json_t *golden_load(const char *file)
{
    char path[4096];
    const char *folder = getenv("VHEM_GOLDEN");
    json_error_t err;
    snprintf(path, sizeof path, "%s/%s", folder && *folder ? folder : "tests/golden/data", file);
    json_t *root = json_load_file(path, 0, &err);
    if (!root)
        fail_msg("%s: %s", path, err.text);
    return root;
}

static inline vh_h3m *golden_model(vhem_ctx *ctx, json_t *object)
{
    vh_h3m *h3m = NULL;
    assert_ok(ctx, vh_model_from_json(ctx, object, NULL, &h3m));
    return h3m;
}

/* All numbers of nested arrays in order; returns how many were written to out (NULL: only counted). */
static inline size_t golden_flat(json_t *a, double *out)
{
    size_t n = 0, i;
    json_t *v;
    if (json_is_number(a)) {
        if (out)
            *out = json_number_value(a);
        return 1;
    }
    assert_true(json_is_array(a));
    json_array_foreach(a, i, v) n += golden_flat(v, out ? out + n : NULL);
    return n;
}

/* The numbers of an array in memory of their own. */
static inline double *golden_numbers(json_t *a, size_t *n)
{
    size_t count = golden_flat(a, NULL);
    double *x = malloc(sizeof *x * (count + 1));
    golden_flat(a, x);
    if (n)
        *n = count;
    return x;
}

#endif
