/* SPDX-License-Identifier: BSD-3-Clause */
/* test_product.c - every usable backend against ref: the probability product kernel between HMMs of many
 * shapes, with zeros in their chains, far apart and for long sequences. */
#include "support.h"

#include "distance/distance.h"
#include "hmm/hmm_set.h"
#include "hmm/missing_columns.h"
#include "vhem.h"

typedef struct {
    int Ka, Sa, Ma, Kb, Sb, Mb, d, full, tau;
    double lambda, spread;
    int zeros;         /* 1: left-right chains, 2: one path alone, in opposite orders, 3: a component of
                          weight zero and no spread in each state */
    double far, scale; /* all means are moved, all is scaled */
} shape;

/* States one after the other, forwards or backwards: state sequences never meet where the emissions do. */
static void one_path(vh_hmm *h, int back)
{
    int S = h->S;
    memset(h->A, 0, sizeof *h->A * (size_t)(S * S));
    memset(h->pi, 0, sizeof *h->pi * (size_t)S);
    for (int s = 0; s < S; s++)
        h->A[s * S + (back ? s + S - 1 : s + 1) % S] = 1;
    h->pi[back ? S - 1 : 0] = 1;
}

static void change(vh_h3m *h3m, const shape *c, int side)
{
    for (int64_t i = 0; i < h3m->K; i++) {
        vh_hmm *h = &h3m->hmm[i];
        double *mu = vh_hmm_param(h3m, h, 0), *cov = vh_hmm_param(h3m, h, 1);
        size_t n = (size_t)(h->S * h->M) * vh_param_size(h3m->family, 1, &h3m->shape);
        for (int k = 0; k < h->S * h->M * h3m->d; k++)
            mu[k] = c->scale * (mu[k] + c->far);
        for (size_t k = 0; k < n; k++)
            cov[k] *= c->scale * c->scale;
        if (c->zeros == 1)
            make_left_right(h);
        if (c->zeros == 2)
            one_path(h, side);
        for (int s = 0; c->zeros == 3 && s < h->S; s++) {
            double *w = vh_hmm_c(h) + s * h->M, *par[VH_MAX_PARAM];
            w[0] += w[h->M - 1];
            w[h->M - 1] = 0;
            vh_hmm_component(h3m, h, s, h->M - 1, par);
            memset(par[1], 0, sizeof *par[1] * vh_param_size(h3m->family, 1, &h3m->shape));
        }
    }
}

static double *kernel(const char *backend, const vh_h3m *a, const vh_h3m *b, const shape *c)
{
    vhem_ctx *ctx = test_ctx_with(backend, 1, 1);
    vhem_distance_options o;
    double *D = malloc(sizeof *D * (size_t)(a->K * b->K));
    VHEM_INIT(VHEM_DISTANCE_OPTIONS, &o);
    o.kind = "ppk";
    o.tau = c->tau;
    o.lambda = c->lambda;
    o.normalised = 0;
    assert_ok(ctx, vh_h3m_distance(ctx, a, b, &o, D, NULL));
    vhem_free(ctx);
    return D;
}

/* Against ref, the error that rounding of terms of this size leaves. */
static void compare(const vh_h3m *a, const vh_h3m *b, const shape *c, const char *what, double *least)
{
    const char *name;
    double *want = kernel("ref", a, b, c);
    for (int n = 0; (name = test_backend(n)); n++) {
        double *got = kernel(name, a, b, c);
        for (int k = 0; k < a->K * b->K; k++) {
            *least = fmin(*least, want[k]);
            if (!isfinite(want[k]) || !is_near(got[k], want[k], 1e-12, 1e-12 * c->tau * c->d + 1e-11))
                fail_msg("%s, %s: log k[%d] is %.15g, ref has %.15g", what, name, k, got[k], want[k]);
        }
        free(got);
    }
    free(want);
}

