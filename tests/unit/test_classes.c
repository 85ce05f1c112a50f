/* SPDX-License-Identifier: BSD-3-Clause */
/* Models of classes through the library: learned, written and read, asked, stopped. */
#include "support.h"

#include "classify/classes.h"
#include "classify/predict.h"
#include "data/data.h"
#include "vhem.h"
#include "vhem/classes.h"

enum { CLASSES = 3, PER_CLASS = 6, T = 25 };

/* Sequences of three classes, in groups of two; class c jumps between c and c + 4. */
static vhem_data *sample_of(vhem_ctx *ctx, uint64_t seed, int d)
{
    vhem_data *data = NULL;
    vh_builder *b = NULL;
    vh_rng rng;
    vh_rng_init(&rng, seed, VH_RNG_TEST, 1);
    assert_ok(ctx, vh_builder_new(ctx, d, &b));
    for (int n = 0; n < CLASSES * PER_CLASS; n++) {
        int c = n / PER_CLASS, high = 0;
        char name[32], label[32], group[32];
        for (int t = 0; t < T; t++) {
            high = vh_rng_uniform(&rng) < 0.2 ? !high : high;
            double y[8] = { c + 4 * high + 0.5 * vh_rng_normal(&rng), c * high + 0.5 * vh_rng_normal(&rng) };
            assert_ok(ctx, vh_builder_frame(b, y));
        }
        snprintf(name, sizeof name, "s%d", n);
        snprintf(label, sizeof label, "c%d", c);
        snprintf(group, sizeof group, "g%d", n / 2);
        assert_ok(ctx, vh_builder_end(b, name, label, group, 1));
    }
    assert_ok(ctx, vh_builder_finish(b, "memory", &data));
    vh_builder_free(b);
    return data;
}

static vhem_data *sample_data(vhem_ctx *ctx, uint64_t seed)
{
    return sample_of(ctx, seed, 2);
}

static vhem_fit_options piece; /* of the last small_options */
static vhem_cluster_options reduce;

static vhem_train_options small_options(void)
{
    vhem_train_options opt;
    VHEM_INIT(VHEM_TRAIN_OPTIONS, &opt);
    VHEM_INIT(VHEM_FIT_OPTIONS, &piece);
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &reduce);
    opt.piece = &piece;
    opt.reduce = &reduce;
    piece.S = 2;
    opt.K = 2;
    reduce.restarts = 3;
    return opt;
}

static int count_right(const vhem_prediction *p)
{
    int right = 0;
    for (int i = 0; i < p->n; i++) {
        int best = 0;
        double sum = 0;
        for (int c = 0; c < p->C; c++) {
            const double *x = p->log_posterior + i * p->C;
            best = x[c] > x[best] ? c : best;
            sum += exp(x[c]);
        }
        assert_near(sum, 1, 1e-12, 0);
        right += strcmp(p->class_name[best], p->label[i]) == 0;
    }
    return right;
}

