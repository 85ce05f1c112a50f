/* SPDX-License-Identifier: BSD-3-Clause */
/* test_scratch.c - scratch buffers: aligned, kept while large enough, and
 * an error when there is no memory. */
#include "support.h"

#include "core/alloc.h"
#include "parallel/scratch.h"
#include "vhem.h"

static void buffers(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_scratch scratch = { 0 };
    double *a = vh_scratch_get(ctx, &scratch, 0, 100),
           *b = vh_scratch_get(ctx, &scratch, VH_SCRATCH_SLOTS - 1, 0);
    assert_non_null(a);
    assert_non_null(b); /* nothing is also something */
    assert_int_equal((uintptr_t)a % VH_ALIGN, 0);
    assert_int_equal((uintptr_t)b % VH_ALIGN, 0);
    for (int i = 0; i < 100; i++)
        a[i] = i; /* within the buffer: the sanitizer would say */
    assert_ptr_equal(vh_scratch_get(ctx, &scratch, 0, 7), a);
    assert_ptr_equal(vh_scratch_get(ctx, &scratch, 0, 100), a);
    double *c = vh_scratch_get(ctx, &scratch, 0, 100000);
    assert_non_null(c);
    c[99999] = 1;
    assert_ptr_equal(vh_scratch_get(ctx, &scratch, 0, 100001), c); /* a little more was taken */

    assert_null(vh_scratch_get(ctx, &scratch, 1, SIZE_MAX));
    assert_non_null(strstr(vhem_ctx_error(ctx), "out of memory"));
    assert_null(vh_scratch_get(ctx, &scratch, 1, SIZE_MAX / 8));
    assert_non_null(vh_scratch_get(ctx, &scratch, 1, 10)); /* a failure is not for ever */
    vh_scratch_free(&scratch);
    vh_scratch_free(&scratch);
    assert_null(scratch.buffer[0]);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(buffers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