static double check(const shape *c, int number)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    char what[64];
    double least = INFINITY;
    vh_rng_init(&rng, (uint64_t)number, VH_RNG_TEST, 0);
    snprintf(what, sizeof what, "case %d", number);
    vh_h3m *a = random_h3m(ctx, &rng, c->Ka, c->Sa, c->Ma, c->d, c->full, c->spread);
    vh_h3m *b = random_h3m(ctx, &rng, c->Kb, c->Sb, c->Mb, c->d, c->full, c->spread);
    change(a, c, 0);
    change(b, c, 1);
    compare(a, b, c, what, &least);
    compare(a, a, c, what, &least);
    vh_h3m_free(a);
    vh_h3m_free(b);
    vhem_free(ctx);
    return least;
}

static void test_shapes(void **state)
{
    static const shape cases[] = {
        { 1, 1, 1, 1, 1, 1, 1, 0, 1, 0.5, 1, 0, 0, 1 },
        { 9, 3, 1, 70, 2, 2, 2, 0, 10, 0.5, 2, 0, 0, 1 },
        { 17, 4, 2, 3, 4, 2, 39, 0, 10, 0.5, 1, 0, 0, 1 },
        { 5, 2, 3, 11, 5, 1, 17, 0, 7, 1, 1, 0, 0, 1 },
        { 3, 6, 1, 9, 6, 1, 4, 0, 200, 0.3, 1, 0, 0, 1 },
        { 4, 5, 2, 9, 3, 3, 3, 0, 50, 2, 1, 0, 0, 1 },
        { 3, 7, 1, 8, 2, 9, 5, 0, 3, 0.7, 3, 0, 0, 1 },
        { 70, 2, 1, 9, 2, 1, 33, 0, 2, 0.5, 1, 0, 0, 1 },
        { 5, 3, 2, 9, 3, 2, 3, 1, 10, 0.5, 1, 0, 0, 1 },
        { 3, 2, 2, 9, 4, 1, 5, 1, 20, 1, 1, 0, 0, 1 },
        { 2, 2, 1, 3, 2, 1, 39, 1, 5, 0.5, 1, 0, 0, 1 },
        { 2, 1, 2, 9, 3, 1, 8, 1, 4, 1.5, 3, 0, 0, 1 },
        { 5, 5, 1, 9, 5, 1, 2, 0, 40, 0.5, 5, 1, 0, 1 },
        { 5, 4, 1, 9, 4, 1, 2, 0, 60, 0.5, 60, 1, 0, 1 },
        { 5, 4, 1, 9, 4, 1, 2, 0, 30, 0.5, 30, 2, 0, 1 },
        { 5, 3, 1, 9, 3, 1, 2, 0, 31, 0.5, 80, 2, 0, 1 },
        { 5, 3, 2, 9, 3, 2, 2, 0, 10, 0.5, 1, 3, 0, 1 },
        { 5, 3, 2, 9, 3, 2, 2, 1, 10, 0.5, 1, 3, 0, 1 },
        { 5, 3, 1, 9, 3, 1, 4, 0, 10, 0.5, 20, 0, 0, 1 },
        { 5, 3, 1, 9, 3, 1, 20, 0, 10, 0.5, 300, 0, 0, 1 },
        { 5, 3, 1, 9, 3, 1, 4, 0, 10, 0.5, 1, 0, 1e6, 1 },
        { 5, 3, 1, 9, 3, 1, 4, 1, 10, 0.5, 1, 0, 1e6, 1 },
        { 5, 3, 1, 9, 3, 1, 40, 0, 10, 0.5, 1, 0, 0, 1e-90 },
        { 5, 2, 1, 9, 3, 1, 40, 0, 10, 0.5, 1, 0, 0, 1e60 },
        { 5, 3, 1, 9, 3, 1, 4, 1, 10, 0.5, 1, 0, 0, 1e-60 },
        { 5, 3, 2, 9, 3, 2, 2, 0, 10, 60, 1, 0, 0, 1 },
        { 5, 3, 2, 9, 3, 2, 2, 0, 10, 900, 1, 1, 0, 1 },
        { 5, 3, 2, 9, 3, 2, 2, 0, 10, 0.001, 1, 0, 0, 1 },
        { 3, 4, 2, 9, 4, 2, 5, 0, 1000, 0.5, 1, 0, 0, 1 },
        { 3, 3, 1, 9, 2, 1, 2, 0, 3001, 1, 0.3, 0, 0, 1 },
        { 3, 4, 1, 9, 4, 1, 2, 0, 1500, 0.5, 2, 1, 0, 1 },
        { 3, 3, 1, 9, 3, 1, 2, 0, 402, 0.5, 3, 2, 0, 1 },
        { 2, 3, 1, 9, 3, 1, 1700, 0, 3, 0.5, 1, 0, 0, 1 },
        { 3, 12, 2, 9, 10, 1, 5, 0, 12, 0.5, 2, 1, 0, 1 },
    };
    double least = INFINITY;
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        least = fmin(least, check(&cases[k], (int)k));
    assert_true(least < -1e4); /* some were far apart */
}

