/* SPDX-License-Identifier: BSD-3-Clause */
/* test_prior.c - priors as text and as an option: round trips, settings, every sentence; what is learnt from
 * scatters. */
#include "engine.h"

#include "fit/fit_prior.h"
#include "files/hmm_file.h"
#include "files/prior_json.h"
#include "vhem.h"

static const char good[] =
    "{\"format\": \"vhem-prior\", \"version\": 1, \"emission\": \"gaussian-full\", \"d\": 2,"
    " \"alpha\": 1.0, \"eta\": 1.0, \"eps\": 1.5, \"kappa\": 1.0, \"lambda\": 0.01,"
    " \"nu\": 4.0, \"m\": [1, 2], \"W\": [0.5, 0.25], \"mine\": true}";

static void text(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_prior *p = NULL, *q = NULL;
    char *out = NULL;
    assert_ok(ctx, vh_prior_read(ctx, good, &p)); /* a diagonal will do for a full prior */
    assert_near(p->B[0], 2, 1e-15, 0);
    assert_near(p->B[3], 4, 1e-15, 0);
    assert_true(p->B[1] == 0 && p->B[2] == 0);
    assert_true(p->eps == 1.5 && p->nu == 4 && p->m[1] == 2 && p->broad && !p->variance);
    p->B[1] = p->B[2] = 0.75;
    p->broad = false;
    p->variance = malloc(2 * sizeof *p->variance);
    p->variance[0] = 0.1;
    p->variance[1] = 0;
    assert_ok(ctx, vh_prior_text(ctx, p, &out));
    assert_ok(ctx, vh_prior_read(ctx, out, &q));
    for (int e = 0; e < 4; e++)
        assert_near(p->B[e], q->B[e], 1e-14, 0);
    assert_true(!q->broad && q->variance[0] == 0.1 && q->eta == p->eta && q->lambda == 0.01);
    vh_prior_free(p);
    vh_prior_free(q);
    free(out);
    vhem_free(ctx);
}

