/* SPDX-License-Identifier: BSD-3-Clause */
/* test_validate_batch.c - arrays of many HMMs: valid ones pass, any number that is not must be found,
 * whichever HMM it belongs to; and HMMs that share a block, which are shaped again, or move to another
 * set. */
#include "support.h"

#include "hmm/hmm_set.h"
#include "hmm/validate_batch.h"
#include "vhem.h"

#include <math.h>
#include <string.h>

enum { N = 5, S = 2, M = 3, D = 2, ARRAYS = 5 };

static const size_t width[ARRAYS] = { S, S *S, S *M, S *M *D, S *M *D };

typedef struct {
    double x[ARRAYS][N * S * M * D];
    double *array[ARRAYS];
} sample;

static void fill(sample *a)
{
    for (int k = 0; k < ARRAYS; k++) {
        a->array[k] = a->x[k];
        for (size_t i = 0; i < N * width[k]; i++)
            a->x[k][i] = k < 2 ? 1.0 / S : k == 2 ? 1.0 / M : k == 3 ? (double)i - 7 : (double)(i % 4);
    }
}

static bool valid(const sample *a)
{
    return vh_rows_valid(&vh_gaussian_diag, &(vh_shape){ .d = D }, S, M, N, a->array);
}

static void test_valid(void **state)
{
    sample a;
    (void)state;
    fill(&a);
    assert_true(valid(&a)); /* variances of 0 are welcome */
    assert_false(vh_rows_valid(&vh_poisson, &(vh_shape){ .d = D }, S, M, N, a.array));
    a.array[4] = NULL;
    assert_false(valid(&a));
}

static void test_invalid(void **state)
{
    static const double wrong[] = { NAN, INFINITY, -INFINITY, -0.5, 0.9 };
    sample a;
    (void)state;
    for (int k = 0; k < ARRAYS; k++)
        for (size_t i = 0; i < N * width[k]; i++)
            for (int w = 0; w < 5; w++) {
                fill(&a);
                a.x[k][i] = wrong[w];
                /* a mean may be any finite number, a variance 0.9 */
                bool fine = isfinite(wrong[w]) && (k == 3 || (k == 4 && wrong[w] >= 0));
                assert_int_equal(valid(&a), fine);
            }
    assert_true(vh_rows_weights((const double[]){ 0, 0.5, 2 }, 3));
    for (int w = 0; w < 4; w++)
        assert_false(vh_rows_weights((const double[]){ 0, 0.5, wrong[w] }, 3));
}

static void test_blocks(void **state)
{
    vhem_ctx *ctx = test_ctx_with(NULL, 1, 1);
    const int states[] = { 2, 2, 3 }, mix[] = { 1, 2, 1 };
    vh_h3m *a = NULL, *b = NULL;
    (void)state;
    assert_ok(ctx, vh_h3m_new(ctx, &vh_gaussian_diag, (vh_shape){ .d = D }, 3, &a));
    assert_ok(ctx, vh_h3m_new(ctx, &vh_gaussian_diag, (vh_shape){ .d = D }, 1, &b));
    assert_ok(ctx, vh_h3m_shape_many(ctx, a, 0, 3, states, mix));
    for (int i = 0; i < 3; i++) {
        const vh_hmm *h = &a->hmm[i];
        size_t n = (size_t)(h->theta - h->pi) + h->n_theta;
        assert_int_equal(h->S, states[i]);
        assert_int_equal(h->M, mix[i]);
        assert_int_equal(h->n_theta, states[i] * mix[i] * (1 + 2 * D));
        for (size_t k = 0; k < n; k++) {
            assert_true(h->pi[k] == 0); /* nobody else has it */
            h->pi[k] = i + 1;
        }
    }
    assert_ok(ctx, vh_h3m_shape(ctx, a, 1, 4, 1)); /* a block of its own */
    assert_true(a->hmm[1].pi[0] == 0);
    b->hmm[0] = a->hmm[2];
    a->hmm[2] = (vh_hmm){ 0 };
    vh_h3m_move_blocks(a, b);
    assert_true(a->hmm[0].pi[1] == 1); /* both sets still see what they borrow */
    a->hmm[0] = (vh_hmm){ 0 };
    vh_h3m_free(a);
    assert_true(b->hmm[0].pi[0] == 3);
    vh_h3m_free(b);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_valid), cmocka_unit_test(test_invalid),
                                        cmocka_unit_test(test_blocks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
