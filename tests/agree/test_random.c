/* SPDX-License-Identifier: BSD-3-Clause */
/* test_random.c - the variational E-step of every usable backend against ref, on random problems of all
 * kinds: ragged and wild shapes, structural zeros, slow chains, numbers from 1e-8 to 1e6, tau from 1 to 1000.
 *
 * A failure prints the number of the problem; VHEM_TEST_FIRST=<number> begins there, VHEM_TEST_COUNT=<n> says
 * how many are tried. */
#include "reductions.h"
#include "vhem.h"

enum { COUNT = 5000, MOST_STATES = 6, MOST_MODELS = 24 };

typedef struct {
    vh_rng rng;
    int d, tau, Kb, Kr;
    bool full, soft, weighted;
    double N;
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
    assert_ok(ctx, vh_h3m_new(ctx, vh_emission_find(p->full ? "gaussian-full" : "gaussian-diag"),
                              (vh_shape){ .d = p->d }, K, &h3m));
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
    p.weighted = chance(rng, 0.2);
    p.Kb = 1 + (int)vh_rng_below(rng, p.tau > 100 ? 4 : p.tau > 20 ? 12 : MOST_MODELS);
    p.Kr = 1 + (int)vh_rng_below(rng, chance(rng, 0.2) && p.tau < 100 ? p.Kb + 3 : 3);
    p.N = p.Kb * pow(10, between(rng, -4, 5));
    p.far = chance(rng, 0.5) ? 0 : pow(10, between(rng, 0, 6)) * (chance(rng, 0.5) ? 1 : -1);
    p.sigma = chance(rng, 0.5) ? 1 : pow(10, between(rng, -4, 4));
    p.spread = chance(rng, 0.8) ? 3 * vh_rng_uniform(rng) : pow(10, between(rng, 0, 2));
    p.wild = chance(rng, 0.8) ? 0.5 : 3;
    return p;
}

/* Shares within a sum are exp of differences of L, which is rounded, whoever makes it, step by step, and
 * counted N_i times in z.  Where that leaves no digits, there is nothing to compare.
 *
 * The terms are those of error_bound in extremes.h: u tau |L| is what adding up tau numbers costs, u being
 * 1.1e-16; 1e-14 |L| the products and sums of one step, about 40 roundings for each side.  Only the loss of
 * digits in the product is taken as it is here, at most 1e5 u, and not at its limit for n_stat terms in every
 * step, which would be a hundred times as much. */
static double tolerance(const problem *p, const vh_h3m *base, const answer *want)
{
    double size = largest((size_t)p->Kb * (size_t)p->Kr, want->L), most = largest((size_t)p->Kb, base->omega);
    return 1e-9 + 1e-16 * size * p->tau + p->N * most * (1e-11 + 1e-14 * size);
}

/* How many backends differ from ref. */
static int check(vhem_ctx *ctx, uint64_t number)
{
    problem p = random_problem(number);
    const char *name;
    int failed = 0, most_S = p.tau > 300 ? 3 : MOST_STATES;
    vh_h3m *base = random_models(ctx, &p, p.Kb, most_S), *centers = random_models(ctx, &p, p.Kr, most_S);
    const question q = { .N = p.N, .tau = p.tau, .soft = p.soft, .weighted = p.weighted };
    answer want = ask_backend("ref", base, centers, &q);
    for (int n = 0; (name = test_backend(n)); n++) {
        char what[100];
        snprintf(what, sizeof what, "problem %d, %s, tau %d, N %g", (int)number, name, p.tau, p.N);
        if (strcmp(name, "ref") == 0)
            continue;
        answer got = ask_backend(name, base, centers, &q);
        double tol = tolerance(&p, base, &want);
        if (tol < 1e-3)
            failed += answers_differ(what, &want, &got, tol, centers, base->family->n_stat(&base->shape));
        answer_free(&got);
    }
    answer_free(&want);
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
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