static void refuse(const char *from, const char *to, const char *sentence)
{
    vhem_ctx *ctx = test_ctx();
    vh_prior *p = NULL;
    const char *at = strstr(good, from);
    char wrong[1024];
    assert_non_null(at);
    snprintf(wrong, sizeof wrong, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    assert_int_equal(vh_prior_read(ctx, wrong, &p), VHEM_EFORMAT);
    if (!strstr(vhem_ctx_error(ctx), sentence))
        fail_msg("%s -> %s: wanted \"%s\", got \"%s\"", from, to, sentence, vhem_ctx_error(ctx));
    assert_null(p);
    vhem_free(ctx);
}

static void sentences(void **state)
{
    (void)state;
    refuse("vhem-prior", "vhem-h3m", "prior: format is 'vhem-h3m', must be 'vhem-prior'");
    refuse("\"version\": 1", "\"version\": 9", "version 9 of the format");
    refuse("gaussian-full", "cauchy", "emission is 'cauchy'");
    refuse("\"eta\": 1.0", "\"eta\": 0", "eta is 0, must be more than 0");
    refuse("\"kappa\": 1.0,", "", "kappa is missing");
    refuse("\"nu\": 4.0", "\"nu\": 1.0", "nu is 1, must be more than 1");
    refuse("[1, 2]", "[1]", "m has 1 number, must have d = 2");
    refuse("[0.5, 0.25]", "[0.5, 0]", "W is not positive definite");
    refuse("[0.5, 0.25]", "[[1, 0.5], [0.4, 1]]", "W is not symmetric");
    refuse("[0.5, 0.25]", "[0.5, 25e-324]",
           "W has no inverse in numbers: it is nearly singular, or too small");
    refuse("\"mine\": true", "\"start\": \"there\"", "start is 'there', must be broad or ml");
    refuse("\"mine\": true", "\"variance\": [1, -1]", "variance[1] is -1, must not be negative");
}

static void misuse(const char *spec, const char *sentence)
{
    vhem_ctx *ctx = test_ctx();
    vh_prior_choice x = { 0 };
    assert_int_not_equal(vh_prior_choose(ctx, spec, false, &x), VHEM_OK);
    if (!strstr(vhem_ctx_error(ctx), sentence))
        fail_msg("%s: wanted \"%s\", got \"%s\"", spec, sentence, vhem_ctx_error(ctx));
    vh_prior_choice_free(&x);
    vhem_free(ctx);
}

static void option(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_prior_choice x = { 0 };
    assert_ok(ctx, vh_prior_choose(ctx, NULL, true, &x));
    assert_true(x.none);
    assert_ok(ctx, vh_prior_choose(ctx, "none", false, &x));
    assert_true(x.none);
    assert_ok(ctx, vh_prior_choose(ctx, "vb", true, &x));
    assert_true(!x.none && !x.estimate && x.broad && x.effective && x.nu0 == 1 && !x.text);
    assert_ok(ctx, vh_prior_choose(ctx, "eb:start=ml,nu0=1.5,count=2,lambda=.5,frames=effective", false, &x));
    assert_true(x.estimate && !x.broad && x.nu0 == 1.5 && x.count == 2 && x.lambda == 0.5 && x.effective);
    assert_ok(ctx, vh_prior_choose(ctx, "nu0=5,start=ml", true, &x)); /* those of vb */
    assert_true(!x.none && !x.estimate && !x.broad && x.nu0 == 5 && x.count == 1);
    assert_ok(ctx, vh_prior_choose(ctx, good, false, &x));
    assert_string_equal(x.text, good);
    vh_prior_choice_free(&x);
    vhem_free(ctx);
    misuse("vb:nu=3", "prior: there is no setting 'nu'; known are nu0, count, lambda, start, frames");
    misuse("vb:nu0=-1", "prior: nu0 is '-1', must be a finite number above 0");
    misuse("vb:nu0=1e15", "prior: nu0 is '1e15', must be from 1e-12 to 1e+09");
    misuse("vb:nu0", "prior: 'nu0' is not a setting; write it as nu0=1");
    misuse("vb:start=here", "prior: start is 'here', must be broad or ml");
    misuse("nowhere.json", "nowhere.json");
    misuse("no/nu0=5/where.json", "no/nu0=5/where.json: cannot read");
}

static void files(void **state)
{
    (void)state;
    NEEDS_HDF5();
    vhem_ctx *ctx = test_ctx();
    vh_prior_choice x = { 0 };
    const char *path = test_scratch("prior.json");
    test_write(path, good, strlen(good));
    assert_ok(ctx, vh_prior_choose(ctx, path, false, &x));
    assert_non_null(strstr(x.text, "\"mine\": true"));
    vh_prior_choice_free(&x);
    vh_rng rng;
    vh_rng_init(&rng, 431, VH_RNG_TEST, 0);
    vh_h3m *h3m = random_h3m(ctx, &rng, 1, 1, 1, 2, 1, 1);
    static const char *const name[] = { "prior_model.json", "prior_model.h5" };
    for (int k = 0; k < 2; k++) {
        const char *model = test_scratch(name[k]);
        assert_ok(ctx, vh_h3m_save(ctx, h3m, model));
        misuse(model, "it has no prior: it was not fitted with one");
        assert_ok(ctx, vh_h3m_set_text(ctx, &h3m->prior, good));
        assert_ok(ctx, vh_h3m_save(ctx, h3m, model));
        assert_ok(ctx, vh_prior_choose(ctx, model, false, &x));
        assert_non_null(strstr(x.text, "\"mine\": true"));
        vh_prior_choice_free(&x);
        assert_ok(ctx, vh_h3m_set_text(ctx, &h3m->prior, NULL));
    }
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* States whose variances were drawn from an inverse chi^2 with known n0 and s: both are found again.  A state
 * that never moves does not spoil it. */
static void estimated(void **state)
{
    (void)state;
    enum { N = 4000, F = 8 };
    static const double n0 = 6, s = 2.5;
    vhem_ctx *ctx = test_ctx();
    for (int full = 0; full < 2; full++) {
        vh_rng rng;
        vh_scatters from = { .n = N };
        vh_prior_choice choice = { .estimate = true, .nu0 = 3, .count = 1, .lambda = 0.01, .least = 1e-4 };
        vh_prior *p = NULL;
        double mean = 0, variance = 1;
        char *out = NULL;
        vh_rng_init(&rng, 432, VH_RNG_TEST, (uint64_t)full);
        from.frames = malloc(N * sizeof *from.frames);
        from.scatter = malloc(N * sizeof *from.scatter);
        for (int i = 0; i < N; i++) {
            double precision = 0;
            for (int k = 0; k < n0; k++)
                precision += pow(vh_rng_normal(&rng), 2) / (n0 * s);
            from.frames[i] = F + 1;
            from.scatter[i] = 0;
            for (int k = 0; k < F && i > 3; k++)
                from.scatter[i] += pow(vh_rng_normal(&rng), 2) / precision;
        }
        assert_ok(ctx, vh_prior_learn(ctx, &choice, full ? &vh_gaussian_full : &vh_gaussian_diag, 1, &mean,
                                      &variance, 0, &from, &out));
        assert_ok(ctx, vh_prior_read(ctx, out, &p));
        assert_near(p->nu, n0, 0.1, 0);
        assert_near(p->B[0] / p->nu, s, 0.05, 0);
        vh_prior_free(p);
        free(out);
        free(from.frames);
        free(from.scatter);
    }
    vhem_free(ctx);
}

/* W is the pooled variance; effective frames make the prior count for more. */
static void pooled(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double frames[] = { 10, 30 }, scatter[] = { 5, 1, 10, 3 }, mean[] = { 1, 2 }, variance[] = { 1, 1 };
    vh_scatters from = { .n = 2, .frames = frames, .scatter = scatter };
    vh_prior_choice choice = { .nu0 = 3, .count = 1, .lambda = 0.01, .broad = true, .least = 1e-4 };
    for (int effective = 0; effective < 2; effective++) {
        vh_prior *p = NULL;
        char *out = NULL;
        double nu = effective ? 9 : 3;
        choice.effective = effective;
        assert_ok(ctx, vh_prior_learn(ctx, &choice, &vh_gaussian_diag, 2, mean, variance, 0.5, &from, &out));
        assert_ok(ctx, vh_prior_read(ctx, out, &p));
        assert_near(p->nu, nu, 1e-12, 0);
        assert_near(p->B[0], nu * 15 / 40, 1e-12, 0);
        assert_near(p->B[1], nu * 4 / 40, 1e-12, 0);
        assert_true(p->m[1] == 2 && p->variance[0] == 1 && p->eta == 1);
        assert_near(p->lambda, 0.01 * 4 / 40, 1e-8, 0); /* of the dimension where states are narrowest */
        vh_prior_free(p);
        free(out);
    }
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(text),      cmocka_unit_test(sentences),
                                        cmocka_unit_test(option),    cmocka_unit_test(files),
                                        cmocka_unit_test(estimated), cmocka_unit_test(pooled) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
