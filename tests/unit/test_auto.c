/* SPDX-License-Identifier: BSD-3-Clause */
/* test_auto.c - method auto: what its clusterings hold, their files, choices, and requests that make no
 * sense. */
#include "cluster_samples.h"
#include "engine.h"

#include "cluster/tree.h"
#include "fit/infer.h"

enum { KINDS = 3, EACH = 10, N = KINDS * EACH };

/* Ramps up, down, and up and down again: the order of the frames tells them apart. */
static vhem_data *ramps(vhem_ctx *ctx)
{
    vh_builder *b = NULL;
    assert_ok(ctx, vh_builder_new(ctx, 1, &b));
    for (int i = 0; i < N; i++) {
        enum { MOST = 36 };
        int T = MOST - i % 5, k = i % KINDS;
        double y[MOST];
        char name[16];
        vh_rng rng;
        vh_rng_init(&rng, 7, VH_RNG_TEST, (uint64_t)i);
        for (int t = 0; t < T; t++) {
            double at = (double)t / T, up = k == 0 ? at : k == 1 ? 1 - at : 1 - fabs(2 * at - 1);
            y[t] = 4 * up + 0.2 * vh_rng_normal(&rng);
        }
        snprintf(name, sizeof name, "s%d", i);
        add_sequence(ctx, b, y, T, name, NULL, NULL, 1);
    }
    return finish(ctx, b);
}

static vhem_tree *cluster(vhem_ctx *ctx, const vhem_data *data, int64_t K, const vhem_cluster_options *opt)
{
    const vhem_source source = { .data = data };
    vhem_tree *tree = NULL;
    assert_ok(ctx, vhem_cluster(ctx, &source, 1, &K, opt, &tree));
    return tree;
}

static void test_what_it_holds(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = ramps(ctx);
    double loglik[N * KINDS];
    (void)state;
    for (int64_t K = 0; K <= KINDS; K += KINDS) {
        vhem_tree *tree = cluster(ctx, data, K, NULL);
        const vhem_clustering *c = vhem_tree_level(tree, 0);
        vh_clustering *inside = tree->level[0];
        assert_string_equal(c->method, "auto");
        assert_string_equal(c->items, "sequences");
        assert_int_equal(c->Kr, KINDS);
        assert_true(found_clusters(inside, KINDS));
        assert_null(c->bound);
        assert_true(c->converged);
        assert_int_equal(c->n_choice > 1, K == 0);
        assert_ok(ctx, vh_score(ctx, inside->centers, data, NULL, loglik));
        assert_memory_equal(loglik, c->L_hmm, sizeof loglik);
        for (int i = 0; i < N; i++) {
            double sum = 0;
            assert_true(c->share[i] == 1);
            for (int j = 0; j < KINDS; j++)
                sum += c->z[i * KINDS + j];
            assert_near(sum, 1, 1e-12, 0);
        }
        for (int j = 0; j < KINDS; j++) {
            assert_int_equal(inside->centers->hmm[j].S, c->options->S);
            assert_near(inside->centers->omega[j], (double)EACH / N, 1e-15, 0);
        }
        assert_true(strcmp(c->options->topology, "free") == 0 || strcmp(c->options->topology, "linear") == 0);
        int kept = 0;
        for (int r = 0; r < c->n_run; r++) {
            const vhem_cluster_run *u = &c->run[r];
            kept += u->as_good;
            assert_true(isnan(u->bound) && isfinite(u->modularity) && isfinite(u->stability));
            assert_int_equal(!u->label, u->as_good);
            assert_int_equal(!u->topology, strcmp(u->init, "elastic distance") == 0);
            assert_int_equal(u->S == 0, !u->topology);
        }
        assert_int_equal(kept, 1);
        vhem_free(tree);
    }
    vhem_free(data);
    vhem_free(ctx);
}

/* ---- files --------------------------------------------------------------------------------------------- */

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t n = (size_t)ftell(f);
    char *text = calloc(n + 1, 1);
    rewind(f);
    assert_int_equal(fread(text, 1, n, f), n);
    fclose(f);
    return text;
}

