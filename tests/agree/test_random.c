/* SPDX-License-Identifier: BSD-3-Clause */
/* test_random.c - the variational E-step of every usable backend against ref, on random problems of all kinds:
 * ragged and wild shapes, structural zeros, slow chains, numbers from 1e-8 to 1e6, tau from 1 to 1000.
 *
 * A failure prints the number of the problem; VHEM_TEST_FIRST=<number> begins there, VHEM_TEST_COUNT=<n> says
 * how many are tried. */
#include "support.h"

#include "core/alloc.h"
#include "reduce/base.h"

#include <time.h>

enum { COUNT = 5000, MOST_STATES = 6, MOST_MODELS = 24 };

typedef struct {
    vh_rng rng;
    int d, tau, Kb, Kr;
    bool full, soft;
    double far, sigma,
        spread;  /* where the means are, the size of a deviation, how far means are apart in it */
    double wild; /* decades over which variances differ */
} problem;

static double between(vh_rng *rng, double lo, double hi)
{
    return lo + (hi - lo) * vh_rng_uniform(rng);
}

static bool chance(vh_rng *rng, double p)
{
    return vh_rng_uniform(rng) < p;
}

/* p [n]: a distribution, with zeros when asked for. */
static void random_row(vh_rng *rng, int n, double zeros, double *p)
{
    random_simplex(rng, n, p);
    double sum = 0;
    int keep = (int)vh_rng_below(rng, n);
    for (int i = 0; i < n; i++) {
        if (i != keep && chance(rng, zeros))
            p[i] = 0;
        sum += p[i];
    }
    for (int i = 0; i < n; i++)
        p[i] /= sum;
}

/* Chains of all tempers: any, slow (second eigenvalue about 1 - leave), left to right, with zeros. */
static void random_chain(vh_rng *rng, vh_hmm *h)
{
    int S = h->S, kind = (int)vh_rng_below(rng, 4);
    double zeros = kind == 1 ? 0.4 : 0, leave = pow(10, between(rng, -3, -0.3));
    random_row(rng, S, zeros, h->pi);
    for (int s = 0; s < S; s++) {
        double *row = h->A + s * S, sum = 0;
        random_row(rng, S, zeros, row);
        for (int q = 0; q < S; q++) {
            if (kind == 2) /* slow */
                row[q] = (q == s) * (1 - leave) + leave * row[q];
            if (kind == 3 && (q < s || q > s + 1))
                row[q] = 0;
            sum += row[q];
        }
        for (int q = 0; q < S; q++)
            row[q] /= sum;
    }
}

static void random_emissions(problem *p, const vh_h3m *h3m, vh_hmm *h)
{
    int d = p->d, dd = p->full ? d * d : d;
    vh_rng *rng = &p->rng;
    for (int s = 0; s < h->S; s++)
        random_row(rng, h->M, chance(rng, 0.1) ? 0.5 : 0, vh_hmm_c(h) + s * h->M);
    double *mu = vh_hmm_param(h3m, h, 0), *cov = vh_hmm_param(h3m, h, 1);
    for (int q = 0; q < h->S * h->M; q++, mu += d, cov += dd)
        for (int a = 0; a < d; a++) {
            mu[a] = p->far + p->sigma * p->spread * vh_rng_normal(rng);
            if (!p->full)
                cov[a] = p->sigma * p->sigma * pow(10, between(rng, -p->wild, p->wild));
            for (int b = 0; p->full && b <= a; b++)
                cov[a * d + b] = cov[b * d + a] =
                    p->sigma * p->sigma
                    * (a == b ? 1 + vh_rng_exponential(rng) : 0.8 * (vh_rng_uniform(rng) - 0.5) / d);
        }
}

static vh_h3m *random_models(vhem_ctx *ctx, problem *p, int K, int most_S)
{
    vh_h3m *h3m = NULL;
    bool ragged = chance(&p->rng, 0.5);
    int S = 0, M = 0;
    assert_ok(ctx,
              vh_h3m_new(ctx, vh_emission_find(p->full ? "gaussian-full" : "gaussian-diag"), p->d, K, &h3m));
    for (int i = 0; i < K; i++) {
        if (i == 0 || ragged) {
            S = 1 + (int)vh_rng_below(&p->rng, most_S);
            M = 1 + (int)vh_rng_below(&p->rng, 3);
        }
        assert_ok(ctx, vh_h3m_shape(ctx, h3m, i, S, M));
        random_chain(&p->rng, &h3m->hmm[i]);
        random_emissions(p, h3m, &h3m->hmm[i]);
    }
    random_row(&p->rng, K, chance(&p->rng, 0.2) ? 0.3 : 0, h3m->omega);
    return h3m;
}

/* Long recursions are for small problems: ref walks through all of them. */
static problem random_problem(uint64_t number)
{
    problem p = { 0 };
    vh_rng_init(&p.rng, number, VH_RNG_TEST, 7);
    vh_rng *rng = &p.rng;
    p.tau = chance(rng, 0.4) ? 1 + (int)vh_rng_below(rng, 30) : (int)pow(10, between(rng, 0, 3));
    p.d = 1 + (int)vh_rng_below(rng, 3);
    p.full = chance(rng, 0.25);
    p.soft = chance(rng, 0.5);
    p.Kb = 1 + (int)vh_rng_below(rng, p.tau > 100 ? 4 : p.tau > 20 ? 12 : MOST_MODELS);
    p.Kr = 1 + (int)vh_rng_below(rng, chance(rng, 0.2) && p.tau < 100 ? p.Kb + 3 : 3);
    p.far = chance(rng, 0.5) ? 0 : pow(10, between(rng, 0, 6)) * (chance(rng, 0.5) ? 1 : -1);
    p.sigma = chance(rng, 0.5) ? 1 : pow(10, between(rng, -4, 4));
    p.spread = chance(rng, 0.8) ? 3 * vh_rng_uniform(rng) : pow(10, between(rng, 0, 2));
    p.wild = chance(rng, 0.8) ? 0.5 : 3;
    return p;
}

