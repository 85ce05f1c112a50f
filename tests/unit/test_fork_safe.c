/* SPDX-License-Identifier: BSD-3-Clause */
/* test_fork_safe.c - children of a process that has computed with several threads: they compute too, with
 * the same result, whether the context is that of the parent or their own. */
#include "engine.h"

#include "parallel/parallel.h"
#include "vhem.h"

#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, PATIENCE = 60 }; /* seconds until a child is taken to hang */

static double clustered(vhem_ctx *ctx, const vh_h3m *base)
{
    vhem_cluster_options opt;
    vh_clustering *c = NULL;
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    opt.restarts = 4;
    opt.max_iter = 5;
    assert_ok(ctx, call_cluster_hmms(ctx, base, 2, &opt, &c));
    double bound = c->bound[c->n_iter];
    vh_clustering_free(c);
    return bound;
}

/* A child ends with 0 when both contexts give what the parent found. */
static int in_child(vhem_ctx *ctx, const vh_h3m *base, double want)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE);
        vhem_ctx *own = test_ctx_with(NULL, THREADS, 1);
        int wrong = clustered(ctx, base) != want || clustered(own, base) != want;
        vhem_free(own);
        _exit(wrong);
    }
    int status = -1;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void test_fork(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx_with(NULL, THREADS, 1);
    vh_rng rng;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 1);
    vh_h3m *base = random_h3m(ctx, &rng, 40, 2, 1, 2, 0, 3.0);
    double want = clustered(ctx, base);
    assert_int_equal(in_child(ctx, base, want), 0);
    assert_true(clustered(ctx, base) == want); /* and the parent goes on */
    vh_h3m_free(base);
    vhem_free(ctx);
}

static void test_count(void **state)
{
    (void)state;
    assert_int_equal(vh_threads_allowed(1), 1);
    assert_int_equal(vh_threads_allowed(0), 1);
    assert_int_equal(vh_threads_allowed(3), 3);
    pid_t child = fork();
    if (child == 0)
        _exit(vh_threads_allowed(3));
    int status = -1;
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_fork), cmocka_unit_test(test_count) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
