/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linalg.c - products, Cholesky and eigenvectors against their definitions. */
#include "engine.h"

#include "math/blas.h"
#include "math/linalg.h"
#include "math/openblas.h"

static const double TOL = 1e-12; /* d <= 9: a few dozen roundings of numbers of order 10 */

static void products(void **state)
{
    (void)state;
    vh_rng rng;
    vh_rng_init(&rng, 11, VH_RNG_TEST, 0);
    enum { M = 5, N = 7, K = 3, LD = 11 };
    double *A = random_frames(&rng, M, K, 1), *B = random_frames(&rng, N, K, 1), C[M * LD];
    for (int i = 0; i < M * LD; i++)
        C[i] = 77;
    vh_gemm_nt(M, N, K, A, B, C, LD);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < LD; j++) {
            double want = j < N ? 0 : 77; /* what lies beyond a row is not touched */
            for (int k = 0; j < N && k < K; k++)
                want += A[i * K + k] * B[j * K + k];
            assert_near(C[i * LD + j], want, TOL, TOL);
        }
    free(A);
    free(B);

    A = random_frames(&rng, M, LD, 1);
    B = random_frames(&rng, K, N, 1);
    double D[M * N];
    for (int i = 0; i < M * N; i++)
        D[i] = i;
    vh_gemm_nn_add(M, N, K, A, LD, B, D);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double want = i * N + j;
            for (int k = 0; k < K; k++)
                want += A[i * LD + k] * B[k * N + j];
            assert_near(D[i * N + j], want, TOL, TOL);
        }
    free(A);
    free(B);
}

static void cholesky(void **state)
{
    (void)state;
    vh_rng rng;
    vh_rng_init(&rng, 12, VH_RNG_TEST, 0);
    for (int n = 1; n <= 9; n++) {
        double A[81], L[81], P[81], w[9], V[81], logdet = 0;
        random_covariance(&rng, n, 100, A);
        memcpy(L, A, sizeof L);
        assert_true(vh_cholesky(n, L));
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int k = 0; k < n; k++)
                    sum += L[i * n + k] * L[j * n + k];
                assert_near(sum, A[i * n + j], TOL, TOL);
                if (j > i)
                    assert_true(L[i * n + j] == 0);
            }
        memcpy(V, A, sizeof V);
        assert_true(vh_eigen(n, V, w));
        for (int i = 0; i < n; i++)
            logdet += log(w[i]);
        assert_near(vh_cholesky_logdet(n, L), logdet, TOL, 1e-11);

        double *Z = random_frames(&rng, 4, n, 1), z[36];
        memcpy(z, Z, sizeof *z * (size_t)(4 * n));
        vh_cholesky_solve_rows(n, L, 4, Z);
        for (int r = 0; r < 4; r++) /* L times the solution is what went in */
            for (int i = 0; i < n; i++) {
                double sum = 0;
                for (int k = 0; k <= i; k++)
                    sum += L[i * n + k] * Z[r * n + k];
                assert_near(sum, z[r * n + i], TOL, TOL);
            }
        free(Z);

        memcpy(P, L, sizeof P);
        assert_true(vh_cholesky_inverse(n, P));
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0;
                assert_true(P[i * n + j] == P[j * n + i]);
                for (int k = 0; k < n; k++)
                    sum += A[i * n + k] * P[k * n + j];
                assert_near(sum, i == j, 0, 1e-11); /* condition 100 */
            }
    }
}

static void not_positive_definite(void **state)
{
    (void)state;
    double indefinite[] = { 1, 2, 2, 1 }, zero[] = { 1, 0, 0, 0 }, nan_in[] = { 1, 0, 0, NAN },
           inf_in[] = { INFINITY, 0, 0, 1 }, nan_off[] = { 1, NAN, NAN, 1 }, negative[] = { -1 };
    assert_false(vh_cholesky(2, indefinite));
    assert_false(vh_cholesky(2, zero));
    assert_false(vh_cholesky(2, nan_in));
    assert_false(vh_cholesky(2, inf_in));
    assert_false(vh_cholesky(2, nan_off));
    assert_false(vh_cholesky(1, negative));
}

static void eigen(void **state)
{
    (void)state;
    vh_rng rng;
    vh_rng_init(&rng, 13, VH_RNG_TEST, 0);
    for (int n = 1; n <= 9; n++) {
        double A[81], V[81], w[9];
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                A[i * n + j] = A[j * n + i] = vh_rng_normal(&rng);
        memcpy(V, A, sizeof V);
        assert_true(vh_eigen(n, V, w));
        for (int e = 0; e < n; e++) {
            assert_true(e == 0 || w[e] >= w[e - 1]);
            for (int i = 0; i < n; i++) { /* A v = w v, v a row */
                double sum = 0;
                for (int j = 0; j < n; j++)
                    sum += A[i * n + j] * V[e * n + j];
                assert_near(sum, w[e] * V[e * n + i], TOL, TOL);
            }
            for (int f = 0; f <= e; f++) {
                double dot = 0;
                for (int j = 0; j < n; j++)
                    dot += V[e * n + j] * V[f * n + j];
                assert_near(dot, e == f, 0, TOL);
            }
        }
    }
}

/* The first in takes the setting, the last out gives it back. */
static void blas_threads(void **state)
{
    (void)state;
    int before = openblas_get_num_threads();
    vh_blas_enter();
    assert_int_equal(openblas_get_num_threads(), 1);
    vh_blas_enter();
    vh_blas_leave();
    assert_int_equal(openblas_get_num_threads(), 1);
    vh_blas_leave();
    assert_int_equal(openblas_get_num_threads(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(products), cmocka_unit_test(cholesky),
                                        cmocka_unit_test(not_positive_definite), cmocka_unit_test(eigen),
                                        cmocka_unit_test(blas_threads) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
