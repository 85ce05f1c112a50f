/* SPDX-License-Identifier: BSD-3-Clause */
/* test_spread.c - mean and deviation of frames, far from zero and where nothing varies, and deviation within
 * states. */
#include "engine.h"

#include "fit/lengths.h"
#include "vhem.h"

static void known(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double y[] = { 1, 10, 3, 10, 5, 10, 7, 10, 100, 20 }, mean[2], dev[2];
    int T[] = { 2, 2, 1 };
    int64_t some[] = { 1, 0 };
    vhem_data *data = wrap(ctx, 3, T, 2, y);
    vh_spread(data, some, 2, mean, dev);
    assert_near(mean[0], 4, 1e-15, 0);
    assert_near(dev[0], sqrt(5.0), 1e-15, 0);
    assert_true(mean[1] == 10 && dev[1] == 0);
    vh_spread(data, NULL, 1, mean, dev); /* the first one */
    assert_near(mean[0], 2, 1e-15, 0);
    assert_near(dev[0], 1, 1e-15, 0);

    double origin[2], scale[2], whole[] = { 3, 7 };
    vh_spread_scale(data, some, 2, whole, origin, scale);
    assert_true(origin[1] == 10 && scale[1] == 7); /* where it does not vary, what the whole does */
    vh_spread_scale(data, some, 2, NULL, origin, scale);
    assert_true(scale[1] == 1);
    whole[1] = 0;
    vh_spread_scale(data, some, 2, whole, origin, scale);
    assert_true(scale[1] > 0 && scale[1] < 0.001); /* nowhere: next to nothing beside a floor */
    vhem_free(data);
    vhem_free(ctx);
}

static void far_from_zero(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    enum { N = 1000 };
    int T = N;
    vh_rng_init(&rng, 81, VH_RNG_TEST, 0);
    double *y = random_frames(&rng, N, 1, 1), *z = malloc(sizeof *z * N), m0, d0, m1, d1;
    for (int t = 0; t < N; t++)
        z[t] = y[t] + 1e6;
    vhem_data *a = wrap(ctx, 1, &T, 1, y), *b = wrap(ctx, 1, &T, 1, z);
    vh_spread(a, NULL, 1, &m0, &d0);
    vh_spread(b, NULL, 1, &m1, &d1);
    assert_near(m1 - 1e6, m0, 0, 1e-9); /* 1e6 has steps of 1e-10 */
    assert_near(d1, d0, 1e-9, 0);
    vhem_free(a);
    vhem_free(b);
    free(y);
    free(z);
    vhem_free(ctx);
}

/* A column that never varies is seen as such however many frames there are: the
 * rounding of a long sum is no spread. */
static void constant(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    static const double value[] = { 0.1, -1e300, 1e-300, 3.7e9, 0 };
    enum { N = 300000 };
    int T = N;
    double *y = malloc(sizeof *y * N), mean, dev;
    for (int k = 0; k < 5; k++) {
        for (int t = 0; t < N; t++)
            y[t] = value[k];
        vhem_data *data = wrap(ctx, 1, &T, 1, y);
        vh_spread(data, NULL, 1, &mean, &dev);
        assert_true(mean == value[k]);
        if (dev != 0)
            fail_msg("%d times %g has deviation %g", N, value[k], dev);
        vhem_free(data);
    }
    free(y);
    vhem_free(ctx);
}

/* A small but real spread about a large mean is kept. */
static void small_spread(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double y[] = { 1e6 + 1e-6, 1e6 - 1e-6, 1e6 + 1e-6, 1e6 - 1e-6 }, mean, dev;
    int T = 4;
    vhem_data *data = wrap(ctx, 1, &T, 1, y);
    vh_spread(data, NULL, 1, &mean, &dev);
    assert_near(dev, 1e-6, 1e-3, 0);
    vhem_free(data);
    vhem_free(ctx);
}

/* Of N sequences of T frames for HMMs of so many states. */
static double within(int N, int T, const double *y, int n_state)
{
    vhem_ctx *ctx = test_ctx();
    int *lengths = malloc(sizeof *lengths * (size_t)N);
    double mean, dev, out;
    vh_sets sets = { 0 };
    for (int n = 0; n < N; n++)
        lengths[n] = T;
    vhem_data *data = wrap(ctx, N, lengths, 1, y);
    assert_ok(ctx, vh_sets_new(ctx, data, false, &sets));
    vh_spread(data, NULL, N, &mean, &dev);
    assert_ok(ctx, vh_spread_within(ctx, data, &sets, n_state, &dev, &out));
    assert_true(out <= dev);
    vh_sets_free(&sets);
    vhem_free(data);
    vhem_free(ctx);
    free(lengths);
    return out;
}

/* What is between states or sequences does not count, nor do jumps and missing values; units and copies do
 * what they should, and a value that is held does not pass for a spread of 0. */
static void within_states(void **state)
{
    (void)state;
    enum { N = 6, T = 400, ALL = N * T };
    vh_rng rng;
    double x[2 * ALL], y[2 * ALL], plain, far;
    vh_rng_init(&rng, 82, VH_RNG_TEST, 0);
    for (int t = 0; t < ALL; t++)
        y[t] = x[t] = vh_rng_normal(&rng);
    plain = within(N, T, x, 3);
    assert_near(plain, 1, 0.15, 0);
    for (int t = 0; t < ALL; t++)
        y[t] = x[t] + 1e4 * (double)vh_rng_below(&rng, 3) + 1e7 * (t / T);
    far = within(N, T, y, 3);
    assert_near(far, 2.29, 0.05, 0); /* what is left is all within states: that of a normal column is not */
    for (int t = 0; t < ALL; t++)
        y[t] = y[t] / 256;
    assert_near(within(N, T, y, 3), far / 256, 1e-3, 0);
    memcpy(y + ALL, y, sizeof *y * ALL);
    assert_near(within(2 * N, T, y, 3), far / 256, 1e-3, 0);
    memcpy(y, x, sizeof *y * ALL);
    for (int t = 7; t < ALL; t += 100)
        y[t] = t % 200 == 7 ? -9999 : NAN;
    assert_near(within(N, T, y, 2), 1.65, 0.05, 0); /* the sentinel is one of the two groups */
    for (int t = 0; t < ALL; t++) /* held for 50 frames; then a sensor that is stuck most of the time */
        y[t] = x[t / 50];
    assert_near(within(N, T, y, 2), 1, 0.3, 0);
    for (int t = 0; t < ALL; t++)
        y[t] = t / 20 % 4 ? 0 : x[t];
    assert_true(within(N, T, y, 2) > 0.3);
    for (int t = 0; t < ALL; t++)
        y[t] = t / 50 % 2;
    assert_near(within(N, T, y, 2), 0.5, 1e-6, 0); /* nothing shows but steps */
    assert_near(within(ALL, 1, y, 2), 0.5, 1e-6, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(known), cmocka_unit_test(far_from_zero),
                                        cmocka_unit_test(constant), cmocka_unit_test(small_spread),
                                        cmocka_unit_test(within_states) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
