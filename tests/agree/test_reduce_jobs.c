/* SPDX-License-Identifier: BSD-3-Clause */
/* test_reduce_jobs.c - whole E-steps of reductions: every usable backend against one that copies everything
 * and works on whole jobs; the same bits at any number of threads, whatever tables are asked for and wherever
 * the base HMMs come from; and what a backend leaves out, which is done by `ref`. */
#include "copy_reduce.h"
#include "reductions.h"

#include "vhem/vhem_h3m.h"
#include "vhem.h"

static bool always(void)
{
    return true;
}

static const vh_backend idle = { .name = "idle", .usable = always };

static answer ask_table(const vh_backend *backend, const vh_h3m *base, const vh_h3m *centers,
                        const question *q)
{
    vhem_ctx *ctx = test_ctx();
    ctx->backend = backend;
    answer a = ask(ctx, base, centers, q);
    vhem_free(ctx);
    return a;
}

static void same_members(const answer *a, const answer *b)
{
    for (int j = 0; j < a->Kr; j++) {
        assert_true(a->sums.members[j] == b->sums.members[j]);
        assert_true(a->sums.members[j] == 0 || a->sums.worst[j] == b->sums.worst[j]);
    }
}

static void test_copying(void **state)
{
    (void)state;
    const vh_backend copying = copy_all();
    vhem_ctx *ctx = test_ctx();
    const char *name;
    for (int trial = 0; trial < 6; trial++) {
        vh_rng rng;
        vh_rng_init(&rng, 500, VH_RNG_TEST, (uint64_t)trial);
        int Kb = trial % 3 == 0 ? 1200 : 1 + (int)vh_rng_below(&rng, 600);
        vh_h3m *base = ragged_h3m(ctx, &rng, Kb), *centers = random_h3m(ctx, &rng, 3, 2, 2, 2, 0, 2);
        question q = { .N = Kb * (trial % 2 ? 200 : 0.05), .tau = 5, .weighted = trial == 4 };
        answer want = ask_table(&copying, base, centers, &q);
        for (int n = 0; (name = test_backend(n / 2)); n++) {
            q.soft = n % 2;
            answer got = ask_backend(name, base, centers, &q);
            assert_false(answers_differ(name, &want, &got, 1e-9, centers, 5));
            same_members(&want, &got);
            answer_free(&got);
        }
        answer_free(&want);
        vh_h3m_free(base);
        vh_h3m_free(centers);
    }
    vhem_free(ctx);
}

static void same_answers(const answer *a, const answer *b)
{
    assert_memory_equal(a->sums.block, b->sums.block, sizeof(double) * a->sums.size);
    assert_memory_equal(a->z, b->z, sizeof(double) * (size_t)(a->Kb * a->Kr));
    assert_memory_equal(a->L, b->L, sizeof(double) * (size_t)(a->Kb * a->Kr));
}

static void test_threads(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    const char *name;
    vh_rng_init(&rng, 501, VH_RNG_TEST, 0);
    vh_h3m *base = ragged_h3m(ctx, &rng, 2700), *centers = random_h3m(ctx, &rng, 3, 2, 1, 2, 0, 2);
    for (int n = 0; (name = test_backend(n)); n++) {
        question q = { .N = 2700 * 30, .tau = 4, .threads = 1 };
        answer one = ask_backend(name, base, centers, &q);
        for (q.threads = 2; q.threads < 8; q.threads += 2) {
            answer more = ask_backend(name, base, centers, &q);
            same_answers(&one, &more);
            answer_free(&more);
        }
        answer_free(&one);
    }
    vh_h3m_free(base);
    vh_h3m_free(centers);
    vhem_free(ctx);
}

/* ---- base HMMs that come a chunk at a time ------------------------------------------------------------- */

typedef struct {
    const vh_base *base;
    int out; /* blocks that are not given back yet */
} lender;

