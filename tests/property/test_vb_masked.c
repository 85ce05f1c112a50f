/* SPDX-License-Identifier: BSD-3-Clause */
/* test_vb_masked.c - VBHEM of HMMs that lack columns: the bound never falls and is the same on all backends;
 * of one component it is the sum of those of each column, over the HMMs that have it; with a column that only
 * an HMM without weight lacks it is that of complete HMMs; and posteriors are read as they were written.
 *
 * VHEM_TEST_COUNT says how many random runs there are for each family. */
#include "family_models.h"
#include "files/posterior_json.h"
#include "vb_problems.h"

#include "hmm/missing_columns.h"
#include "vhem.h"

static const char *const names[] = { "gaussian-diag", "bernoulli", "poisson", "product" };
enum { N_NAMES = sizeof names / sizeof *names, COUNT = 30, MODELS = 6 };

/* Of the one component of a model, which it takes. */
static vh_prior *prior_of(vhem_ctx *ctx, double frames, vh_h3m *model)
{
    vh_prior *p = NULL;
    vh_frames_prior from = { .frames = frames, .count = 1, .model = model };
    assert_ok(ctx, vh_prior_from_frames(ctx, &from, &p));
    p->alpha = 1;
    return p;
}

/* Each HMM but the first lacks a column, or none. */
static void forget_some(vh_rng *rng, vh_h3m *h3m)
{
    for (int64_t i = 1; i < h3m->K; i++) {
        int k = (int)vh_rng_below(rng, h3m->d + 1);
        if (k < h3m->d)
            vh_hmm_forget(h3m, &h3m->hmm[i], k);
    }
    vh_hmm_forget(h3m, &h3m->hmm[1], 0);
    vh_h3m_settle_family(h3m);
}

static problem random_problem(vhem_ctx *ctx, vh_rng *rng, const char *name, const vh_vb_options *o)
{
    int K = 1 + (int)vh_rng_below(rng, 3), S = 1 + (int)vh_rng_below(rng, 4);
    problem p = { .h3m = random_models(ctx, rng, name, MODELS, 1 + (int)vh_rng_below(rng, 3), 2),
                  .start = random_models(ctx, rng, name, K, S, 2) };
    p.m.prior = prior_of(ctx, pow(10, -1 + 2 * vh_rng_uniform(rng)), random_models(ctx, rng, name, 1, 1, 1));
    forget_some(rng, p.h3m);
    problem_run(ctx, o, &p);
    return p;
}

static void never_falls(void **state)
{
    (void)state;
    check_never_falls(&(problems){ names, N_NAMES, COUNT, 41, random_problem });
}

/* Backends with a product add shifts to natural parameters, the reference to densities of the columns there
 * are. */
static void same_on_all_backends(void **state)
{
    (void)state;
    check_same_on_all_backends(&(problems){ names, N_NAMES, COUNT, 42, random_problem });
}

/* Column k of the HMMs that have it; *share becomes their weight. */
static vh_h3m *column_of(vhem_ctx *ctx, const vh_h3m *h3m, int k, double *share)
{
    vh_h3m *one = NULL;
    int64_t n = 0;
    *share = 0;
    for (int64_t i = 0; i < h3m->K; i++)
        n += !vh_hmm_lacks(h3m, &h3m->hmm[i], k);
    assert_ok(ctx, vh_h3m_new(ctx, vh_emission_find(h3m->family->name), (vh_shape){ .d = 1 }, n, &one));
    n = 0;
    for (int64_t i = 0; i < h3m->K; i++) {
        const vh_hmm *h = &h3m->hmm[i];
        if (vh_hmm_lacks(h3m, h, k))
            continue;
        assert_ok(ctx, vh_h3m_shape(ctx, one, n, 1, 1));
        one->hmm[n].pi[0] = one->hmm[n].A[0] = vh_hmm_c(&one->hmm[n])[0] = 1;
        for (int p = 0; p < h3m->family->n_param; p++)
            vh_hmm_param(one, &one->hmm[n], p)[0] = vh_hmm_param(h3m, h, p)[k];
        *share += one->omega[n++] = h3m->omega[i];
    }
    for (int64_t i = 0; i < n; i++)
        one->omega[i] /= *share;
    return one;
}

