/* SPDX-License-Identifier: BSD-3-Clause */
/* test_stream.c - clusters of HMMs that stay on disk: the same bits as in memory, however they are cut. */
#include "on_disk.h"
#include "support.h"

#include "hmm/missing_columns.h"
#include "models/models.h"
#include "vhem.h"

enum { K = 5000 }; /* of over 4096, restarts are judged on a sample */

/* HMMs of one state and one Gaussian, around a few places.  Of two columns, late ones lack the second. */
static vhem_models *sample(vhem_ctx *ctx, int d)
{
    vhem_models *m = NULL;
    vh_h3m *all = NULL;
    vh_rng rng;
    vh_rng_init(&rng, 4, VH_RNG_TEST, 0);
    assert_ok(ctx, vh_h3m_new(ctx, &vh_gaussian_diag, (vh_shape){ .d = d }, K, &all));
    for (int i = 0; i < K; i++) {
        assert_ok(ctx, vh_h3m_shape(ctx, all, i, i % 700 == 0 ? 2 : 1, 1));
        vh_hmm *h = &all->hmm[i];
        for (int s = 0; s < h->S; s++) {
            h->pi[s] = 1.0 / h->S;
            for (int q = 0; q < h->S; q++)
                h->A[s * h->S + q] = 1.0 / h->S;
            vh_hmm_c(h)[s] = 1;
            for (int k = s * d; k < (s + 1) * d; k++) {
                vh_hmm_param(all, h, 0)[k] = 10 * (double)vh_rng_below(&rng, 3) + vh_rng_normal(&rng);
                vh_hmm_param(all, h, 1)[k] = 1 + 0.5 * vh_rng_uniform(&rng);
            }
        }
    }
    for (int i = 2000; d > 1 && i < K; i += 3)
        vh_hmm_forget(all, &all->hmm[i], 1);
    vh_h3m_settle_family(all);
    assert_ok(ctx, vh_h3m_set_text(ctx, &all->hmm[77].name, "seven"));
    assert_ok(ctx, vh_models_take_hmms(ctx, all, &m));
    return m;
}

static vhem_tree *clusters(vhem_ctx *ctx, const vhem_models *m, int64_t Kr)
{
    vhem_cluster_options o;
    vhem_tree *tree = NULL;
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &o);
    o.S = 1;
    o.search = "restarts";
    o.restarts = 1;
    o.init = Kr > 9 ? "base" : "auto";
    o.soft = Kr > 9 ? 0 : 1;
    o.max_iter = Kr > 9 ? 1 : 3;
    o.tau = 2;
    o.memory = 1000;
    assert_ok(ctx, vhem_cluster(ctx, &(vhem_source){ .models = m }, 1, &Kr, &o, &tree));
    return tree;
}

static void compare(vhem_ctx *ctx, const vhem_models *m, int64_t Kr, int n)
{
    static const int shards[] = { 1, 2, 7, 1000 };
    char path[512];
    vhem_tree *a = clusters(ctx, m, Kr);
    const vhem_clustering *x = vhem_tree_level(a, 0);
    snprintf(path, sizeof path, "%s", test_scratch("stream"));
    for (int k = 0; k < n; k++) {
        vhem_models *disk = on_disk(ctx, m, shards[k], path);
        vhem_tree *b = clusters(ctx, disk, Kr);
        const vhem_clustering *y = vhem_tree_level(b, 0);
        assert_null(disk->h3m);
        assert_int_equal(x->n_iter, y->n_iter);
        assert_memory_equal(x->bound, y->bound, (size_t)(x->n_iter + 1) * sizeof *x->bound);
        assert_memory_equal(x->label, y->label, K * sizeof *x->label);
        assert_true(vhem_models_compare(x->centers, y->centers) == 0);
        assert_true((x->z != NULL) == (y->z != NULL) && (x->z != NULL) == (Kr < 9));
        if (x->z)
            assert_memory_equal(x->z, y->z, K * (size_t)Kr * sizeof *x->z);
        assert_memory_equal(x->state_map_at, y->state_map_at, (K + 1) * sizeof *x->state_map_at);
        assert_memory_equal(x->state_map, y->state_map, (size_t)x->state_map_at[K] * sizeof *x->state_map);
        assert_string_equal(y->name[77], "seven");
        assert_string_equal(y->name[78], "");
        vhem_free(b);
        vhem_free(disk);
    }
    on_disk(ctx, m, 0, path);
    vhem_free(a);
}

static void same_bits(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_models *m = sample(ctx, 1);
    (void)state;
    NEEDS_HDF5();
    compare(ctx, m, 3, 4);
    compare(ctx, m, 900, 1); /* too many pairs for tables of them */
    vhem_free(m);
    m = sample(ctx, 2);
    compare(ctx, m, 3, 1);
    vhem_free(m);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_bits) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