typedef struct {
    double *L; /* [Kb][Kr] */
    vh_stats stats;
} answer;

static void answer_free(answer *a)
{
    free(a->L);
    vh_stats_free(&a->stats);
}

static answer run(const char *backend, const vh_h3m *base_h3m, const vh_h3m *centers, int tau,
                  const double *w, bool soft)
{
    vhem_ctx *ctx = test_ctx_with(backend, 1, 1);
    vh_base *base = NULL;
    vh_packed *pk = NULL;
    vh_scratch scratch = { { 0 }, { 0 } };
    answer a = { calloc((size_t)(base_h3m->K * centers->K), sizeof(double)), { 0 } };
    assert_ok(ctx, vh_base_new(ctx, base_h3m, &base));
    assert_ok(ctx, vh_pack_new(ctx, centers, NULL, centers->K, base->origin, base->scale, &pk));
    assert_ok(ctx, vh_pack_update(ctx, centers, NULL, pk));
    assert_ok(ctx, vh_stats_new(ctx, pk, &a.stats));
    vh_estep es = { .base = base->packed, .reduced = pk, .tau = tau, .soft = soft };
    assert_ok(ctx, ctx->backend->score(ctx, &es, 0, base->Kb, &scratch, a.L));
    assert_ok(ctx, ctx->backend->accumulate(ctx, &es, 0, base->Kb, w, &scratch, &a.stats));
    vh_scratch_free(&scratch);
    vh_pack_free(pk);
    vh_base_free(base);
    vhem_ctx_free(ctx);
    return a;
}

static double largest(size_t n, const double *x)
{
    double top = 0;
    for (size_t i = 0; i < n; i++)
        top = isfinite(x[i]) ? fmax(top, fabs(x[i])) : top;
    return top;
}

/* Shares within a sum are exp of differences of L: they are as good as L, which is rounded, whoever makes it.
 * Where that leaves no digits, there is nothing to compare. */
static bool differ(uint64_t number, const char *name, const problem *p, const answer *want, const answer *got)
{
    size_t pairs = (size_t)p->Kb * (size_t)p->Kr;
    double size = largest(pairs, want->L), tol = 1e-9 + 1e-16 * size * p->tau;
    const struct {
        const char *what;
        const double *want, *got;
        size_t n;
    } part[] = {
        { "nu1", want->stats.nu1, got->stats.nu1, (size_t)(want->stats.xi - want->stats.nu1) },
        { "xi", want->stats.xi, got->stats.xi, (size_t)(want->stats.T - want->stats.xi) },
        { "T", want->stats.T, got->stats.T, want->stats.size - (size_t)(want->stats.T - want->stats.block) },
    };
    for (size_t k = 0; k < pairs; k++)
        if (!is_near(got->L[k], want->L[k], 1e-9, 1e-9))
            return fprintf(stderr, "problem %d, %s, tau %d: L[%zu] is %.17g, ref has %.17g\n", (int)number,
                           name, p->tau, k, got->L[k], want->L[k]);
    for (int q = 0; q < 3 && tol < 1e-3; q++)
        for (size_t k = 0; k < part[q].n; k++)
            if (!is_near(part[q].got[k], part[q].want[k], tol, tol * largest(part[q].n, part[q].want)))
                return fprintf(
                    stderr, "problem %d, %s, tau %d: %s[%zu] is %.17g, ref has %.17g, largest is %g, L %g\n",
                    (int)number, name, p->tau, part[q].what, k, part[q].got[k], part[q].want[k],
                    largest(part[q].n, part[q].want), size);
    return false;
}

/* How many backends differ from ref. */
static int check(vhem_ctx *ctx, uint64_t number)
{
    problem p = random_problem(number);
    const char *name;
    int failed = 0, most_S = p.tau > 300 ? 3 : MOST_STATES;
    vh_h3m *base = random_models(ctx, &p, p.Kb, most_S), *centers = random_models(ctx, &p, p.Kr, most_S);
    double *w = calloc((size_t)(p.Kb * p.Kr), sizeof *w);
    for (int k = 0; k < p.Kb * p.Kr; k++)
        w[k] = chance(&p.rng, p.soft ? 0.05 : 0.7) ? 0 : vh_rng_uniform(&p.rng);
    answer want = run("ref", base, centers, p.tau, w, false);
    for (int n = 0; (name = test_backend(n)); n++) {
        if (strcmp(name, "ref") == 0)
            continue;
        answer got = run(name, base, centers, p.tau, w, p.soft);
        failed += differ(number, test_backend(n), &p, &want, &got);
        answer_free(&got);
    }
    answer_free(&want);
    free(w);
    vh_h3m_free(base);
    vh_h3m_free(centers);
    return failed;
}

static long setting(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atol(text) : otherwise;
}

static void test_random(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    uint64_t first = (uint64_t)setting("VHEM_TEST_FIRST", 1),
             count = (uint64_t)setting("VHEM_TEST_COUNT", COUNT);
    int failed = 0;
    for (uint64_t n = first; n < first + count && failed < 50; n++)
        failed += check(ctx, n);
    assert_int_equal(failed, 0);
    vhem_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
