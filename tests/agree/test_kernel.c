/* SPDX-License-Identifier: BSD-3-Clause */
/* test_kernel.c - tables of the probability product kernel: every usable backend against ref, on
 * random shapes and extremes; the same bits at any number of
 * threads and in any aligned part of the table; a backend without a kernel gets that of ref. */
#include "engine.h"

#include "distance/distance.h"
#include "distance/ppk_kernel.h"
#include "vhem/base.h"
#include "vhem.h"

/* HMMs of several shapes in one set, some with zeros in their chains, some with tiny or huge spread. */
static vh_h3m *random_set(vhem_ctx *ctx, vh_rng *rng, int K, int d, int full, bool extreme)
{
    vh_h3m *set = NULL, **part = calloc((size_t)K, sizeof *part);
    vhem_hmm_view *v = calloc((size_t)K, sizeof *v);
    for (int k = 0; k < K; k++) {
        int S = 1 + (int)vh_rng_below(rng, 4), M = 1 + (int)vh_rng_below(rng, 3);
        part[k] = random_h3m(ctx, rng, 1, S, M, d, full, 1.5);
        vh_hmm *h = &part[k]->hmm[0];
        double scale = extreme && k % 5 == 1 ? exp(30 * (vh_rng_uniform(rng) - 0.5)) : 1;
        size_t n_cov = (size_t)(S * M) * vh_param_size(part[k]->family, 1, &part[k]->shape);
        for (size_t i = 0; i < n_cov; i++)
            vh_hmm_param(part[k], h, 1)[i] *= scale;
        for (int i = 0; extreme && k % 7 == 2 && i < S * M * d; i++)
            vh_hmm_param(part[k], h, 0)[i] += 1e4;
        for (int s = 0; extreme && k % 3 == 0 && s < S; s++)
            for (int q = 0; q < S; q++)
                h->A[s * S + q] = q == (s + 1) % S;
        v[k] = view_of(part[k], 0);
        v[k].omega = 1.0 / K;
    }
    assert_ok(ctx, vh_h3m_from_views(ctx, full ? "gaussian-full" : "gaussian-diag", d, K, v, &set));
    for (int k = 0; k < K; k++)
        vh_h3m_free(part[k]);
    free(part);
    free(v);
    return set;
}

static double *table(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b, const vhem_distance_options *o)
{
    double *D = calloc((size_t)a->K * (size_t)b->K, sizeof *D);
    assert_ok(ctx, vh_h3m_distance(ctx, a, b, o, D, NULL));
    return D;
}

/* Every backend against ref, at 1, 2 and 5 threads. */
static void check(const char *what, const vh_h3m *a, const vh_h3m *b, const vhem_distance_options *o)
{
    vhem_ctx *ctx = test_ctx_with("ref", 1, 1);
    size_t n = (size_t)a->K * (size_t)b->K;
    const char *name;
    double *want = table(ctx, a, b, o), *one = NULL;
    for (int k = 0; (name = test_backend(k / 3)); k++) {
        static const int threads[] = { 1, 2, 5 };
        vhem_ctx *own = test_ctx_with(name, threads[k % 3], 1);
        double *got = table(own, a, b, o);
        for (size_t i = 0; i < n; i++)
            if (!is_near(want[i], got[i], 1e-11, 1e-11 * o->tau * a->d + 1e-10))
                fail_msg("%s, %s: log k[%zu] is %.15g, must be %.15g", what, name, i, got[i], want[i]);
        if (k % 3 > 0)
            assert_memory_equal(one, got, sizeof *got * n);
        free(one);
        one = got;
        vhem_free(own);
    }
    free(one);
    free(want);
    vhem_free(ctx);
}

static void random_sets(void **state)
{
    (void)state;
    for (int trial = 0; trial < 24; trial++) {
        vhem_ctx *ctx = test_ctx();
        vh_rng rng;
        char what[64];
        vhem_distance_options o;
        vh_rng_init(&rng, 720, VH_RNG_TEST, (uint64_t)trial);
        int d = 1 + (int)vh_rng_below(&rng, trial % 6 == 5 ? 60 : 6), full = trial % 3 == 2 && d < 7;
        int Ka = 1 + (int)vh_rng_below(&rng, 90), Kb = 1 + (int)vh_rng_below(&rng, 70);
        vh_h3m *a = random_set(ctx, &rng, Ka, d, full, trial % 2),
               *b = random_set(ctx, &rng, Kb, d, full, false);
        VHEM_INIT(VHEM_DISTANCE_OPTIONS, &o);
        o.kind = "ppk";
        o.tau = 1 + (int)vh_rng_below(&rng, 12);
        o.lambda = trial % 4 == 3 ? 0.3 + vh_rng_uniform(&rng) : trial % 4 == 1 ? 1 : 0.5;
        o.normalised = trial % 5 == 0;
        snprintf(what, sizeof what, "trial %d: %d x %d, d %d%s", trial, Ka, Kb, d, full ? ", full" : "");
        check(what, a, b, &o);
        check(what, a, a, &o);
        vh_h3m_free(a);
        vh_h3m_free(b);
        vhem_free(ctx);
    }
}