static void learn_write_read_ask(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = sample_data(ctx, 1), *fresh = sample_data(ctx, 2);
    vhem_classes *a = NULL, *b = NULL;
    vhem_prediction *p = NULL, *q = NULL;
    vhem_train_options opt = small_options();
    vhem_class_view view;
    const char *path = test_scratch("classes.json");

    assert_ok(ctx, vhem_classes_train(ctx, data, NULL, &opt, &a));
    assert_int_equal(a->C, CLASSES);
    assert_int_equal(vhem_classes_view(a, CLASSES, &view), VHEM_EINVAL);
    assert_int_equal(vhem_classes_view(a, 1, &view), VHEM_OK);
    assert_string_equal(view.name, "c1");
    assert_int_equal(view.items, PER_CLASS);
    assert_near(view.prior, 1.0 / 3, 1e-15, 0);
    a->cls[2].items = (int64_t)1 << 33; /* counts of items go beyond 32 bits */
    assert_ok(ctx, vhem_classes_save(ctx, a, "{\"who\": 1}", path));
    assert_ok(ctx, vhem_classes_load(ctx, path, &b));
    assert_int_equal(vhem_classes_view(b, 2, &view), VHEM_OK);
    assert_true(view.items == (int64_t)1 << 33);
    assert_int_equal(b->opt.piece.S, 2);
    assert_string_equal(b->opt.all.estimator, "vhem");
    assert_ok(ctx, vhem_classes_predict(ctx, a, fresh, 0, &p));
    assert_ok(ctx, vhem_classes_predict(ctx, b, fresh, 0, &q));
    assert_true(count_right(p) >= CLASSES * PER_CLASS - 2);
    for (int e = 0; e < p->n * p->C; e++)
        assert_true(p->loglik[e] == q->loglik[e]);
    vhem_free(p);
    vhem_free(q);
    vhem_free(a);
    vhem_free(b);
    vhem_free(data);
    vhem_free(fresh);
    remove(path);
    vhem_free(ctx);
}

/* A group is one item; its score is the mean over its sequences. */
static void groups(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = sample_data(ctx, 1);
    vhem_classes *k = NULL;
    vhem_prediction *p = NULL;
    vhem_train_options opt = small_options();
    opt.by_group = 1;
    piece.K = 2;
    assert_ok(ctx, vhem_classes_train(ctx, data, NULL, &opt, &k));
    assert_ok(ctx, vhem_classes_predict(ctx, k, data, 0, &p));
    assert_int_equal(p->n, CLASSES * PER_CLASS / 2);
    assert_string_equal(p->name[1], "g1");
    assert_int_equal(p->sequences[1], 2);
    for (int c = 0; c < p->C; c++) {
        vhem_class_view view;
        double loglik[CLASSES * PER_CLASS * 2], mean = 0;
        assert_int_equal(vhem_classes_view(k, c, &view), VHEM_OK);
        assert_ok(ctx, vh_h3m_score(ctx, view.models->h3m, data, loglik));
        for (int s = 2; s < 4; s++) {
            double sum = 0;
            for (int64_t j = 0; j < view.models->h3m->K; j++)
                sum += view.models->h3m->omega[j] * exp(loglik[s * view.models->h3m->K + j]);
            mean += log(sum) / 2;
        }
        assert_near(p->loglik[p->C + c], mean, 1e-10, 0);
    }
    data->label[1][0] = 'x';
    vhem_classes *none = NULL;
    assert_fails(ctx, vhem_classes_train(ctx, data, NULL, &opt, &none), VHEM_EINVAL,
                 "'g0' have different labels");
    assert_null(none);
    vhem_free(p);
    vhem_free(k);
    vhem_free(data);
    vhem_free(ctx);
}

/* After a stop the store has what was done; the next run ends where one run would have. */
static void stopped(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = sample_data(ctx, 1);
    vhem_classes *k = NULL;
    vhem_train_options opt = small_options();
    vhem_ctx_stop(ctx);
    assert_int_equal(vhem_classes_train(ctx, data, NULL, &opt, &k), VHEM_ESTOPPED);
    assert_null(k);
    vhem_free(data);
    vhem_free(ctx);
}

/* Subsamples share items; a class has each of its items once. */
static void subsamples(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = sample_data(ctx, 1);
    vhem_classes *k = NULL;
    vhem_class_view view;
    vhem_train_options opt = small_options();
    data->label[0][1] = '1'; /* 5, 7 and 6 of 18 */
    opt.bootstrap = 5;
    opt.sample = 3;
    opt.prior = "counts";
    assert_ok(ctx, vhem_classes_train(ctx, data, NULL, &opt, &k));
    for (int c = 0; c < CLASSES; c++) {
        int n = c == 0 ? 5 : c == 1 ? 7 : 6;
        assert_int_equal(vhem_classes_view(k, c, &view), VHEM_OK);
        assert_int_equal(view.items, n);
        assert_near(view.prior, n / 18.0, 1e-15, 0);
        assert_ok(ctx, vh_h3m_validate(ctx, view.models->h3m));
    }
    vhem_free(k);
    vhem_free(data);
    vhem_free(ctx);
}

