/* SPDX-License-Identifier: BSD-3-Clause */
/* test_restarts.c - restarts that fail: which sentence is told does not depend on the threads. */
#include "support.h"

#include "methods/options.h"
#include "search/restarts.h"
#include "vhem.h"

/* Later restarts fail sooner, each with a sentence of its own. */
static vhem_status fail_late(vhem_ctx *ctx, void *arg, const vh_restart *r, vh_scratch *scratch,
                             void **centers)
{
    int number = (int)(r - ((const vh_search *)arg)->all);
    (void)scratch;
    (void)centers;
    vh_sleep((8 - number) * 3000000);
    return vh_fail(ctx, VHEM_ENUMERIC, "restart %d came to nothing", number);
}

static vhem_status never(vhem_ctx *ctx, void *arg, bool trial, const vh_vhem_options *opt,
                         const vh_workers *workers, void *centers, vh_vhem_run *run)
{
    (void)arg;
    (void)trial;
    (void)opt;
    (void)workers;
    (void)centers;
    (void)run;
    return vh_fail(ctx, VHEM_EBACKEND, "nothing was started");
}

static void release(void *centers)
{
    (void)centers;
}

static void first_sentence(void **state)
{
    static const char *const kinds[] = { "kmeans" };
    (void)state;
    for (int threads = 1; threads <= 4; threads += 3) {
        vhem_ctx *ctx = test_ctx_with("ref", threads, 1);
        vhem_cluster_options opt;
        vh_search s = {
            .start = fail_late, .reduce = never, .free = release, .K = 2, .Kb = 10, .Kb_trial = 10, .work = 1
        };
        VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
        opt.restarts = 8;
        opt.init = "kmeans";
        s.arg = &s;
        assert_ok(ctx, vh_search_new(ctx, &opt, kinds, 1, false, 1, &s));
        assert_fails(ctx, vh_search_run(ctx, &s), VHEM_ENUMERIC, "restart 0 came to nothing");
        vh_search_free(&s);
        vhem_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(first_sentence) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
