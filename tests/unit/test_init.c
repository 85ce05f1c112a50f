/* SPDX-License-Identifier: BSD-3-Clause */
/* test_init.c - starts of Baum-Welch: proper models, placed where the data says. */
#include "engine.h"

#include "fit/start.h"
#include "fit/lengths.h"
#include "vhem.h"

enum { MAX_FRAMES = 50000 };

typedef struct {
    vhem_ctx *ctx;
    vhem_data *data;
    vh_h3m *h3m;
    vh_fit_item item;
    vhem_fit_options opt;
    double origin[4], scale[4], floor[4];
    int64_t seq[8];
} fixture;

static void open_fixture(fixture *f, int N, const int *T, int d, const double *y, int S, int M,
                         const char *family)
{
    memset(f, 0, sizeof *f);
    f->ctx = test_ctx();
    f->data = wrap(f->ctx, N, T, d, y);
    VHEM_INIT(VHEM_FIT_OPTIONS, &f->opt);
    for (int n = 0; n < N; n++) {
        f->seq[n] = n;
        f->item.frames += T[n];
    }
    vh_spread_scale(f->data, NULL, N, NULL, f->origin, f->scale);
    for (int k = 0; k < d; k++)
        f->floor[k] = 1e-4 * f->scale[k] * f->scale[k];
    f->item.data = f->data;
    f->item.seq = f->seq;
    f->item.n = N;
    f->item.mass = (double)f->item.frames;
    f->item.origin = f->origin;
    f->item.scale = f->scale;
    f->item.limits = (vh_limits){ .floor = f->floor, .scale = f->scale };
    f->item.opt = &f->opt;
    assert_ok(f->ctx, vh_h3m_new(f->ctx, vh_emission_find(family), (vh_shape){ .d = d }, 1, &f->h3m));
    assert_ok(f->ctx, vh_h3m_shape(f->ctx, f->h3m, 0, S, M));
}

static void close_fixture(fixture *f)
{
    vh_h3m_free(f->h3m);
    vhem_free(f->data);
    vhem_free(f->ctx);
}

static vhem_hmm_view begin(fixture *f, const char *name, int restart, uint64_t seed)
{
    vh_rng rng;
    vh_rng_init(&rng, seed, VH_RNG_TEST, 0);
    assert_ok(f->ctx, vh_start_find(name)(f->ctx, &f->item, &rng, restart, f->h3m, &f->h3m->hmm[0]));
    assert_ok(f->ctx, vh_h3m_validate(f->ctx, f->h3m));
    return view_of(f->h3m, 0);
}

static void names(void **state)
{
    (void)state;
    assert_non_null(vh_start_find("kmeans"));
    assert_non_null(vh_start_find("segment"));
    assert_non_null(vh_start_find("random"));
    assert_null(vh_start_find("other"));
}

/* Proper models from all starts, families and odd sizes, nothing zero and nothing singular. */
static void proper(void **state)
{
    (void)state;
    static const char *const start[] = { "kmeans", "segment", "random" };
    vh_rng rng;
    int T[] = { 1, 20, 9 };
    vh_rng_init(&rng, 211, VH_RNG_TEST, 0);
    double *y = random_frames(&rng, 30, 3, 1);
    for (int k = 0; k < 3; k++)
        for (int S = 1; S <= 40; S += 13)
            for (int M = 1; M <= 3; M++) {
                fixture f;
                open_fixture(&f, 3, T, 3, y, S, M, M % 2 ? "gaussian-full" : "gaussian-diag");
                vhem_hmm_view v = begin(&f, start[k], S % 2, 1);
                for (int e = 0; e < S * S; e++)
                    assert_true(v.A[e] > 0 && v.pi[e / S] > 0);
                for (int q = 0; q < S * M; q++)
                    assert_true(v.c[q] > 0);
                close_fixture(&f);
            }
    free(y);
}

/* Clusters far apart: k-means has one state on each, with its mean, and the chain of its frames. */
static void kmeans_finds_places(void **state)
{
    (void)state;
    fixture f;
    vh_rng rng;
    enum { N = 300 };
    int T = N;
    double y[N];
    vh_rng_init(&rng, 212, VH_RNG_TEST, 0);
    for (int t = 0; t < N; t++)
        y[t] = 100 * (t % 3) + vh_rng_normal(&rng); /* 0 1 2 0 1 2 ... */
    open_fixture(&f, 1, &T, 1, y, 3, 1, "gaussian-diag");
    vhem_hmm_view v = begin(&f, "kmeans", 0, 3);
    int state_at[3];
    for (int k = 0; k < 3; k++) {
        state_at[k] = -1;
        for (int s = 0; s < 3; s++)
            if (fabs(v.mu[s] - 100 * k) < 1)
                state_at[k] = s;
        assert_true(state_at[k] >= 0);
    }
    for (int k = 0; k < 3; k++)
        assert_near(v.A[state_at[k] * 3 + state_at[(k + 1) % 3]], 1, 0, 0.03);
    assert_near(v.pi[state_at[0]], (1 + 1.0 / 3) / 2, 1e-12, 0);
    close_fixture(&f);
}