/* Equal sequences without names: one fit, but each of them counts. */
static void equal_without_names(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const double y[5] = { 1, 2, 1, 3, 2 };
    vhem_data *data = NULL;
    vh_builder *b = NULL;
    vh_h3m *h3m = NULL;
    vhem_classes *k = NULL;
    vhem_class_view view;
    vhem_train_options opt = small_options();
    const char *path = test_scratch("equal");
    remove(path);
    assert_ok(ctx, vh_builder_new(ctx, 1, &b));
    for (int n = 0; n < 4; n++) { /* the first three are the same */
        assert_ok(ctx, vh_builder_frames(b, y, n < 3 ? 5 : 4));
        assert_ok(ctx, vh_builder_end(b, NULL, "a", NULL, 1));
    }
    assert_ok(ctx, vh_builder_finish(b, "memory", &data));
    vh_builder_free(b);
    assert_ok(ctx, call_fit_pieces(ctx, data, &piece, NULL, &h3m));
    assert_int_equal(h3m->K, 4);
    assert_near(h3m->omega[3], 0.25, 1e-15, 0);
    opt.store = path;
    assert_ok(ctx, vhem_classes_train(ctx, data, NULL, &opt, &k));
    for (int again = 0; again < 2; again++) { /* the same data once more changes nothing */
        assert_int_equal(vhem_classes_view(k, 0, &view), VHEM_OK);
        assert_int_equal(view.items, 4);
        assert_int_equal(view.pieces, 2);
        assert_near(fmax(view.models->h3m->omega[0], view.models->h3m->omega[1]), 0.75, 1e-15, 0);
        assert_ok(ctx, vhem_classes_update(ctx, k, data, NULL, path));
    }
    vh_h3m_free(h3m);
    vhem_free(k);
    vhem_free(data);
    remove(path);
    vhem_free(ctx);
}

/* A name that is null in a file is the default; a seed may have all its bits. */
static void null_in_file(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = sample_data(ctx, 1);
    vhem_classes *k = NULL, *back = NULL;
    vhem_train_options opt = small_options();
    const char *path = test_scratch("null.json");
    static char text[1 << 16];
    assert_ok(ctx, vhem_classes_train(ctx, data, NULL, &opt, &k));
    k->seed = UINT64_MAX - 4;
    assert_ok(ctx, vhem_classes_save(ctx, k, NULL, path));
    FILE *f = fopen(path, "r");
    size_t size = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    assert_true(size < sizeof text - 1);
    memcpy(strstr(text, "\"uniform\""), "null     ", 9);
    test_write(path, text, size);
    assert_ok(ctx, vhem_classes_load(ctx, path, &back));
    assert_string_equal(back->opt.all.prior, "uniform");
    assert_true(back->seed == UINT64_MAX - 4);
    vhem_free(k);
    vhem_free(back);
    vhem_free(data);
    remove(path);
    vhem_free(ctx);
}

/* The second record of a store is no longer JSON, but still looks like a record from its key. */
static void damage(const char *path)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "r");
    size_t size = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    assert_true(size < sizeof text - 1);
    char *line = strchr(strchr(text, '\n') + 1, '\n') + 1;
    line[100] = '}';
    test_write(path, text, size);
}

