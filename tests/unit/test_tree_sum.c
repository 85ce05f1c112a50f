/* SPDX-License-Identifier: BSD-3-Clause */
/* test_tree_sum.c - sums of chunks: the tree that is promised, the same bits for any sharding, order of
 * arrival and number of threads, the failure of the lowest chunk, stops, and what does not fit together. */
#include "support.h"

#include "core/rng.h"
#include "parallel/sum.h"
#include "vhem.h"

#include <math.h>
#include <omp.h>

enum { CHUNKS = 1000, SIZE = 7, SHARDS = 60 };

static double term(int64_t chunk, int k)
{
    vh_rng rng;
    vh_rng_init(&rng, 1, 2, (uint64_t)(chunk * SIZE + k));
    return exp(20 * vh_rng_uniform(&rng)) * (vh_rng_uniform(&rng) - 0.5);
}

typedef struct {
    int64_t fails_from; /* chunks from here on fail, with a sentence */
    int64_t stops_at;
    vhem_ctx *stop;
    int seen; /* chunks that were begun */
} chunk_arg;

static vhem_status run(vhem_ctx *ctx, void *arg, int64_t chunk, int worker, double *block)
{
    chunk_arg *a = arg;
    assert_in_range(worker, 0, 7);
#pragma omp atomic
    a->seen++;
    for (int k = 0; k < SIZE; k++) {
        assert_true(block[k] == 0);
        block[k] = term(chunk, k);
    }
    if (chunk == a->stops_at)
        vhem_ctx_stop(a->stop);
    if (chunk >= a->fails_from)
        return vh_fail(ctx, VHEM_ENUMERIC, "chunk %d failed", (int)chunk);
    return VHEM_OK;
}

/* What the header promises, by recursion: the left part is the largest power of two below n. */
static void expected(int64_t first, int64_t n, double *out)
{
    int64_t left = 1;
    double right[SIZE];
    if (n == 1) {
        for (int k = 0; k < SIZE; k++)
            out[k] = term(first, k);
        return;
    }
    while (2 * left < n)
        left *= 2;
    expected(first, left, out);
    expected(first + left, n - left, right);
    for (int k = 0; k < SIZE; k++)
        out[k] += right[k];
}

static chunk_arg quiet(void)
{
    return (chunk_arg){ .fails_from = INT64_MAX, .stops_at = -1 };
}

static void any_number_of_threads_and_chunks(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_tree_sum *sum = NULL;
    double total[SIZE], want[SIZE];
    chunk_arg arg = quiet();

    assert_int_equal(vh_tree_sum_new(ctx, SIZE, NULL, NULL, &sum), VHEM_OK);
    for (int n = 1; n <= CHUNKS; n = n < 40 ? n + 1 : n * 5)
        for (int threads = 1; threads <= 8; threads += threads < 2 ? 1 : 3) {
            vh_chunks job = { .n = n, .threads = threads, .run = run, .arg = &arg };
            expected(0, n, want);
            assert_int_equal(vh_sum(ctx, &job, NULL, sum, total), VHEM_OK);
            assert_memory_equal(total, want, sizeof want);
        }
    vh_chunks none = { .threads = 2, .run = run, .arg = &arg };
    assert_int_equal(vh_sum(ctx, &none, NULL, sum, total), VHEM_OK);
    for (int k = 0; k < SIZE; k++)
        assert_true(total[k] == 0);
    vh_tree_sum_free(sum);
    vh_tree_sum_free(NULL);
    vhem_free(ctx);
}

/* Cuts CHUNKS into shards at random, with empty ones; first [SHARDS + 1]. */
static int cut(vh_rng *rng, int64_t *first)
{
    int n = 1 + (int)(vh_rng_uniform(rng) * SHARDS);
    first[0] = 0;
    for (int s = 1; s < n; s++)
        first[s] = (int64_t)(vh_rng_uniform(rng) * CHUNKS);
    first[n] = CHUNKS;
    for (int s = 1; s < n; s++)
        for (int q = s; q > 1 && first[q - 1] > first[q]; q--) {
            int64_t swap = first[q];
            first[q] = first[q - 1];
            first[q - 1] = swap;
        }
    return n;
}

