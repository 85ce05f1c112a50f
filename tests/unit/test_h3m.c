/* SPDX-License-Identifier: BSD-3-Clause */
/* test_h3m.c - storage of an H3M: shapes, copies from views, views, validation, comparison, provenance. */
#include "files/hmm_file.h"
#include "support.h"

#include "core/alloc.h"
#include "hmm/hmm_set.h"
#include "vhem.h"

/* One HMM with S = 2, M = 2, d = 2, to be spoilt one number at a time. */
typedef struct {
    double pi[2], A[4], c[4], mu[8], cov[8];
    vhem_hmm_view view[2];
} small;

static small make_small(void)
{
    return (small){
        .pi = { 0.25, 0.75 },
        .A = { 0.5, 0.5, 0.125, 0.875 },
        .c = { 0.5, 0.5, 1, 0 },
        .mu = { 1, 2, 3, 4, 5, 6, 7, 8 },
        .cov = { 1, 1, 2, 2, 3, 3, 0, 4 },
    };
}

/* Two HMMs that share the numbers of s; the second is called walk_01. */
static vhem_status build(vhem_ctx *ctx, small *s, vh_h3m **out)
{
    for (int i = 0; i < 2; i++)
        s->view[i] = (vhem_hmm_view){ .S = 2,
                                      .M = 2,
                                      .d = 2,
                                      .omega = i ? 0.75 : 0.25,
                                      .pi = s->pi,
                                      .A = s->A,
                                      .c = s->c,
                                      .mu = s->mu,
                                      .cov = s->cov,
                                      .name = i ? "walk_01" : NULL,
                                      .label = i ? "walk" : "" };
    return vh_h3m_from_views(ctx, "gaussian-diag", 2, 2, s->view, out);
}

static void new_and_view(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = NULL;
    vhem_hmm_view v;
    small s = make_small();
    assert_ok(ctx, build(ctx, &s, &h3m));
    assert_int_equal(h3m->K, 2);
    assert_int_equal(vh_h3m_view(h3m, 1, &v), VHEM_OK);
    assert_int_equal(v.S, 2);
    assert_int_equal(v.M, 2);
    assert_int_equal(v.d, 2);
    assert_int_equal(v.n_theta, 4 + 8 + 8);
    assert_string_equal(v.emission, "gaussian-diag");
    assert_string_equal(v.name, "walk_01");
    assert_string_equal(v.label, "walk");
    assert_true(v.omega == 0.75);
    assert_memory_equal(v.pi, s.pi, sizeof s.pi);
    assert_memory_equal(v.A, s.A, sizeof s.A);
    assert_memory_equal(v.c, s.c, sizeof s.c);
    assert_memory_equal(v.mu, s.mu, sizeof s.mu);
    assert_memory_equal(v.cov, s.cov, sizeof s.cov);
    assert_ptr_equal(v.c, v.theta);
    assert_ptr_equal(v.mu, v.theta + 4);
    assert_ptr_equal(v.cov, v.theta + 12);
    assert_true(v.pi != s.pi); /* a copy */
    assert_int_equal(vh_h3m_view(h3m, 0, &v), VHEM_OK);
    assert_string_equal(v.name, "");
    assert_string_equal(v.label, "");

    vhem_hmm_view kept = v;
    assert_int_equal(vh_h3m_view(h3m, 2, &v), VHEM_EINVAL);
    assert_int_equal(vh_h3m_view(h3m, -1, &v), VHEM_EINVAL);
    assert_memory_equal(&kept, &v, sizeof v);

    vh_h3m *again = NULL; /* views of an H3M make an equal one */
    vhem_hmm_view both[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(vh_h3m_view(h3m, i, &both[i]), VHEM_OK);
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 2, 2, both, &again));
    assert_true(vh_h3m_compare(h3m, again) == 0);
    vh_h3m_free(again);
    vh_h3m_free(h3m);
    vh_h3m_free(NULL);
    vhem_free(ctx);
}