/* The first half by itself: what is in the store is what a training would make. */
static void pieces_alone(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = sample_data(ctx, 1);
    vh_h3m *a = NULL, *b = NULL;
    (void)small_options();
    const char *path = test_scratch("pieces");
    remove(path);
    piece.K = 2;
    piece.by_group = 1;
    assert_ok(ctx, call_fit_pieces(ctx, data, &piece, path, &a));
    assert_int_equal(a->K, 2 * CLASSES * PER_CLASS / 2);
    assert_string_equal(a->hmm[2].name, "g1/0");
    assert_string_equal(a->hmm[2].label, "c0");
    assert_ok(ctx, vh_h3m_validate(ctx, a));
    FILE *f = fopen(path, "r");
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    fclose(f);
    assert_ok(ctx, call_fit_pieces(ctx, data, &piece, path, &b)); /* nothing is fitted twice */
    f = fopen(path, "r");
    fseek(f, 0, SEEK_END);
    assert_int_equal(ftell(f), size);
    fclose(f);
    assert_true(vh_h3m_compare(a, b) == 0);
    vh_h3m_free(b);
    damage(path);
    assert_ok(ctx, call_fit_pieces(ctx, data, &piece, path, &b)); /* but for what was damaged */
    assert_true(vh_h3m_compare(a, b) == 0);
    vh_h3m_free(b);
    b = NULL;
    assert_ok(ctx, call_fit_pieces(ctx, data, &piece, path, &b));
    assert_true(vh_h3m_compare(a, b) == 0);
    vh_h3m_free(a);
    vh_h3m_free(b);
    vhem_free(data);
    remove(path);
    vhem_free(ctx);
}

/* What is held out has no say in the prior: other frames of one such item leave the rest as they were. */
static void prior_without_what_is_held_out(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = sample_data(ctx, 1);
    vhem_prediction *p[2] = { 0 };
    vhem_train_options opt = small_options();
    int out = 0;

    assert_ok(ctx, vhem_crossvalidate(ctx, data, NULL, &opt, 1, 0.3, &p[0]));
    while (p[0]->fold[out] != 0)
        out++;
    double *y = (double *)(uintptr_t)vh_data_frames(data, out);
    for (int e = 0; e < T * 2; e++)
        y[e] *= 30;
    assert_ok(ctx, vhem_crossvalidate(ctx, data, NULL, &opt, 1, 0.3, &p[1]));
    for (int i = 0; i < p[0]->n; i++)
        for (int c = 0; i != out && p[0]->fold[i] == 0 && c < CLASSES; c++)
            assert_near(p[0]->loglik[i * CLASSES + c], p[1]->loglik[i * CLASSES + c], 1e-13, 0);
    assert_true(p[0]->loglik[out * CLASSES] != p[1]->loglik[out * CLASSES]);
    vhem_free(p[0]);
    vhem_free(p[1]);
    vhem_free(data);
    vhem_free(ctx);
}

static void cross_validation(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = sample_data(ctx, 1);
    vhem_prediction *p = NULL;
    vhem_train_options opt = small_options();
    assert_ok(ctx, vhem_crossvalidate(ctx, data, NULL, &opt, 3, 0, &p));
    int count[3] = { 0 };
    for (int i = 0; i < p->n; i++)
        count[p->fold[i]]++;
    assert_int_equal(count[0], 6);
    assert_int_equal(count[1], 6);
    assert_true(count_right(p) >= CLASSES * PER_CLASS - 3);
    vhem_free(p);
    p = NULL;
    assert_fails(ctx, vhem_crossvalidate(ctx, data, NULL, &opt, 1, 1.5, &p), VHEM_EINVAL,
                 "a share between 0 and 1");
    assert_null(p);
    vhem_free(data);
    vhem_free(ctx);
}