static void shards_in_any_order(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double total[SIZE], want[SIZE];
    int64_t most = 0;
    expected(0, CHUNKS, want);
    for (int round = 0; round < 60; round++) {
        vh_rng rng;
        int64_t first[SHARDS + 1];
        int order[SHARDS];
        vh_tree_sum *whole = NULL, *part[SHARDS];
        chunk_arg arg = quiet();
        const vh_sum_node *nodes;

        vh_rng_init(&rng, 20, 3, (uint64_t)round);
        int n = cut(&rng, first);
        assert_int_equal(vh_tree_sum_new(ctx, SIZE, NULL, NULL, &whole), VHEM_OK);
        for (int s = 0; s < n; s++) {
            vh_chunks job = { .first = first[s],
                              .n = first[s + 1] - first[s],
                              .threads = 1 + (round + s) % 8,
                              .run = run,
                              .arg = &arg };
            assert_int_equal(vh_tree_sum_new(ctx, SIZE, NULL, NULL, &part[s]), VHEM_OK);
            assert_int_equal(vh_tree_sum_run(ctx, &job, part[s]), VHEM_OK);
            int64_t held = vh_tree_sum_nodes(part[s], &nodes);
            most = held > most ? held : most;
            int at = (int)(vh_rng_uniform(&rng) * (s + 1));
            order[s] = order[at];
            order[at] = s;
        }
        for (int s = 0; s < n; s++) {
            vh_tree_sum *p = part[order[s]];
            int64_t held = vh_tree_sum_nodes(p, &nodes);
            for (int64_t i = held - 1; round % 2 && i >= 0; i--) /* as if they had come from elsewhere */
                assert_int_equal(vh_tree_sum_put(ctx, whole, nodes[i].level, nodes[i].index, nodes[i].block),
                                 VHEM_OK);
            if (round % 2 == 0) {
                assert_int_equal(vh_tree_sum_merge(ctx, whole, p), VHEM_OK);
                assert_int_equal(vh_tree_sum_nodes(p, &nodes), 0);
            }
        }
        assert_int_equal(vh_tree_sum_close(ctx, whole, CHUNKS, total), VHEM_OK);
        assert_memory_equal(total, want, sizeof want);
        for (int s = 0; s < n; s++)
            vh_tree_sum_free(part[s]);
        vh_tree_sum_free(whole);
    }
    assert_in_range(most, 1, 20); /* 2 log2(CHUNKS) */
    vhem_free(ctx);
}

/* Single chunks in random order from many threads at once. */
static void puts_from_threads(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_tree_sum *sum = NULL;
    double total[SIZE], want[SIZE];
    int failures = 0;
    expected(0, CHUNKS, want);
    assert_int_equal(vh_tree_sum_new(ctx, SIZE, NULL, NULL, &sum), VHEM_OK);
#pragma omp parallel for schedule(dynamic, 1) num_threads(8) reduction(+ : failures)
    for (int i = 0; i < CHUNKS; i++) {
        double block[SIZE];
        int64_t chunk = (int64_t)i * 617 % CHUNKS; /* coprime */
        for (int k = 0; k < SIZE; k++)
            block[k] = term(chunk, k);
        failures += vh_tree_sum_put(ctx, sum, 0, chunk, block) != VHEM_OK;
    }
    assert_int_equal(failures, 0);
    assert_int_equal(vh_tree_sum_close(ctx, sum, CHUNKS, total), VHEM_OK);
    assert_memory_equal(total, want, sizeof want);
    vh_tree_sum_free(sum);
    vhem_free(ctx);
}

/* Blocks (log scale, number): adding them is not adding numbers, and left and right are not alike. */
static void add_scaled(const void *arg, double *left, const double *right)
{
    const int *calls = arg;
    assert_int_equal(*calls, 12);
    double scale = fmax(left[0], right[0]);
    left[1] = left[1] * exp(left[0] - scale) + right[1] * exp(right[0] - scale);
    left[0] = scale;
    left[2] = 10 * left[2] + right[2];
}

static vhem_status run_scaled(vhem_ctx *ctx, void *arg, int64_t chunk, int worker, double *block)
{
    (void)ctx, (void)arg, (void)worker;
    block[0] = (double)(chunk * 37 % 11) * 100;
    block[1] = 1 + (double)chunk;
    block[2] = (double)chunk;
    return VHEM_OK;
}

static void own_addition(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const int arg = 12;
    vh_tree_sum *sum = NULL;
    double want[3], total[3];
    assert_int_equal(vh_tree_sum_new(ctx, 3, add_scaled, &arg, &sum), VHEM_OK);
    for (int threads = 1; threads <= 8; threads++) {
        vh_chunks job = { .n = 45, .threads = threads, .run = run_scaled };
        assert_int_equal(vh_sum(ctx, &job, NULL, sum, total), VHEM_OK);
        if (threads == 1)
            memcpy(want, total, sizeof want);
        assert_memory_equal(total, want, sizeof want);
    }
    vh_chunks few = { .n = 3, .threads = 2, .run = run_scaled };
    assert_int_equal(vh_sum(ctx, &few, NULL, sum, total), VHEM_OK);
    assert_true(total[2] == 10 * (10 * 0 + 1) + 2); /* (c0 + c1) + c2 */
    vh_tree_sum_free(sum);
    vhem_free(ctx);
}