static void parameters(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = NULL;
    double *par[VH_MAX_PARAM];
    small s = make_small();
    assert_ok(ctx, build(ctx, &s, &h3m));
    vh_hmm_component(h3m, &h3m->hmm[0], 1, 0, par);
    assert_true(par[0][0] == 5 && par[0][1] == 6);
    assert_true(par[1][0] == 3 && par[1][1] == 3);
    vh_h3m_free(h3m);

    assert_ok(ctx, vh_h3m_new(ctx, &vh_gaussian_full, (vh_shape){ .d = 3 }, 4, &h3m));
    for (int i = 0; i < 4; i++) {
        assert_true(h3m->omega[i] == 0.25);
        assert_ok(ctx, vh_h3m_shape(ctx, h3m, i, 2, 5));
    }
    const vh_hmm *h = &h3m->hmm[1];
    assert_int_equal(h->n_theta, 2 * 5 * (1 + 3 + 9));
    assert_ptr_equal(vh_hmm_param(h3m, h, 0), h->theta + 10);
    assert_ptr_equal(vh_hmm_param(h3m, h, 1), h->theta + 10 + 30);
    vh_hmm_component(h3m, h, 1, 4, par);
    assert_ptr_equal(par[1], h->theta + 40 + 9 * 9);
    for (size_t k = 0; k < 2 + 4 + h->n_theta; k++) {
        assert_true(h->pi[k] == 0);
        h->pi[k] = (double)k;
    }
    vh_hmm_copy(&h3m->hmm[3], h);
    assert_memory_equal(h3m->hmm[3].pi, h->pi, (2 + 4 + h->n_theta) * sizeof *h->pi);

    assert_ok(ctx, vh_h3m_shape(ctx, h3m, 1, 3, 1)); /* a new shape is empty again */
    assert_true(h3m->hmm[1].pi[2] == 0);
    assert_fails(ctx, vh_h3m_shape(ctx, h3m, 1, 0, 1), VHEM_EINVAL, "S is 0, must be at least 1");
    assert_fails(ctx, vh_h3m_shape(ctx, h3m, 1, 1, -1), VHEM_EINVAL, "M is -1, must be at least 1");
    assert_fails(ctx, vh_h3m_shape(ctx, h3m, 1, 2000000000, 2000000000), VHEM_EINVAL,
                 "numbers, must be at most");
    assert_int_equal(h3m->hmm[1].S, 3);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void new_refuses(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = NULL;
    small s = make_small();
    assert_ok(ctx, build(ctx, &s, &h3m));
    vh_h3m_free(h3m);
    h3m = NULL;
    vhem_hmm_view *v = s.view;
    double theta[20] = { 0 };
#define REFUSED(text) \
    assert_fails(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 2, 2, v, &h3m), VHEM_EINVAL, text)
    assert_fails(ctx, vh_h3m_from_views(ctx, "cauchy", 2, 2, v, &h3m), VHEM_EINVAL,
                 "emission is 'cauchy', must be one of: gaussian-diag");
    assert_fails(ctx, vh_h3m_from_views(ctx, NULL, 2, 2, v, &h3m), VHEM_EINVAL, "must be one of");
    assert_fails(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 0, 2, v, &h3m), VHEM_EINVAL, "d is 0");
    assert_fails(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 2, 0, v, &h3m), VHEM_EINVAL,
                 "there are 0 HMMs");
    v[1].emission = "gaussian-full";
    REFUSED("HMM 1: emission is gaussian-full, must be gaussian-diag as for all");
    v[1].emission = NULL;
    v[0].d = 3;
    REFUSED("HMM 0: d is 3, must be 2 as for all");
    v[0].d = 0;
    v[0].S = 0;
    REFUSED("HMM 0: S is 0, must be at least 1");
    v[0].S = 2;
    v[1].A = NULL;
    REFUSED("HMM 1: A is not given");
    v[1].A = s.A;
    v[1].cov = NULL;
    REFUSED("HMM 1 ('walk_01'): neither theta nor cov is given");
    v[1].theta = theta;
    v[1].n_theta = 19;
    REFUSED("HMM 1 ('walk_01'): n_theta is 19, must be 20 for gaussian-diag with S = 2, M = 2, d = 2");
#undef REFUSED
    assert_null(h3m);
    vhem_free(ctx);
}

static void refuse(size_t offset, double value, const char *sentence)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = NULL;
    small s = make_small();
    memcpy((char *)&s + offset, &value, sizeof value);
    assert_int_equal(build(ctx, &s, &h3m), VHEM_EINVAL);
    assert_string_equal(vhem_ctx_error(ctx), sentence);
    assert_null(h3m);
    vhem_free(ctx);
}

#define AT(field, k) (offsetof(small, field) + (k) * sizeof(double))

static void validate_sentences(void **state)
{
    (void)state;
    refuse(AT(pi, 0), 0.35, "HMM 0: pi sums to 1.1, must be 1");
    refuse(AT(pi, 0), 0.25 + 2e-6, "HMM 0: pi sums to 1.000002, must be 1");
    refuse(AT(pi, 1), NAN, "HMM 0: entry 1 of pi is nan, must be a finite number of 0 or more");
    refuse(AT(A, 3), 0.845, "HMM 0: row 1 of A sums to 0.97, must be 1");
    refuse(AT(A, 1), -0.5, "HMM 0: entry 1 of row 0 of A is -0.5, must be a finite number of 0 or more");
    refuse(AT(A, 0), INFINITY, "HMM 0: entry 0 of row 0 of A is inf, must be a finite number of 0 or more");
    refuse(AT(c, 2), 0.5, "HMM 0: row 1 of c sums to 0.5, must be 1");
    refuse(AT(mu, 3), NAN, "HMM 0: state 0, component 1: mu[1] is nan, must be finite");
    refuse(AT(cov, 5), -2,
           "HMM 0: state 1, component 0: cov[1] is -2, a variance must be finite and not negative");
}