/* A clustering that is read and written again is the same bytes. */
static void test_file(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = ramps(ctx);
    vhem_tree *tree = cluster(ctx, data, 0, NULL), *again = NULL;
    const char *path = test_scratch("auto.json"), *second = test_scratch("auto2.json");
    (void)state;
    assert_ok(ctx, vhem_tree_save(ctx, tree, NULL, path));
    assert_ok(ctx, vhem_tree_load(ctx, path, &again));
    const vhem_clustering *a = vhem_tree_level(tree, 0), *b = vhem_tree_level(again, 0);
    assert_int_equal(a->n_choice, b->n_choice);
    for (int t = 0; t < a->n_choice; t++) {
        assert_int_equal(a->choice[t].K, b->choice[t].K);
        assert_near(a->choice[t].modularity, b->choice[t].modularity, 0, 0);
        assert_near(a->choice[t].stability, b->choice[t].stability, 0, 0);
        assert_true(isnan(b->choice[t].bic) && isnan(b->choice[t].bound));
    }
    assert_int_equal(a->n_run, b->n_run);
    assert_string_equal(b->options->topology, a->options->topology);
    assert_ok(ctx, vhem_tree_save(ctx, again, NULL, second));
    char *x = read_all(path), *y = read_all(second);
    assert_string_equal(x, y);
    free(x);
    free(y);
    remove(path);
    remove(second);
    vhem_free(again);
    vhem_free(tree);
    vhem_free(data);
    vhem_free(ctx);
}

#define FILE_OF(graphs, choice)                                                                              \
    "{\"format\": \"vhem-clustering\", \"version\": 1, \"method\": \"auto\", \"options\": {\"K\": 2}, "      \
    "\"labels\": [0, 1, 0], \"z\": [[1, 0], [0, 1], [1, 0]], \"graphs\": [" graphs "], \"choice\": [" choice \
    "]}"
#define KEPT "{\"graph\": \"free models of 3 states\", \"modularity\": 0.5, \"stability\": 1, \"kept\": true}"

/* Where the number of groups was chosen, another graph may have more groups than were kept. */
static void test_files_of_others(void **state)
{
    static const struct {
        const char *text, *wrong; /* NULL: it is good */
    } file[] = {
        { FILE_OF(KEPT ", {\"graph\": \"elastic distance\", \"labels\": [0, 1, 2]}", "{\"K\": 2}"), NULL },
        { FILE_OF("", ""), NULL },
        { FILE_OF("{\"labels\": [0, 1, 3]}", ""),
          "graphs[0]: labels[2] is 3, must be a whole number from 0 to 2" },
        { FILE_OF(KEPT, "3"), "choice[0] is a number, must be an object" },
        { FILE_OF(KEPT, "{\"K\": \"two\"}"), "choice[0]: K is text, must be a whole number" },
        { FILE_OF(KEPT, "{\"K\": 2, \"stability\": null}"),
          "choice[0]: stability is null, must be a number" },
        { FILE_OF("{\"graph\": 5}", ""), "graphs[0]: graph is a number, must be text" },
        { FILE_OF("{\"graph\": \"x\", \"S\": 1.5}", ""), "graphs[0]: S is 1.5, must be a whole number" },
    };
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("auto3.json");
    (void)state;
    for (size_t k = 0; k < sizeof file / sizeof *file; k++) {
        vhem_tree *tree = NULL;
        test_write(path, file[k].text, strlen(file[k].text));
        if (file[k].wrong) {
            assert_fails(ctx, vhem_tree_load(ctx, path, &tree), VHEM_EFORMAT, file[k].wrong);
            continue;
        }
        assert_ok(ctx, vhem_tree_load(ctx, path, &tree));
        assert_ok(ctx, vhem_tree_save(ctx, tree, NULL, path)); /* what is not known is left out */
        vhem_free(tree);
        tree = NULL;
        assert_ok(ctx, vhem_tree_load(ctx, path, &tree));
        const vhem_clustering *c = vhem_tree_level(tree, 0);
        if (k == 0) {
            assert_int_equal(c->n_run, 2);
            assert_int_equal(c->run[1].label[2], 2);
            assert_true(isnan(c->run[1].modularity) && c->run[0].modularity == 0.5 && c->run[0].as_good);
            assert_int_equal(c->n_choice, 1);
            assert_true(c->choice[0].K == 2 && isnan(c->choice[0].stability));
        }
        vhem_free(tree);
    }
    remove(path);
    vhem_free(ctx);
}

/* ---- choices ------------------------------------------------------------------------------------------- */

static vhem_choose_options numbers(int n, const int64_t *K)
{
    static const int usual = 0;
    vhem_choose_options want;
    VHEM_INIT(VHEM_CHOOSE_OPTIONS, &want);
    want.n_K = n;
    want.K = K;
    want.n_S = 1;
    want.S = &usual;
    return want;
}

