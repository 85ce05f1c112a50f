/* SPDX-License-Identifier: BSD-3-Clause */
/* test_long.c - very long virtual samples: what would take a kernel that nobody can stop, or memory for every
 * step, is done by the CPU, with the bits that it has by itself. */
#include "reductions.h"

#include "simd/simd.h"
#include "vhem.h"

enum { TAU = 100000 };

static void test_bounds(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 520, VH_RNG_TEST, 0);
    for (int S = 2; S <= 3; S++) {
        vh_h3m *base = random_h3m(ctx, &rng, 30, S, 1, 2, 0, 2),
               *centers = random_h3m(ctx, &rng, 3, S, 1, 2, 0, 2);
        const question q = { .N = 30, .tau = TAU };
        answer got = ask_backend("cuda", base, centers, &q),
               want = ask_backend(vh_backend_cpu()->name, base, centers, &q);
        assert_memory_equal(want.L, got.L, sizeof(double) * 30 * 3);
        assert_memory_equal(want.sums.block, got.sums.block, sizeof(double) * want.sums.size);
        answer_free(&got);
        answer_free(&want);
        vh_h3m_free(base);
        vh_h3m_free(centers);
    }
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_bounds) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
