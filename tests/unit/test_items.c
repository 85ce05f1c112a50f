/* SPDX-License-Identifier: BSD-3-Clause */
/* Items of a source: models, sequences, groups; and what is computed for groups: scores, assignments, fits,
 * classes of textures. */
#include "support.h"
#include "vhem.h"
#include "vhem/analysis.h"
#include "vhem/classes.h"

enum { N = 6 };

/* s0 and s2 are in g0, s1 and s4 in g1, s3 and s5 in none. */
static vhem_data *grouped(vhem_ctx *ctx, const vh_h3m *h3m)
{
    vhem_data *data = NULL;
    const char *name[] = { "s0", "s1", "s2", "s3", "s4", "s5" },
               *group[] = { "g0", "g1", "g0", "", "g1", "" };
    const char *label[] = { "a", "b", "a", "c", "x", "c" };
    assert_ok(ctx, vh_h3m_sample(ctx, h3m, N, 20, &data));
    assert_ok(ctx,
              vh_data_describe(ctx, data, &(vhem_data_text){ .name = name, .label = label, .group = group }));
    return data;
}

static vh_h3m *models(vhem_ctx *ctx)
{
    vh_rng rng;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 0);
    vh_h3m *h3m = random_h3m(ctx, &rng, 3, 2, 1, 2, 0, 3);
    assert_ok(ctx, vh_h3m_set_text(ctx, &h3m->hmm[1].name, "one"));
    assert_ok(ctx, vh_h3m_set_text(ctx, &h3m->hmm[1].label, "L"));
    return h3m;
}