static void columns_apart(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int n = 0; n < 4 * 3; n++) {
        const char *name = names[n % 3]; /* all but the product */
        vh_rng rng;
        vh_rng_init(&rng, 43, VH_RNG_TEST, (uint64_t)n);
        vh_vb_options o = { .run = { .N = 30, .tau = 4, .max_iter = 2 } };
        double frames = 0.5 + vh_rng_uniform(&rng), sum = 0, share;
        problem p = { .h3m = random_models(ctx, &rng, name, MODELS, 1, 1),
                      .start = random_models(ctx, &rng, name, 1, 1, 1) };
        vh_h3m *of_prior = random_models(ctx, &rng, name, 1, 1, 1);
        forget_some(&rng, p.h3m);
        for (int k = 0; k < 2; k++) {
            problem one = { .h3m = column_of(ctx, p.h3m, k, &share) };
            vh_vb_options some = o;
            some.run.N *= share;
            one.m.prior = prior_of(ctx, frames, column_of(ctx, of_prior, k, &share));
            one.start = column_of(ctx, p.start, k, &share);
            problem_run(ctx, &some, &one);
            sum += one.run.J[2];
            problem_free(&one);
        }
        p.m.prior = prior_of(ctx, frames, of_prior);
        problem_run(ctx, &o, &p);
        for (int k = 0; k <= 2; k++)
            assert_near(p.run.J[k], sum, 1e-9, 1e-9);
        problem_free(&p);
    }
    vhem_free(ctx);
}

static void as_complete(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int n = 0; n < 3 * N_NAMES; n++) {
        double want[ROUNDS + 1];
        for (int lacking = 0; lacking < 2; lacking++) {
            const char *name = names[n % N_NAMES];
            vh_rng rng;
            vh_rng_init(&rng, 44, VH_RNG_TEST, (uint64_t)n);
            const vh_vb_options o = options_of(&rng, n / N_NAMES);
            problem p = { .h3m = random_models(ctx, &rng, name, MODELS, 2, 2),
                          .start = random_models(ctx, &rng, name, 2, 3, 2) };
            p.m.prior = prior_of(ctx, 1, random_models(ctx, &rng, name, 1, 1, 1));
            for (int i = 0; i < MODELS; i++)
                p.h3m->omega[i] = i < MODELS - 1 ? 1.0 / (MODELS - 1) : 0;
            for (int k = 0; lacking && k < p.h3m->d; k++)
                vh_hmm_forget(p.h3m, &p.h3m->hmm[MODELS - 1], k);
            vh_h3m_settle_family(p.h3m);
            problem_run(ctx, &o, &p);
            for (int k = 0; k <= ROUNDS; k++)
                if (lacking)
                    assert_near(p.run.J[k], want[k], 1e-9, 1e-9);
                else
                    want[k] = p.run.J[k];
            problem_free(&p);
        }
    }
    vhem_free(ctx);
}

static void files(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int f = 0; f < N_NAMES; f++) {
        vh_rng rng;
        vh_rng_init(&rng, 46, VH_RNG_TEST, (uint64_t)f);
        const vh_vb_options o = options_of(&rng, 1);
        problem p = random_problem(ctx, &rng, names[f], &o);
        double last = p.run.J[ROUNDS];
        char *text = NULL;
        vh_vb again = { 0 };
        vh_vhem_run run = { 0 };
        assert_ok(ctx, vh_posteriors_text(ctx, p.m.post, &text));
        assert_true(f > 0 || strstr(text, "\"nu_columns\": [[["));
        assert_ok(ctx, vh_posteriors_read(ctx, text, &again.post));
        assert_ok(ctx, vh_prior_copy(ctx, p.m.prior, &again.prior));
        again.post->shape = again.prior;
        assert_ok(ctx, vh_vb_run(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, &again, &run));
        assert_near(run.J[0], last, 1e-12, 1e-12);
        free(text);
        vh_vb_free(&again);
        vh_vhem_run_free(&run);
        problem_free(&p);
    }
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(never_falls), cmocka_unit_test(same_on_all_backends),
                                        cmocka_unit_test(columns_apart), cmocka_unit_test(as_complete),
                                        cmocka_unit_test(files) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