static void refused(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = sample_data(ctx, 1);
    vhem_classes *k = NULL;
    vhem_train_options opt = small_options();
    opt.chunk = 0;
    assert_fails(ctx, vhem_classes_train(ctx, data, NULL, &opt, &k), VHEM_EINVAL, "chunk is 0");
    opt = small_options();
    opt.prior = "even";
    assert_fails(ctx, vhem_classes_train(ctx, data, NULL, &opt, &k), VHEM_EINVAL, "prior 'even' is unknown");
    opt.prior = opt.estimator = NULL; /* no names: the defaults */
    assert_ok(ctx, vhem_classes_train(ctx, data, NULL, &opt, &k));
    assert_string_equal(k->opt.all.prior, "uniform");
    assert_string_equal(k->opt.all.estimator, "vhem");
    vhem_free(k);
    k = NULL;
    opt = small_options();
    opt.estimator = "em-h3m";
    double y = data->y[7];
    ((double *)data->y)[7] = NAN;
    assert_ok(ctx, vhem_classes_train(ctx, data, NULL, &opt, &k)); /* a missing value is no reason to */
    vhem_free(k);
    k = NULL;
    ((double *)data->y)[7] = y;
    char s0[] = "s0", s1[] = "s1", x[] = "x", *twice[3] = { s0, s1, s0 }, *tag[1] = { x };
    unsigned char has[3] = { 1, 1, 1 };
    vhem_tags tags = { .n = 3, .C = 1, .item = twice, .tag = tag, .has = has };
    opt = small_options();
    assert_fails(ctx, vhem_classes_train(ctx, data, &tags, &opt, &k), VHEM_EINVAL,
                 "'s0' appears twice in the tags, in rows 0 and 2");
    reduce.preset = "none";
    assert_fails(ctx, vhem_classes_train(ctx, data, NULL, &opt, &k), VHEM_EINVAL, "preset 'none' is unknown");
    opt = small_options();
    opt.min_items = 100;
    assert_fails(ctx, vhem_classes_train(ctx, data, NULL, &opt, &k), VHEM_EINVAL,
                 "none of 3 classes has 100");
    opt = small_options();
    opt.store = "/no/such/folder/s";
    assert_fails(ctx, vhem_classes_train(ctx, data, NULL, &opt, &k), VHEM_EIO, "cannot open the store");
    assert_fails(ctx, vhem_classes_load(ctx, "/no/such/file", &k), VHEM_EIO, "/no/such/file: cannot read");
    assert_null(k);
    vhem_free(data);
    vhem_free(ctx);
}

/* More data of another dimension is refused, and the models stay what they were. */
static void other_dimension(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = sample_data(ctx, 1), *wide = sample_of(ctx, 2, 8);
    vhem_classes *k = NULL;
    vhem_class_view view;
    vhem_train_options opt = small_options();
    const char *path = test_scratch("dimension");
    remove(path);
    opt.store = path;
    assert_ok(ctx, vhem_classes_train(ctx, data, NULL, &opt, &k));
    assert_fails(ctx, vhem_classes_update(ctx, k, wide, NULL, path), VHEM_EINVAL,
                 "the models have dimension 2, but the data has 8");
    assert_int_equal(vhem_classes_view(k, 0, &view), VHEM_OK);
    assert_int_equal(view.items, PER_CLASS);
    assert_int_equal(view.models->h3m->d, 2);
    vhem_free(k);
    vhem_free(data);
    vhem_free(wide);
    remove(path);
    vhem_free(ctx);
}

/* With a preset that makes full covariances, classes too small to be reduced have them as well. */
static void full_covariances(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = sample_data(ctx, 1);
    vhem_classes *k = NULL, *back = NULL;
    vhem_prediction *p = NULL;
    vhem_class_view view;
    vhem_train_options opt = small_options();
    const char *path = test_scratch("full.json");
    for (int s = 1; s < PER_CLASS; s++) /* one of c0 is left */
        data->label[s][1] = '1';
    reduce.preset = "emhmm";
    assert_ok(ctx, vhem_classes_train(ctx, data, NULL, &opt, &k));
    for (int c = 0; c < CLASSES; c++) {
        assert_int_equal(vhem_classes_view(k, c, &view), VHEM_OK);
        assert_string_equal(view.models->h3m->family->name, "gaussian-full");
    }
    assert_ok(ctx, vhem_classes_save(ctx, k, NULL, path));
    assert_ok(ctx, vhem_classes_load(ctx, path, &back));
    assert_ok(ctx, vhem_classes_predict(ctx, back, data, 0, &p));
    vhem_free(p);
    vhem_free(k);
    vhem_free(back);
    vhem_free(data);
    remove(path);
    vhem_free(ctx);
}