/* Parts of the table whose edges are multiples of a tile have the bits of the whole. */
static void parts(void **state)
{
    enum { K = 150, T = VH_PRODUCT_TILE };
    const char *name;
    (void)state;
    for (int n = 0; (name = test_backend(n)); n++) {
        vhem_ctx *ctx = test_ctx_with(name, 2, 1);
        vh_rng rng;
        vh_rng_init(&rng, 721, VH_RNG_TEST, 0);
        vh_h3m *set = random_set(ctx, &rng, K, 2, 0, true);
        vh_base *base = NULL;
        vh_workers workers = { 0 };
        vh_opened_pair *job = NULL;
        assert_ok(ctx, vh_base_new(ctx, set, &base));
        assert_ok(ctx, vh_workers_new(ctx, 2, &workers));
        double *whole = calloc(K * K, sizeof *whole), *part = calloc(K * K, sizeof *part);
        double *self = calloc((size_t)base->packed->n_comp, sizeof *self), work[200];
        for (int r = 0; r < base->packed->n_comp; r++) {
            const double *const *par = base->packed->par + (size_t)r * VH_MAX_PARAM;
            assert_true(set->family->log_product(&(vh_shape){ .d = 2 }, par, par, 1, &self[r], work));
        }
        const vh_product p = { .a = base->packed,
                               .b = base->packed,
                               .self_a = self,
                               .self_b = self,
                               .tau = 5,
                               .lambda = 0.5,
                               .workers = &workers };
        assert_ok(ctx, vh_product_open(ctx, &p, &job));
        assert_ok(ctx, vh_product_run(ctx, job, &(vh_rectangle){ 0, K, 0, K, false }, whole));
        const vh_rectangle some[] = { { 0, T, T, K - T, false },
                                      { T, K - T, 0, K, false },
                                      { T, T, T, T, true } };
        for (int q = 0; q < 3; q++) {
            const vh_rectangle *r = &some[q];
            assert_ok(ctx, vh_product_run(ctx, job, r, part));
            for (int i = 0; i < r->na; i++)
                for (int j = r->upper ? i : 0; j < r->nb; j++)
                    if (r->upper) /* done in strips, which may share divisions differently */
                        assert_near(part[i * r->nb + j], whole[(r->a0 + i) * K + r->b0 + j], 1e-12, 1e-12);
                    else
                        assert_true(part[i * r->nb + j] == whole[(r->a0 + i) * K + r->b0 + j]);
        }
        vh_product_close(job);
        vh_product_close(NULL);
        vh_workers_free(&workers);
        vh_base_free(base);
        vh_h3m_free(set);
        free(whole);
        free(part);
        free(self);
        vhem_free(ctx);
    }
}

static bool always(void)
{
    return true;
}

static void nothing_of_its_own(void **state)
{
    (void)state;
    vhem_ctx *ref = test_ctx_with("ref", 1, 1), *ctx = test_ctx_with("ref", 1, 1);
    vh_backend bare = { .name = "bare", .usable = always };
    vhem_distance_options o;
    vh_rng rng;
    vh_rng_init(&rng, 722, VH_RNG_TEST, 0);
    vh_h3m *set = random_set(ref, &rng, 20, 2, 0, false);
    VHEM_INIT(VHEM_DISTANCE_OPTIONS, &o);
    o.kind = "ppk";
    ctx->backend = &bare;
    double *want = table(ref, set, set, &o), *got = table(ctx, set, set, &o);
    assert_memory_equal(want, got, sizeof *got * 400);
    free(want);
    free(got);
    vh_h3m_free(set);
    vhem_free(ref);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_sets), cmocka_unit_test(parts),
                                        cmocka_unit_test(nothing_of_its_own) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