static void the_lowest_failure(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_tree_sum *sum = NULL;
    double total[SIZE], want[SIZE];
    const vh_sum_node *nodes;
    assert_int_equal(vh_tree_sum_new(ctx, SIZE, NULL, NULL, &sum), VHEM_OK);
    for (int threads = 1; threads <= 8; threads++) {
        chunk_arg arg = quiet();
        vh_chunks job = { .n = CHUNKS, .threads = threads, .run = run, .arg = &arg };
        arg.fails_from = 123;
        assert_int_equal(vh_sum(ctx, &job, NULL, sum, total), VHEM_ENUMERIC);
        assert_string_equal(vhem_ctx_error(ctx), "chunk 123 failed");
        assert_in_range(arg.seen, 124, 123 + threads);
        assert_int_equal(vh_tree_sum_nodes(sum, &nodes), 0);
    }
    for (int n = 1; n <= 3; n++) { /* a total that could not be made stays as it was */
        chunk_arg arg = { .fails_from = 0, .stops_at = -1 };
        vh_chunks job = { .n = n, .threads = 2, .run = run, .arg = &arg };
        for (int k = 0; k < SIZE; k++)
            total[k] = want[k] = 7;
        assert_int_equal(vh_sum(ctx, &job, NULL, sum, total), VHEM_ENUMERIC);
        assert_memory_equal(total, want, sizeof want);
    }
    chunk_arg arg = quiet(); /* and the sum can be used again */
    vh_chunks job = { .n = 9, .threads = 2, .run = run, .arg = &arg };
    expected(0, 9, want);
    assert_int_equal(vh_sum(ctx, &job, NULL, sum, total), VHEM_OK);
    assert_memory_equal(total, want, sizeof want);
    vh_tree_sum_free(sum);
    vhem_free(ctx);
}

static void stops(void **state)
{
    (void)state;
    for (int soon = 0; soon < 2; soon++) {
        vhem_ctx *ctx = test_ctx();
        vh_tree_sum *sum = NULL;
        chunk_arg arg = quiet();
        double total[SIZE], want[SIZE];
        vh_chunks job = { .n = CHUNKS, .threads = soon ? 1 : 3, .stops = soon, .run = run, .arg = &arg };
        arg.stops_at = 40;
        arg.stop = ctx;
        expected(0, CHUNKS, want);
        assert_int_equal(vh_tree_sum_new(ctx, SIZE, NULL, NULL, &sum), VHEM_OK);
        assert_int_equal(vh_sum(ctx, &job, NULL, sum, total), soon ? VHEM_ESTOPPED : VHEM_OK);
        if (soon)
            assert_int_equal(arg.seen, 41);
        else
            assert_memory_equal(total, want, sizeof want);
        vh_tree_sum_free(sum);
        vhem_free(ctx);
    }
}

static void what_does_not_fit(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_tree_sum *sum = NULL, *wide = NULL;
    double block[SIZE] = { 0 }, total[SIZE];
    assert_int_equal(vh_tree_sum_new(ctx, SIZE, NULL, NULL, &sum), VHEM_OK);
    assert_int_equal(vh_tree_sum_new(ctx, SIZE + 1, NULL, NULL, &wide), VHEM_OK);
    assert_int_equal(vh_tree_sum_put(ctx, sum, 2, 1, block), VHEM_OK); /* chunks 4 to 7 */
    assert_int_equal(vh_tree_sum_put(ctx, sum, 0, 5, block), VHEM_EINVAL);
    assert_string_equal(vhem_ctx_error(ctx), "chunks 5 to 5: some of them are in the sum already");
    assert_int_equal(vh_tree_sum_put(ctx, sum, 3, 0, block), VHEM_EINVAL);
    assert_int_equal(vh_tree_sum_put(ctx, sum, 2, 1, block), VHEM_EINVAL);
    assert_int_equal(vh_tree_sum_put(ctx, sum, -1, 0, block), VHEM_EINVAL);
    assert_int_equal(vh_tree_sum_put(ctx, sum, 60, 1 << 20, block), VHEM_EINVAL);
    assert_int_equal(vh_tree_sum_close(ctx, sum, 8, total), VHEM_EINVAL);
    assert_string_equal(vhem_ctx_error(ctx), "chunk 0 of 8 is missing from the sum");
    assert_int_equal(vh_tree_sum_put(ctx, sum, 2, 0, block), VHEM_OK);
    assert_int_equal(vh_tree_sum_close(ctx, sum, 7, total), VHEM_EINVAL);
    assert_string_equal(vhem_ctx_error(ctx), "the sum has more than 7 chunks");
    assert_int_equal(vh_tree_sum_put(ctx, sum, 0, 9, block), VHEM_OK);
    assert_int_equal(vh_tree_sum_close(ctx, sum, 8, total), VHEM_EINVAL);
    assert_int_equal(vh_tree_sum_close(ctx, sum, 10, total), VHEM_EINVAL);
    assert_string_equal(vhem_ctx_error(ctx), "chunk 8 of 10 is missing from the sum");
    assert_int_equal(vh_tree_sum_merge(ctx, sum, wide), VHEM_EINVAL);
    vh_tree_sum_free(sum);
    vh_tree_sum_free(wide);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_and_chunks),
        cmocka_unit_test(shards_in_any_order),
        cmocka_unit_test(puts_from_threads),
        cmocka_unit_test(own_addition),
        cmocka_unit_test(the_lowest_failure),
        cmocka_unit_test(stops),
        cmocka_unit_test(what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
