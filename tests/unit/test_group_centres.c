/* SPDX-License-Identifier: BSD-3-Clause */
/* test_group_centres.c - centres for the groups of a partition: what they are, that none becomes worse,
 * that equal groups are settled once, and groups without members. */
#include "cluster_samples.h"

#include "search/group_centres.h"
#include "vhem/bounds.h"
#include "vhem.h"

enum { K = 3, EACH = 5, N = K * EACH };

typedef struct {
    vhem_ctx *ctx;
    vh_h3m *h3m;
    vh_base *base;
    vhem_cluster_options opt;
    vh_group_centres settler;
    int label[N];
} fixture;

static void begin(fixture *f)
{
    memset(f, 0, sizeof *f);
    f->ctx = test_ctx();
    f->h3m = clustered_h3m(f->ctx, 3, K, EACH, 2, 1, 2, 0, 0.3);
    assert_ok(f->ctx, vh_base_new(f->ctx, f->h3m, &f->base));
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &f->opt);
    f->opt = (vhem_cluster_options){ .size = sizeof(vhem_cluster_options),
                                     .method = "vhem",
                                     .init = "auto",
                                     .search = "auto",
                                     .S = 2,
                                     .M = 1,
                                     .tau = 10,
                                     .max_iter = 200,
                                     .nv = 1e4,
                                     .tol = 1e-5,
                                     .repair = 1 };
    f->settler = (vh_group_centres){ .opt = &f->opt, .K = K, .seed = 1 };
    for (int i = 0; i < N; i++)
        f->label[i] = i % K;
}

static void end(fixture *f)
{
    vh_group_centres_free(&f->settler);
    vh_base_free(f->base);
    vh_h3m_free(f->h3m);
    vhem_free(f->ctx);
}

/* sum_i L_hmm of the models of each group under its centre. */
static double worth(fixture *f, const vh_h3m *centers)
{
    double L[N * K], sum = 0;
    assert_ok(f->ctx, vh_reduce_score(f->ctx, f->h3m, centers, 10, L));
    for (int i = 0; i < N; i++)
        sum += L[i * K + f->label[i]];
    return sum;
}

static void stand_for_their_groups(void **state)
{
    fixture f;
    vh_h3m *centers = NULL;
    double L[N * K];
    (void)state;
    begin(&f);
    assert_ok(f.ctx, vh_group_centres_find(f.ctx, &f.settler, f.base, f.label, NULL, 5, &centers));
    assert_ok(f.ctx, vh_h3m_validate(f.ctx, centers));
    assert_ok(f.ctx, vh_reduce_score(f.ctx, f.h3m, centers, 10, L));
    for (int j = 0; j < K; j++)
        assert_near(centers->omega[j], 1.0 / K, 1e-15, 0);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < K; j++)
            assert_true(L[i * K + j] <= L[i * K + f.label[i]]);
    vh_h3m_free(centers);
    end(&f);
}

static void once_for_equal_groups(void **state)
{
    fixture f;
    vh_h3m *centers = NULL, *again = NULL;
    (void)state;
    begin(&f);
    assert_ok(f.ctx, vh_group_centres_find(f.ctx, &f.settler, f.base, f.label, NULL, 5, &centers));
    assert_int_equal(f.settler.n, K);
    for (int i = 0; i < N; i++) /* other numbers, the same groups */
        f.label[i] = (f.label[i] + 1) % K;
    assert_ok(f.ctx, vh_group_centres_find(f.ctx, &f.settler, f.base, f.label, NULL, 5, &again));
    assert_int_equal(f.settler.n, K);
    for (int j = 0; j < K; j++)
        assert_memory_equal(centers->hmm[j].pi, again->hmm[(j + 1) % K].pi, 2 * sizeof(double));
    vh_h3m_free(centers);
    vh_h3m_free(again);
    end(&f);
}

/* More restarts, and centres that are there already, can only help. */
static void never_worse(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        fixture f;
        vh_h3m *centers = NULL, *more = NULL, *from = NULL;
        begin(&f);
        f.settler.seed = seed;
        assert_ok(f.ctx, vh_group_centres_find(f.ctx, &f.settler, f.base, f.label, NULL, 1, &centers));
        assert_ok(f.ctx, vh_group_centres_find(f.ctx, &f.settler, f.base, f.label, NULL, 20, &more));
        assert_true(worth(&f, more) >= worth(&f, centers) - 1e-9);
        vh_group_centres_free(&f.settler); /* nothing is known now but the current centres */
        more->omega[0] = 0.5;
        assert_ok(f.ctx, vh_group_centres_find(f.ctx, &f.settler, f.base, f.label, more, 0, &from));
        assert_true(worth(&f, from) >= worth(&f, more) - 1e-9);
        assert_true(from->omega[0] > from->omega[1]); /* their weights are kept */
        vh_h3m_free(centers);
        vh_h3m_free(more);
        vh_h3m_free(from);
        end(&f);
    }
}

static void groups_without_members(void **state)
{
    fixture f;
    vh_h3m *centers = NULL;
    (void)state;
    begin(&f);
    for (int i = 0; i < N; i++)
        f.label[i] = 2 * (i % 2);
    assert_ok(f.ctx, vh_group_centres_find(f.ctx, &f.settler, f.base, f.label, NULL, 3, &centers));
    assert_true(centers->omega[1] == 0);
    assert_ok(f.ctx, vh_h3m_validate(f.ctx, centers));
    vh_h3m_free(centers);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stand_for_their_groups),
        cmocka_unit_test(once_for_equal_groups),
        cmocka_unit_test(never_worse),
        cmocka_unit_test(groups_without_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