static void of_sources(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = models(ctx);
    vhem_data *data = grouped(ctx, h3m);
    vhem_items *items = NULL;
    (void)state;
    assert_ok(ctx, vhem_source_items(ctx, &(vhem_source){ .models = HMMS(h3m) }, &items));
    assert_int_equal(items->n, 3);
    assert_string_equal(items->name[0], "");
    assert_string_equal(items->label[1], "L");
    assert_null(items->item);
    vhem_free(items);
    assert_ok(ctx, vhem_source_items(ctx, &(vhem_source){ .data = data, .by_group = 1 }, &items));
    static const int64_t item[N] = { 0, 1, 0, 2, 1, 3 };
    static const char *const name[] = { "g0", "g1", "s3", "s5" }, *const label[] = { "a", "", "c", "c" };
    assert_int_equal(items->n, 4);
    for (int n = 0; n < N; n++)
        assert_int_equal(items->item[n], item[n]);
    for (int g = 0; g < 4; g++) {
        assert_string_equal(items->name[g], name[g]);
        assert_string_equal(items->label[g], label[g]); /* where all sequences agree */
        assert_int_equal(items->sequences[g], g < 2 ? 2 : 1);
    }
    vhem_free(items);
    items = NULL;
    assert_fails(ctx, vhem_source_items(ctx, &(vhem_source){ .data = data, .models = HMMS(h3m) }, &items),
                 VHEM_EINVAL, "both");
    assert_fails(ctx, vhem_source_items(ctx, &(vhem_source){ 0 }, &items), VHEM_EINVAL, "neither");
    assert_null(items);
    vhem_free(NULL);
    vhem_free(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* The score of a group is the sum over its sequences, and it is assigned by that. */
static void of_groups(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = models(ctx);
    vhem_data *data = grouped(ctx, h3m);
    vhem_tree *tree = NULL;
    vhem_models *copy = NULL;
    double each[N][3], all[4][3], score[4];
    int label[4];
    const vhem_source by_group = { .data = data, .by_group = 1 };
    (void)state;
    assert_ok(ctx, vhem_score(ctx, HMMS(h3m), &(vhem_source){ .data = data }, &each[0][0]));
    assert_ok(ctx, vhem_score(ctx, HMMS(h3m), &by_group, &all[0][0]));
    for (int k = 0; k < 3; k++) {
        assert_near(all[0][k], each[0][k] + each[2][k], 1e-12, 0);
        assert_near(all[3][k], each[5][k], 0, 0);
    }
    assert_fails(ctx, vhem_score(ctx, HMMS(h3m), &(vhem_source){ .models = HMMS(h3m) }, &all[0][0]),
                 VHEM_EINVAL, "sequences");
    assert_ok(ctx, vh_models_subset(ctx, HMMS(h3m), NULL, 3, &copy));
    assert_ok(ctx, vh_tree_of_models(ctx, copy, &tree));
    assert_ok(ctx, vhem_assign(ctx, tree, &by_group, label, NULL, score));
    for (int g = 0; g < 4; g++)
        for (int k = 0; k < 3; k++)
            assert_true(all[g][label[g]] >= all[g][k] && score[g] == all[g][label[g]]);
    vhem_free(tree);
    vhem_free(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* Fits of all shapes go through one call; a store gives the same models as none. */
static void fits(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = models(ctx);
    vhem_data *data = grouped(ctx, h3m);
    vhem_models *a = NULL, *b = NULL;
    vhem_models_facts facts;
    vhem_fit_report *report = NULL;
    vhem_fit_options opt;
    const char *path = test_scratch("store");
    (void)state;
    for (int k = 0; k < 2; k++) {
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.model = k ? "dtm" : "hmm";
        opt.S = 2;
        opt.restarts = 2;
        opt.by_group = 1;
        assert_ok(ctx, vhem_fit(ctx, data, &opt, &a, &report));
        vhem_models_info(a, &facts);
        assert_true(facts.K == 4 && facts.kind == (k ? VHEM_TEXTURES : VHEM_HMMS) && report->K == 4);
        vhem_free(report);
        vhem_free(a);
        opt.K = 2;
        opt.by_group = 0;
        assert_ok(ctx, vhem_fit(ctx, data, &opt, &a, NULL));
        vhem_models_info(a, &facts);
        assert_true(facts.K == 2);
        vhem_free(a);
        opt.store = path;
        assert_fails(ctx, vhem_fit(ctx, data, &opt, &a, NULL), VHEM_EINVAL,
                     "a store keeps the models of items");
        opt.by_group = opt.pieces = 1;
        for (int run = 0; run < 2; run++) { /* the second time nothing is fitted */
            opt.store = run ? path : NULL;
            assert_ok(ctx, vhem_fit(ctx, data, &opt, run ? &b : &a, &report));
            assert_int_equal(report->K, 0);
            vhem_free(report);
        }
        assert_true(vhem_models_compare(a, b) == 0);
        vhem_models_info(a, &facts);
        assert_true(facts.K == 6 && strcmp(*vh_models_name(a, 0), "g0/0") == 0); /* 2 + 2 + 1 + 1 */
        vhem_free(a);
        vhem_free(b);
        remove(path);
    }
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.pieces = 1;
    assert_fails(ctx, vhem_fit(ctx, data, &opt, &a, NULL), VHEM_EINVAL, "pieces need K");
    vhem_free(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* Classes of textures: learned, written, read, asked, judged. */
static void classes_of_textures(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    vhem_train_options opt;
    vhem_fit_options piece;
    vhem_cluster_options reduce;
    vhem_classes *a = NULL, *b = NULL;
    vhem_prediction *p = NULL;
    vhem_judgement *j = NULL;
    vhem_class_view view;
    const char *path = test_scratch("textures.json");
    enum { SEQS = 12, T = 30 };
    double y[SEQS * T];
    int64_t length[SEQS];
    const char *label[SEQS];
    (void)state;
    for (int n = 0; n < SEQS; n++) {
        length[n] = T;
        label[n] = n % 2 ? "fast" : "slow";
        for (int t = 0; t < T; t++)
            y[n * T + t] = sin((n % 2 ? 1.3 : 0.3) * t + n) + 0.05 * cos(7.0 * t + n);
    }
    assert_ok(ctx, vhem_data_wrap(ctx, SEQS, length, 1, y, &(vhem_data_text){ .label = label }, &data));
    VHEM_INIT(VHEM_TRAIN_OPTIONS, &opt);
    VHEM_INIT(VHEM_FIT_OPTIONS, &piece);
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &reduce);
    opt.piece = &piece;
    opt.reduce = &reduce;
    piece.model = "dtm";
    piece.S = 2;
    opt.K = 2;
    reduce.restarts = 2;
    assert_ok(ctx, vhem_classes_train(ctx, data, NULL, &opt, &a));
    vhem_classes_facts facts;
    vhem_classes_info(a, &facts);
    assert_string_equal(facts.options->estimator, "hem-dtm");
    assert_ok(ctx, vhem_classes_save(ctx, a, NULL, path));
    assert_ok(ctx, vhem_classes_load(ctx, path, &b));
    assert_int_equal(vhem_classes_view(b, 0, &view), VHEM_OK);
    assert_true(view.items == SEQS / 2 && view.models->kind == VHEM_TEXTURES);
    assert_ok(ctx, vhem_classes_predict(ctx, b, data, 0, &p));
    assert_ok(ctx, vhem_judge(ctx, p, NULL, NULL, &j));
    assert_true(j->n == SEQS && j->unknown == 0 && j->accuracy == 1 && j->confusion[0] == SEQS / 2);
    assert_near(j->F, 1, 0, 0);
    opt.estimator = "vhem";
    vhem_classes *none = NULL;
    assert_fails(ctx, vhem_classes_train(ctx, data, NULL, &opt, &none), VHEM_EINVAL,
                 "estimator vhem makes HMMs, the pieces are dynamic textures");
    vhem_free(j);
    vhem_free(p);
    vhem_free(a);
    vhem_free(b);
    vhem_free(data);
    remove(path);
    vhem_free(ctx);
}

/* Names as numbers, and a judgement by tags of what some items have. */
static void judged(void **state)
{
    vhem_ctx *ctx = test_ctx();
    const char *names[] = { "b", "", "a", "b", NULL };
    int number[5], known;
    (void)state;
    assert_ok(ctx, vhem_number_names(ctx, 5, names, number, &known));
    assert_int_equal(known, 2);
    static const int want[] = { 0, -1, 1, 0, -1 };
    assert_memory_equal(number, want, sizeof want);

    const char *item[] = { "i0", "i1", "i2" }, *label_of[] = { "", "", "" }, *class_name[] = { "x", "y" };
    double log_posterior[] = { -0.1, -2, -3, -0.2, -0.5, -0.6 };
    int fold[] = { 0, 1, -1 };
    vhem_prediction p = { .n = 3,
                          .C = 2,
                          .name = (char **)item,
                          .label = (char **)label_of,
                          .class_name = (char **)class_name,
                          .fold = fold,
                          .log_posterior = log_posterior };
    const char *tagged[] = { "i1", "i0", "elsewhere" }, *tag[] = { "y", "z", "x" };
    unsigned char has[] = { 1, 0, 0, 1, 1, 0, 1, 1, 1 }; /* i1: y; i0: y and z, of which z is not known */
    vhem_tags tags = { .n = 3, .C = 3, .item = (char **)tagged, .tag = (char **)tag, .has = has };
    vhem_judgement *j = NULL;
    vhem_rank_options opt;
    VHEM_INIT(VHEM_RANK_OPTIONS, &opt);
    opt.top = 1;
    opt.n_k = 1;
    opt.k = (int64_t[]){ 1 };
    assert_ok(ctx, vhem_judge(ctx, &p, &tags, &opt, &j));
    assert_true(j->n == 2 && j->unknown == 0 && j->C == 2);
    assert_near(j->accuracy, 0.5, 0, 0);
    assert_near(j->recall, 0.5, 0, 0); /* of y alone: nobody has x */
    assert_near(j->p_at[0], 1, 0, 0);
    assert_true(j->tag[0].given == 1 && j->tag[0].right == 0 && j->tag[1].n == 2);
    vhem_free(j);
    assert_fails(ctx, vhem_judge(ctx, &p, NULL, &opt, &j), VHEM_EINVAL, "no item has a label");
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_sources),          cmocka_unit_test(of_groups), cmocka_unit_test(fits),
        cmocka_unit_test(classes_of_textures), cmocka_unit_test(judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