static void broken_files(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("broken.json");
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        { "[1]", "the file holds an array, must hold an object" },
        { "{\"format\": \"vhem-classes\"}", "version is missing" },
        { "{\"format\": \"vhem-classes\", \"version\": 9}", "version is 9, this program reads up to 1" },
        { "{\"format\": \"vhem-classes\", \"version\": 1}", "there are no classes" },
        { "{\"format\": \"vhem-classes\", \"version\": 1, \"classes\": [{}]}", "class 0: it has no name" },
        { "{\"format\": \"vhem-classes\", \"version\": 1, \"classes\": [{\"name\": \"a\", \"prior\": 1}]}",
          "class 0: it has no model" },
        { "{\"format\": \"vhem-classes\", \"version\": 1, \"piece\": {\"S\": \"two\"}, \"classes\": [{}]}",
          "S is text, must be a whole number" },
        { "{\"format\": \"vhem-classes\", \"version\": 1, \"classes\": [{\"name\": \"a\", \"prior\": 1, "
          "\"model\": {}, \"pieces\": [[\"short\", 1]]}]}",
          "pieces[0] must be a key" },
        { "{\"format\": \"vhem-classes\", \"version\": 1, \"classes\": [{\"name\": \"a\", \"prior\": 1, "
          "\"model\": {}, \"things\": 9007199254740993}]}",
          "things must be a whole number from 1" },
    };
    vhem_classes *k = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_write(path, cases[i].text, strlen(cases[i].text));
        assert_fails(ctx, vhem_classes_load(ctx, path, &k), VHEM_EFORMAT, cases[i].sentence);
    }
    assert_null(k);
    remove(path);
    vhem_free(ctx);
}

/* Of two things that are certain the more certain one has the larger log posterior. */
static void certain(void **state)
{
    (void)state;
    const double prior[3] = { 0.5, 0.25, 0.25 }, none[3] = { -INFINITY, -INFINITY, -INFINITY };
    const double sure[3] = { -10, -110, -300 }, surer[3] = { -10, -210, -300 }, open[3] = { 1, 2, 2.5 };
    double a[3], b[3], sum = 0;
    vh_bayes(3, sure, prior, a);
    vh_bayes(3, surer, prior, b);
    assert_near(a[0], -0.5 * exp(-100), 1e-12, 0);
    assert_near(b[0], -0.5 * exp(-200), 1e-12, 0);
    assert_near(a[1], log(0.5) - 100, 1e-14, 0);
    vh_bayes(3, open, prior, a);
    for (int c = 0; c < 3; c++)
        sum += exp(a[c]);
    assert_near(sum, 1, 1e-14, 0);
    assert_near(exp(a[2] - a[0]), 0.5 * exp(1.5), 1e-13, 0);
    vh_bayes(3, none, prior, a);
    assert_near(a[1], log(0.25), 1e-15, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learn_write_read_ask),
        cmocka_unit_test(groups),
        cmocka_unit_test(stopped),
        cmocka_unit_test(prior_without_what_is_held_out),
        cmocka_unit_test(cross_validation),
        cmocka_unit_test(refused),
        cmocka_unit_test(broken_files),
        cmocka_unit_test(pieces_alone),
        cmocka_unit_test(other_dimension),
        cmocka_unit_test(full_covariances),
        cmocka_unit_test(null_in_file),
        cmocka_unit_test(subsamples),
        cmocka_unit_test(equal_without_names),
        cmocka_unit_test(certain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
