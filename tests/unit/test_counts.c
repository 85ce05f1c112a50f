/* SPDX-License-Identifier: BSD-3-Clause */
/* test_counts.c - more models than an int can count.  Only the last few exist: the files before them are
 * claimed and never read. */
#include "model_samples.h"

#include "core/alloc.h"
#include "parallel/tree_sum.h"
#include "files/shards.h"
#include "vhem/base.h"
#include "vhem.h"

#define FAR ((int64_t)3 << 30) /* the number of the first that exists */

enum { K = 700 }; /* more than a chunk */

typedef struct {
    vh_h3m *here; /* those that exist, in memory */
    vh_shard *last, claimed;
    vh_shard *file[2];
    vh_shards set;
} far_set;

static void make(vhem_ctx *ctx, far_set *x)
{
    vh_rng rng;
    const char *path = test_scratch("far.h5");
    vh_rng_init(&rng, 31, VH_RNG_TEST, 0);
    x->here = random_h3m(ctx, &rng, K, 2, 1, 2, 0, 2);
    assert_ok(ctx, vh_shard_save(ctx, x->here, &(vh_shard_place){ .first = FAR, .all = FAR + K }, path));
    assert_ok(ctx, vh_shard_open(ctx, path, false, &x->last));
    assert_true(x->last->first == FAR && x->last->all == FAR + K);
    x->claimed = *x->last;
    x->claimed.first = 0;
    x->claimed.K = FAR;
    x->file[0] = &x->claimed;
    x->file[1] = x->last;
    x->set = (vh_shards){ .path = x->last->path, .K = FAR + K, .S = 2, .M = 1, .n = 2, .shard = x->file };
}

static void release(far_set *x)
{
    vh_shard_free(x->last);
    vh_h3m_free(x->here);
}

static void reads_far_models(void **state)
{
    (void)state;
    NEEDS_HDF5();
    vhem_ctx *ctx = test_ctx();
    far_set x;
    vh_h3m *some = NULL;
    make(ctx, &x);
    assert_ok(ctx, vh_shards_read(ctx, &x.set, FAR + 600, 100, true, &some));
    assert_int_equal(some->K, 100);
    for (int i = 0; i < 100; i++)
        assert_memory_equal(some->hmm[i].A, x.here->hmm[600 + i].A, 4 * sizeof(double));
    vh_h3m_free(some);
    release(&x);
    vhem_free(ctx);
}

/* The sums of the models first .. first+K-1 of a set under two centres, and their bounds L [K][2]. */
static void expect(vhem_ctx *ctx, const vh_base_range *range, const vh_packed *pk, vh_reduce_sums *sums,
                   double *L)
{
    static const double log_omega[] = { -0.7, -0.7 };
    vh_scratch scratch = { { 0 }, { 0 } };
    vh_base *base = NULL;
    const vh_reduce_step step = {
        .reduced = pk, .tau = 5, .log_omega = log_omega, .N = 1e4, .statistics = true, .L = L
    };
    assert_ok(ctx, vh_base_part(ctx, range, &base));
    assert_ok(ctx, vh_reduce_sums_new(ctx, pk, sums));
    assert_ok(ctx, vh_reduce_run(ctx, base->opened, &step, &(vh_workers){ 1, &scratch }, true, sums));
    vh_base_free(base);
    vh_scratch_free(&scratch);
}

/* What is found about models does not depend on their numbers. */
static void sums_far_models(void **state)
{
    (void)state;
    NEEDS_HDF5();
    vhem_ctx *ctx = test_ctx();
    far_set x;
    vh_rng rng;
    double origin[] = { 0, 0 }, scale[] = { 1, 1 }, *L = calloc(4 * K, sizeof *L);
    vh_packed *pk = NULL;
    vh_reduce_sums near = { 0 }, far = { 0 };
    make(ctx, &x);
    vh_rng_init(&rng, 32, VH_RNG_TEST, 0);
    vh_h3m *centers = random_h3m(ctx, &rng, 2, 2, 1, 2, 0, 2);
    assert_ok(ctx, vh_pack_new(ctx, centers, NULL, 2, origin, scale, &pk));
    assert_ok(ctx, vh_pack_update(ctx, centers, NULL, pk));
    expect(ctx, &(vh_base_range){ x.here, NULL, 0, K, FAR + K, origin, scale }, pk, &near, L);
    expect(ctx, &(vh_base_range){ x.here, &x.set, FAR, K, FAR + K, origin, scale }, pk, &far, L + 2 * K);
    assert_memory_equal(L, L + 2 * K, 2 * K * sizeof *L);
    assert_memory_equal(near.stats.block, far.stats.block, sizeof(double) * near.stats.size);
    assert_true(*near.J == *far.J);
    vh_reduce_sums_free(&near);
    vh_reduce_sums_free(&far);
    vh_pack_free(pk);
    vh_h3m_free(centers);
    free(L);
    release(&x);
    vhem_free(ctx);
}

static void numbers_past_int(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int64_t pick[64];
    const vh_sum_node *node;
    vh_tree_sum *sum = NULL;
    double one = 1;
    vh_rng_init(&rng, 33, VH_RNG_TEST, 0);
    vh_rng_spread(&rng, FAR, 64, pick);
    for (int i = 0; i < 64; i++)
        assert_true(pick[i] >= FAR / 64 * i && pick[i] < FAR / 64 * (i + 1));
    assert_ok(ctx, vh_tree_sum_new(ctx, 1, NULL, NULL, &sum));
    assert_ok(ctx, vh_tree_sum_put(ctx, sum, 0, FAR, &one));
    assert_ok(ctx, vh_tree_sum_put(ctx, sum, 0, FAR + 1, &one));
    assert_int_equal(vh_tree_sum_nodes(sum, &node), 1);
    assert_true(node[0].level == 1 && node[0].index == FAR / 2 && node[0].block[0] == 2);
    vh_tree_sum_free(sum);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_far_models),
        cmocka_unit_test(sums_far_models),
        cmocka_unit_test(numbers_past_int),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