static void test_choose(void **state)
{
    static const int64_t K[] = { 5, 3, 1, 3, 30 };
    enum { ROWS = sizeof K / sizeof *K };
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = ramps(ctx);
    const vhem_source source = { .data = data };
    vhem_choose_options want = numbers(ROWS, K);
    vhem_choice row[ROWS];
    (void)state;
    assert_ok(ctx, vhem_choose(ctx, &source, &want, NULL, row));
    for (int k = 0; k < ROWS; k++) {
        assert_int_equal(row[k].K, K[k]);
        assert_true(isfinite(row[k].modularity) && isnan(row[k].bic) && isnan(row[k].evidence));
        assert_int_equal(isnan(row[k].stability), K[k] == 1);
        assert_true(K[k] == 1
                    || row[k].modularity + row[k].stability <= row[1].modularity + row[1].stability);
    }
    assert_true(row[3].modularity == row[1].modularity && row[3].stability == row[1].stability);
    vhem_free(data);
    vhem_free(ctx);
}

static void test_choose_refuses(void **state)
{
    static const int64_t K[] = { 2, 3 }, many[] = { 2, N + 1 };
    static const int S[] = { 2, 3 };
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = ramps(ctx);
    const vhem_source source = { .data = data };
    vhem_choose_options want = numbers(2, K);
    vhem_cluster_options opt = cluster_options();
    vhem_choice row[8];
    (void)state;
    want.n_S = 2;
    want.S = S;
    assert_fails(ctx, vhem_choose(ctx, &source, &want, NULL, row), VHEM_EINVAL,
                 "are for models, not sequences");
    want = numbers(2, K);
    want.n_splits = 2;
    assert_fails(ctx, vhem_choose(ctx, &source, &want, NULL, row), VHEM_EINVAL,
                 "are for models, not sequences");
    want = numbers(2, K);
    opt.method = "em-h3m";
    assert_fails(ctx, vhem_choose(ctx, &source, &want, &opt, row), VHEM_EINVAL,
                 "among clusters of sequences method auto chooses, not em-h3m");
    want = numbers(2, many);
    assert_fails(ctx, vhem_choose(ctx, &source, &want, NULL, row), VHEM_EINVAL,
                 "31 clusters need at least as many items, there are 30");
    vhem_free(data);
    vhem_free(ctx);
}

/* ---- what makes no sense ------------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = ramps(ctx);
    const vhem_source source = { .data = data };
    vhem_cluster_options opt = cluster_options();
    const int64_t K[] = { 3, 2 };
    vhem_tree *tree = NULL;
    (void)state;
    opt.tau = 3;
    assert_fails(ctx, vhem_cluster(ctx, &source, 1, K, &opt, &tree), VHEM_EINVAL,
                 "method auto does not use tau");
    opt = cluster_options();
    opt.landmarks = 2;
    assert_fails(ctx, vhem_cluster(ctx, &source, 1, K, &opt, &tree), VHEM_EINVAL,
                 "3 clusters need at least as many landmarks, there are 2");
    opt = cluster_options();
    opt.topology = "ring";
    assert_fails(ctx, vhem_cluster(ctx, &source, 1, K, &opt, &tree), VHEM_EINVAL,
                 "topology 'ring' is unknown");
    vhem_ctx_stop(ctx);
    assert_fails(ctx, vhem_cluster(ctx, &source, 2, K, NULL, &tree), VHEM_ESTOPPED, "");
    assert_null(tree);
    vhem_free(data);
    vhem_free(ctx);
}

/* The levels above are of the centres. */
static void test_tree(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = ramps(ctx);
    const vhem_source source = { .data = data };
    const int64_t K[] = { 6, 3 };
    vhem_tree *tree = NULL;
    (void)state;
    assert_ok(ctx, vhem_cluster(ctx, &source, 2, K, NULL, &tree));
    const vhem_clustering *low = vhem_tree_level(tree, 0), *high = vhem_tree_level(tree, 1);
    assert_string_equal(low->method, "auto");
    assert_string_equal(high->method, "vhem");
    assert_int_equal(high->Kb, 6);
    for (int i = 0; i < N; i++)
        assert_int_equal(high->base_label[i], high->label[low->label[i]]);
    vhem_free(tree);
    vhem_free(data);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_it_holds),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_files_of_others),
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_choose_refuses),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