/* Each third of each sequence is a state. */
static void segment_finds_times(void **state)
{
    (void)state;
    fixture f;
    int T[] = { 30, 60, 3 };
    double y[93];
    for (int n = 0, at = 0; n < 3; at += T[n++])
        for (int t = 0; t < T[n]; t++)
            y[at + t] = 3 * t / T[n];
    open_fixture(&f, 3, T, 1, y, 3, 1, "gaussian-diag");
    vhem_hmm_view v = begin(&f, "segment", 0, 4);
    for (int s = 0; s < 3; s++)
        assert_near(v.mu[s], s, 0, 1e-12);
    assert_near(v.A[1] / v.A[2], 4, 1e-12, 0); /* three seen and one, against none and one */
    assert_near(v.A[5] / v.A[3], 4, 1e-12, 0);
    double first = v.mu[1];
    v = begin(&f, "segment", 1, 4); /* other restarts cut elsewhere */
    assert_true(v.mu[1] != first || v.mu[0] != 0);
    close_fixture(&f);
}

/* More frames than k-means looks at: the same places, and the same numbers from the same seed. */
static void many_frames(void **state)
{
    (void)state;
    fixture f;
    vh_rng rng;
    int T = MAX_FRAMES;
    double *y = malloc(sizeof *y * MAX_FRAMES), mu[4];
    vh_rng_init(&rng, 213, VH_RNG_TEST, 0);
    for (int t = 0; t < T; t++)
        y[t] = 100 * (t / 1000 % 4) + vh_rng_normal(&rng);
    open_fixture(&f, 1, &T, 1, y, 4, 1, "gaussian-diag");
    vhem_hmm_view v = begin(&f, "kmeans", 0, 5);
    memcpy(mu, v.mu, sizeof mu);
    for (int k = 0; k < 4; k++) {
        double least = INFINITY;
        for (int s = 0; s < 4; s++)
            least = fmin(least, fabs(mu[s] - 100 * k));
        assert_true(least < 0.2);
    }
    v = begin(&f, "kmeans", 0, 5);
    assert_memory_equal(mu, v.mu, sizeof mu);
    close_fixture(&f);
    free(y);
}

/* Random starts sit on frames and differ by seed. */
static void random_sits_on_frames(void **state)
{
    (void)state;
    fixture f;
    vh_rng rng;
    int T = 50;
    double first;
    vh_rng_init(&rng, 214, VH_RNG_TEST, 0);
    double *y = random_frames(&rng, 50, 1, 1);
    open_fixture(&f, 1, &T, 1, y, 2, 2, "gaussian-diag");
    vhem_hmm_view v = begin(&f, "random", 0, 6);
    for (int q = 0; q < 4; q++) {
        int on = 0;
        for (int t = 0; t < T; t++)
            on |= fabs(v.mu[q] - y[t]) < 1e-12;
        assert_true(on);
        assert_near(v.cov[q], v.cov[0], 1e-12, 0);
    }
    first = v.A[0];
    v = begin(&f, "random", 0, 7);
    assert_true(v.A[0] != first);
    close_fixture(&f);
    free(y);
}

/* A start looks at every so many sequences of an item with very many frames, and at all of any other. */
static void thinned(void **state)
{
    (void)state;
    fixture f;
    int T[8] = { 40000, 40000, 40000, 40000, 40000, 40000, 40000, 40000 };
    int64_t *some;
    vh_rng rng;
    vh_rng_init(&rng, 215, VH_RNG_TEST, 0);
    double *y = random_frames(&rng, 320000, 1, 1);

    open_fixture(&f, 8, T, 1, y, 2, 1, "gaussian-diag");
    vh_fit_item whole = f.item;
    assert_ok(f.ctx, vh_start_thin(f.ctx, &f.item, &some));
    assert_non_null(some);
    assert_int_equal(f.item.n, 4);
    assert_int_equal(f.item.frames, 160000);
    for (int i = 0; i < 4; i++)
        assert_int_equal(f.item.seq[i], 2 * i);
    double mean = begin(&f, "kmeans", 0, 8).mu[0];
    free(some);
    f.item = whole;
    assert_near(begin(&f, "kmeans", 0, 8).mu[0], mean, 0.05, 0);

    f.item.n = 1; /* nothing to leave out */
    assert_ok(f.ctx, vh_start_thin(f.ctx, &f.item, &some));
    assert_null(some);
    f.item.n = 5; /* few enough */
    f.item.frames = 200000;
    assert_ok(f.ctx, vh_start_thin(f.ctx, &f.item, &some));
    assert_null(some);
    assert_int_equal(f.item.n, 5);
    close_fixture(&f);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(proper),
        cmocka_unit_test(kmeans_finds_places),
        cmocka_unit_test(segment_finds_times),
        cmocka_unit_test(many_frames),
        cmocka_unit_test(random_sits_on_frames),
        cmocka_unit_test(thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