static vhem_status lend(vhem_ctx *ctx, const void *arg, int64_t first, int n, vh_packed *out)
{
    lender *l = (lender *)(uintptr_t)arg;
    vh_packed *own = NULL;
    vhem_status st =
        vh_pack_base(ctx, l->base->h3m, l->base->order + first, n, l->base->origin, l->base->scale, &own);
    if (st != VHEM_OK)
        return st;
    *out = *own;
    free(own);
#pragma omp atomic
    l->out++;
    return VHEM_OK;
}

static void take_back(const void *arg, vh_packed *block)
{
    lender *l = (lender *)(uintptr_t)arg;
    vh_packed *own = malloc(sizeof *own);
    *own = *block;
    vh_pack_free(own);
#pragma omp atomic
    l->out--;
}

static void check_source(const char *backend)
{
    vh_rng rng;
    vhem_ctx *ctx = test_ctx_with(backend, 2, 1);
    vh_rng_init(&rng, 502, VH_RNG_TEST, 0);
    vh_h3m *h3m = ragged_h3m(ctx, &rng, 1300), *centers = random_h3m(ctx, &rng, 3, 2, 1, 2, 0, 2);
    const double log_omega[3] = { -1, -2, -0.5 };
    vh_base *base = NULL;
    vh_packed *pk = NULL;
    vh_scratch scratch[2] = { { { 0 }, { 0 } }, { { 0 }, { 0 } } };
    vh_reduce_sums want = { 0 }, got = { 0 };
    vh_opened_base *job = NULL;
    assert_ok(ctx, vh_base_new(ctx, h3m, &base));
    assert_ok(ctx, vh_pack_new(ctx, centers, NULL, 3, base->origin, base->scale, &pk));
    assert_ok(ctx, vh_pack_update(ctx, centers, NULL, pk));
    assert_ok(ctx, vh_reduce_sums_new(ctx, pk, &want));
    assert_ok(ctx, vh_reduce_sums_new(ctx, pk, &got));
    lender l = { base, 0 };
    const vh_base_source source = { .K = base->Kb,
                                    .all = base->Kb,
                                    .omega = base->omega,
                                    .number = base->order,
                                    .block = lend,
                                    .release = take_back,
                                    .arg = &l };
    const vh_reduce_step step = {
        .reduced = pk, .tau = 6, .log_omega = log_omega, .N = 1e5, .statistics = true
    };
    assert_ok(ctx, vh_reduce_open(ctx, &source, &job));
    assert_ok(ctx, vh_reduce_run(ctx, base->opened, &step, &(vh_workers){ 2, scratch }, false, &want));
    assert_ok(ctx, vh_reduce_run(ctx, job, &step, &(vh_workers){ 2, scratch }, false, &got));
    assert_memory_equal(want.block, got.block, sizeof(double) * want.size);
    assert_int_equal(l.out, 0);
    vh_reduce_close(job);
    vh_reduce_sums_free(&want);
    vh_reduce_sums_free(&got);
    vh_scratch_free(&scratch[0]);
    vh_scratch_free(&scratch[1]);
    vh_pack_free(pk);
    vh_base_free(base);
    vh_h3m_free(h3m);
    vh_h3m_free(centers);
    vhem_free(ctx);
}

static void test_source(void **state)
{
    const char *name;
    (void)state;
    for (int n = 0; (name = test_backend(n)); n++)
        check_source(name);
}

static void test_left_out(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 503, VH_RNG_TEST, 0);
    vh_h3m *base = ragged_h3m(ctx, &rng, 70), *centers = random_h3m(ctx, &rng, 2, 2, 1, 2, 0, 2);
    const question q = { .N = 70, .tau = 4 };
    answer want = ask_table(&vh_backend_ref, base, centers, &q), got = ask_table(&idle, base, centers, &q);
    same_answers(&want, &got);
    answer_free(&want);
    answer_free(&got);
    vh_h3m_free(base);
    vh_h3m_free(centers);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_copying), cmocka_unit_test(test_threads),
                                        cmocka_unit_test(test_source), cmocka_unit_test(test_left_out) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