static void validate_names(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = NULL;
    small s = make_small();
    assert_ok(ctx, build(ctx, &s, &h3m));
    h3m->hmm[1].A[0] = 0.47;
    assert_fails(ctx, vh_h3m_validate(ctx, h3m), VHEM_EINVAL,
                 "HMM 1 ('walk_01'): row 0 of A sums to 0.97, must be 1");
    h3m->hmm[1].A[0] = 0.5 + 0.9e-6; /* within the tolerance, and left as it is */
    assert_ok(ctx, vh_h3m_validate(ctx, h3m));
    assert_true(h3m->hmm[1].A[0] == 0.5 + 0.9e-6);
    h3m->omega[0] = 0.2;
    assert_fails(ctx, vh_h3m_validate(ctx, h3m), VHEM_EINVAL, "omega sums to 0.95, must be 1");
    h3m->omega[0] = -0.25;
    assert_fails(ctx, vh_h3m_validate(ctx, h3m), VHEM_EINVAL, "entry 0 of omega is -0.25, must be");
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void compare(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *a = NULL, *b = NULL;
    vh_rng rng;
    small s = make_small();
    assert_ok(ctx, build(ctx, &s, &a));
    assert_ok(ctx, build(ctx, &s, &b));
    assert_true(vh_h3m_compare(a, b) == 0);
    b->hmm[1].theta[4] = 1 + 1e-9; /* below 1 the difference is absolute ... */
    assert_near(vh_h3m_compare(a, b), 1e-9, 1e-6, 0);
    b->hmm[1].theta[4] = 4; /* ... above it is relative */
    assert_near(vh_h3m_compare(a, b), 0.75, 1e-15, 0);
    a->hmm[1].theta[4] = 1.7e308;
    b->hmm[1].theta[4] = -1.7e308;
    assert_near(vh_h3m_compare(a, b), 2, 1e-15, 0);
    b->hmm[1].theta[4] = NAN;
    assert_true(isinf(vh_h3m_compare(a, b)));
    b->hmm[1].theta[4] = a->hmm[1].theta[4];
    b->omega[1] += 0.125;
    assert_near(vh_h3m_compare(a, b), 0.125, 1e-15, 0);
    vh_h3m_free(b);

    vh_rng_init(&rng, 1, VH_RNG_TEST, 0);
    static const int shape[][5] = {
        { 2, 3, 2, 2, 0 }, { 2, 2, 1, 2, 0 }, { 2, 2, 2, 3, 0 }, { 3, 2, 2, 2, 0 }, { 2, 2, 2, 2, 1 }
    };
    for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) {
        b = random_h3m(ctx, &rng, shape[k][0], shape[k][1], shape[k][2], shape[k][3], shape[k][4], 1);
        assert_true(isinf(vh_h3m_compare(a, b)));
        vh_h3m_free(b);
    }
    vh_h3m_free(a);
    vhem_free(ctx);
}

static void provenance(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = NULL;
    small s = make_small();
    assert_ok(ctx, build(ctx, &s, &h3m));
    assert_null(h3m->provenance);
    assert_ok(ctx, vh_model_set_provenance(ctx, &h3m->provenance, "{\"seed\": 18446744073709551615}"));
    assert_string_equal(h3m->provenance, "{\"seed\": 18446744073709551615}");
    assert_fails(ctx, vh_model_set_provenance(ctx, &h3m->provenance, "{\"seed\": }"), VHEM_EINVAL,
                 "provenance: line 1, column 10: not valid JSON");
    assert_fails(ctx, vh_model_set_provenance(ctx, &h3m->provenance, "[1]"), VHEM_EINVAL,
                 "provenance is an array, must be an object");
    assert_string_equal(h3m->provenance, "{\"seed\": 18446744073709551615}");
    assert_ok(ctx, vh_model_set_provenance(ctx, &h3m->provenance, NULL));
    assert_null(h3m->provenance);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_and_view),       cmocka_unit_test(parameters),     cmocka_unit_test(new_refuses),
        cmocka_unit_test(validate_sentences), cmocka_unit_test(validate_names), cmocka_unit_test(compare),
        cmocka_unit_test(provenance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