/* HMMs of many shapes in one set, each with its own variances. */
static void test_mixed_shapes(void **state)
{
    enum { K = 90 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 5, VH_RNG_TEST, 1);
    for (int full = 0; full < 2; full++) {
        vhem_hmm_view view[K];
        vh_h3m *part[K], *all = NULL;
        double least = INFINITY;
        for (int i = 0; i < K; i++) {
            part[i] = random_h3m(ctx, &rng, 1, 1 + (int)vh_rng_below(&rng, 4), 1 + (int)vh_rng_below(&rng, 3),
                                 6, full, 2);
            change(part[i], &(shape){ .zeros = i % 3 == 0, .scale = pow(10, 3 * vh_rng_normal(&rng)) }, 0);
            assert_ok(ctx, vh_h3m_view(part[i], 0, &view[i]));
            view[i].omega = 1.0 / K;
        }
        assert_ok(ctx, vh_h3m_from_views(ctx, full ? "gaussian-full" : "gaussian-diag", 6, K, view, &all));
        compare(all, all, &(shape){ .d = 6, .tau = 10, .lambda = 0.5 }, "mixed", &least);
        compare(all, part[3], &(shape){ .d = 6, .tau = 25, .lambda = 1 }, "mixed", &least);
        compare(part[3], all, &(shape){ .d = 6, .tau = 25, .lambda = 1 }, "mixed", &least);
        for (int i = 0; i < K; i++)
            vh_h3m_free(part[i]);
        vh_h3m_free(all);
    }
    vhem_free(ctx);
}

/* HMMs that lack columns, each its own: their family fills in the table of components. */
static void test_lacking(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 7, VH_RNG_TEST, 2);
    for (int zeros = 0; zeros < 4; zeros++) {
        const shape c = { .d = 5, .tau = zeros == 2 ? 60 : 10, .lambda = 0.5, .zeros = zeros, .scale = 1 };
        double least = INFINITY;
        vh_h3m *a = random_h3m(ctx, &rng, 70, 3, 2, c.d, 0, 3),
               *b = random_h3m(ctx, &rng, 9, 4, 2, c.d, 0, 3);
        change(a, &c, 0);
        change(b, &c, 1);
        for (int64_t i = 0; i < a->K; i++)
            for (int k = 1; k < c.d; k++)
                if (i >> (k - 1) & 1)
                    vh_hmm_forget(a, &a->hmm[i], k);
        vh_h3m_settle_family(a);
        b->family = a->family; /* as the two sets of a command are made one family */
        compare(a, a, &c, "lacking", &least);
        compare(a, b, &c, "lacking", &least);
        compare(b, a, &c, "lacking", &least);
        vh_h3m_free(a);
        vh_h3m_free(b);
    }
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_lacking),
        cmocka_unit_test(test_mixed_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
