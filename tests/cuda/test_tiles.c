/* SPDX-License-Identifier: BSD-3-Clause */
/* test_tiles.c - base HMMs that do not fit on the device: tiles of another size, which pass through it, give
 * the same bits as all of them together. */
#include "reductions.h"
#include "vhem.h"

static void test_streaming(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 510, VH_RNG_TEST, 0);
    vh_h3m *base = ragged_h3m(ctx, &rng, 4000), *centers = random_h3m(ctx, &rng, 5, 3, 2, 2, 0, 2);
    const question q = { .N = 4000 * 0.3, .tau = 5 };
    answer whole = ask_backend("cuda", base, centers, &q), ref = ask_backend("ref", base, centers, &q);
    assert_false(answers_differ("whole", &ref, &whole, 1e-9, centers, 5));
    static const char *const memory[] = { "1000000", "500000", "100" };
    for (int k = 0; k < 3; k++) {
        assert_int_equal(setenv("VHEM_FAKE_MEMORY", memory[k], 1), 0);
        answer parts = ask_backend("cuda", base, centers, &q);
        assert_memory_equal(whole.sums.block, parts.sums.block, sizeof(double) * whole.sums.size);
        assert_memory_equal(whole.L, parts.L, sizeof(double) * 4000 * 5);
        assert_memory_equal(whole.z, parts.z, sizeof(double) * 4000 * 5);
        answer_free(&parts);
    }
    answer_free(&whole);
    answer_free(&ref);
    vh_h3m_free(base);
    vh_h3m_free(centers);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_streaming) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
