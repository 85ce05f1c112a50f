/* SPDX-License-Identifier: BSD-3-Clause */
/* test_parallel.c - loops inside loops: every turn is made once, and no worker makes two at a time. */
#include "support.h"

#include "parallel/parallel.h"
#include "vhem.h"

enum { OUTER = 7, INNER = 40, THREADS = 4 };

typedef struct {
    vhem_ctx *ctx;
    int made[OUTER][INNER], busy[THREADS], outer;
    int64_t begun; /* outer turns */
    bool wrong;
} count;

typedef struct {
    count *all;
    int64_t outer;
} inner_loop;

static void inner_turn(void *arg, int64_t i, int worker)
{
    const inner_loop *x = arg;
    count *c = x->all;
    int busy;
#pragma omp atomic
    c->made[x->outer][i]++;
#pragma omp atomic capture
    busy = ++c->busy[worker];
    if (busy != 1 || worker < 0 || worker >= c->ctx->threads)
#pragma omp atomic write
        c->wrong = true;
    for (volatile int k = 0; k < 2000; k++)
        continue;
#pragma omp atomic
    c->busy[worker]--;
}

static void outer_turn(void *arg, int64_t i, int worker)
{
    count *c = arg;
    inner_loop x = { c, i };
    vhem_ctx own;
    int64_t begun;
    (void)worker;
#pragma omp atomic capture
    begun = c->begun++;
    if (c->ctx->threads == 1 && begun != i)
        c->wrong = true;
    vh_ctx_member(c->ctx, &own);
    vh_parallel(&own, INNER, own.threads, true, inner_turn, &x);
#pragma omp atomic
    c->outer++;
}

static void every_turn_once(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int threads = 1; threads <= THREADS; threads++)
        for (int n = 0; n <= OUTER; n++) {
            count c = { .ctx = ctx };
            ctx->threads = threads;
            vh_parallel(ctx, n, threads, false, outer_turn, &c);
            assert_false(c.wrong);
            assert_int_equal(c.outer, n);
            for (int i = 0; i < OUTER; i++)
                for (int j = 0; j < INNER; j++)
                    assert_int_equal(c.made[i][j], i < n);
        }
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_turn_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
