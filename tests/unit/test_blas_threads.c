/* SPDX-License-Identifier: BSD-3-Clause */
/* test_blas_threads.c - inside of the library BLAS has one thread, whichever call has led there, and outside
 * it has what it had: threads of its own would fight with ours for the same cores, in every rank of a job. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "support.h"

#include "math/openblas.h"
#include "vhem.h"
#include "vhem/distributed.h"

#include <dlfcn.h>

/* The name that is linked, which a macro may have changed. */
#define NAME_OF(function) TEXT_OF(function)
#define TEXT_OF(name)     #name

enum { THREADS = 2, K = 40, N = 12, T = 30 };

typedef void product(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, blasint, blasint, blasint, double,
                     const double *, blasint, const double *, blasint, double, double *, blasint);

static int seen, most; /* products, and threads that they might have used */

/* Stands before that of BLAS for everything that is linked to this program. */
void cblas_dgemm(CBLAS_ORDER order, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, blasint m, blasint n, blasint k,
                 double alpha, const double *A, blasint lda, const double *B, blasint ldb, double beta,
                 double *C, blasint ldc)
{
    static product *real;
    int threads = openblas_get_num_threads();
#pragma omp critical(test_blas_threads)
    {
        if (!real)
            *(void **)&real = dlsym(RTLD_NEXT, NAME_OF(cblas_dgemm));
        seen++;
        most = threads > most ? threads : most;
    }
    real(order, ta, tb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

/* The call makes products, all of them on one thread. */
#define assert_alone(ctx, call)                                \
    do {                                                       \
        seen = most = 0;                                       \
        assert_ok(ctx, call);                                  \
        assert_true(seen > 0);                                 \
        assert_int_equal(most, 1);                             \
        assert_int_equal(openblas_get_num_threads(), THREADS); \
    } while (0)

static void test_sequences(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_models *m = NULL, *fitted = NULL;
    vhem_data *data = NULL;
    vhem_fit_options opt;
    double loglik[N * N];
    vh_rng rng;

    vh_rng_init(&rng, 3, VH_RNG_TEST, 0);
    assert_ok(ctx, vh_models_take_hmms(ctx, random_h3m(ctx, &rng, 1, 3, 1, 4, 0, 1), &m));
    assert_ok(ctx, vhem_sample(ctx, m, N, T, &data));
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.S = 2;
    assert_alone(ctx, vhem_fit(ctx, data, &opt, &fitted, NULL));
    assert_alone(ctx, vhem_score(ctx, fitted, &(vhem_source){ .data = data }, loglik));
    vhem_free(fitted);
    vhem_free(data);
    vhem_free(m);
    vhem_free(ctx);
}

static void test_models(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_models *m = NULL;
    vhem_tree *tree = NULL;
    vhem_task *task = NULL;
    vhem_partial *sums = NULL;
    vhem_cluster_options opt;
    int label[K];
    vh_rng rng;

    vh_rng_init(&rng, 4, VH_RNG_TEST, 0);
    assert_ok(ctx, vh_models_take_hmms(ctx, random_h3m(ctx, &rng, K, 3, 1, 4, 0, 1), &m));
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    opt.tau = 10;
    assert_alone(ctx,
                 vhem_cluster(ctx, &(vhem_source){ .models = m }, 1, (const int64_t[]){ 3 }, &opt, &tree));
    assert_alone(ctx, vhem_assign(ctx, tree, &(vhem_source){ .models = m }, label, NULL, NULL));
    assert_ok(ctx, vhem_task_new(ctx, m, vhem_tree_level(tree, 0)->centers, &opt, &task));
    assert_alone(ctx, vhem_expect(ctx, m, task, 0, task->chunks, &sums));
    vhem_free(sums);
    vhem_free(task);
    vhem_free(tree);
    vhem_free(m);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_sequences), cmocka_unit_test(test_models) };
    openblas_set_num_threads(THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
