/* SPDX-License-Identifier: BSD-3-Clause */
/* test_misuse.c - calls that a caller might make by mistake: each gives a status and a sentence, no crash and
 * no hang; and vhem_free releases whatever comes through a **. */
#include "support.h"

#include "vhem.h"
#include "vhem/analysis.h"
#include "vhem/classes.h"
#include "vhem/distributed.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 4, T = 50, PATIENCE = 120 }; /* seconds: under sanitizers on a busy machine */

static double y[N * T];
static vhem_ctx *ctx;
static vhem_data *data;
static vhem_models *models;
static vhem_tree *tree;
static vhem_fit_report *fitted;
static vhem_fit_options fit_options;
static const int64_t lengths[N] = { T, T, T, T };
static const char *const names[N] = { "s0", "s1", "s2", "s3" }, *const labels[N] = { "a", "a", "b", "b" };
static const vhem_source nothing = { 0 };
static const int64_t two = 2;

static void prepare(void)
{
    vhem_ctx_options o;
    vhem_data_text text = { .name = names, .label = labels };
    VHEM_INIT(VHEM_CTX_OPTIONS, &o);
    o.threads = 2;
    for (int i = 0; i < N * T; i++)
        y[i] = sin(i * 1.7) + (i >= 2 * T ? 5 : 0);
    VHEM_INIT(VHEM_FIT_OPTIONS, &fit_options);
    fit_options.S = 2;
    fit_options.restarts = 1;
    if (vhem_ctx_new(&o, &ctx) || vhem_data_wrap(ctx, N, lengths, 1, y, &text, &data)
        || vhem_fit(ctx, data, &fit_options, &models, &fitted)
        || vhem_cluster(ctx, &(vhem_source){ .models = models }, 1, &two, NULL, &tree))
        abort();
}

/* ---- calls that are refused ---------------------------------------------------------------------------- */

#define CALL(name, call)          \
    static vhem_status name(void) \
    {                             \
        void *out = NULL;         \
        (void)out;                \
        return call;              \
    }
#define OUT(type) ((type **)&out)

CALL(load_no_path, vhem_models_load(ctx, NULL, OUT(vhem_models)))
CALL(load_no_ctx, vhem_models_load(NULL, "x.json", OUT(vhem_models)))
CALL(load_no_out, vhem_models_load(ctx, "x.json", NULL))
CALL(save_no_path, vhem_models_save(ctx, models, NULL, NULL))
CALL(any_no_path, vhem_load(ctx, NULL, NULL, &(vhem_contents){ 0 }))
CALL(data_no_path, vhem_data_load(ctx, NULL, NULL, OUT(vhem_data)))
CALL(data_save_no_path, vhem_data_save(ctx, data, NULL))
CALL(tree_no_path, vhem_tree_load(ctx, NULL, OUT(vhem_tree)))
CALL(tree_save_no_path, vhem_tree_save(ctx, tree, NULL, NULL))
CALL(classes_no_path, vhem_classes_load(ctx, NULL, OUT(vhem_classes)))
CALL(tags_no_path, vhem_tags_load(ctx, NULL, OUT(vhem_tags)))
CALL(output_no_path, vhem_output_open(ctx, NULL, &(int){ 0 }, OUT(vhem_output)))
CALL(report_no_path,
     vhem_report_write(ctx, &(vhem_report_input){ .size = sizeof(vhem_report_input), .tree = tree }, NULL))
CALL(fit_no_data, vhem_fit(ctx, NULL, NULL, OUT(vhem_models), NULL))
CALL(fit_no_out, vhem_fit(ctx, data, NULL, NULL, NULL))
CALL(score_no_source, vhem_score(ctx, models, NULL, y))
CALL(assign_no_source, vhem_assign(ctx, tree, NULL, &(int){ 0 }, NULL, NULL))
CALL(items_no_source, vhem_source_items(ctx, NULL, OUT(vhem_items)))
CALL(cluster_no_source, vhem_cluster(ctx, NULL, 1, &two, NULL, OUT(vhem_tree)))
CALL(cluster_empty_source, vhem_cluster(ctx, &nothing, 1, &two, NULL, OUT(vhem_tree)))
CALL(cluster_no_K, vhem_cluster(ctx, &(vhem_source){ .models = models }, 1, NULL, NULL, OUT(vhem_tree)))
CALL(choose_no_source, vhem_choose(ctx, NULL, NULL, NULL, NULL))
CALL(stats_nothing, vhem_stats(ctx, NULL, OUT(vhem_statistics)))
CALL(measure_no_tree, vhem_measure(ctx, NULL, 0, NULL, NULL, &(vhem_measures){ 0 }))
CALL(distance_no_models, vhem_distance(ctx, NULL, models, NULL, y, NULL))
CALL(hmms_no_views, vhem_models_new_hmms(ctx, "gaussian-diag", 1, 1, NULL, OUT(vhem_models)))
CALL(textures_no_views, vhem_models_new_textures(ctx, 1, 1, NULL, OUT(vhem_models)))
CALL(rank_no_scores, vhem_rank(ctx, 1, 1, NULL, NULL, NULL, OUT(vhem_judgement)))
CALL(shards_negative, vhem_models_merge(ctx, 1, (const vhem_models *const[]){ models }, -7, NULL, "none"))
/* The sum of the lengths wraps around to a small number; so do frames times dimension. */
CALL(lengths_wrap,
     vhem_data_wrap(ctx, 4, (const int64_t[]){ 1LL << 62, 1LL << 62, 1LL << 62, (1LL << 62) + 200 }, 1, y,
                    NULL, OUT(vhem_data)))
CALL(frames_wrap, vhem_data_wrap(ctx, 1, (const int64_t[]){ 1LL << 40 }, 1 << 30, y, NULL, OUT(vhem_data)))

static vhem_status threads_many(void)
{
    vhem_ctx_options o;
    vhem_ctx *made = NULL;
    VHEM_INIT(VHEM_CTX_OPTIONS, &o);
    o.threads = 100000;
    return vhem_ctx_new(&o, &made);
}

static vhem_status heard;

/* A callback that computes with its own context. */
static void again(void *arg, const char *what, int64_t done, int64_t total)
{
    (void)what, (void)done, (void)total;
    vhem_ctx *own = *(vhem_ctx **)arg;
    vhem_models *more = NULL;
    if (heard == VHEM_OK)
        heard = vhem_fit(own, data, &fit_options, &more, NULL);
    vhem_free(more);
}

static vhem_status callback_computes(void)
{
    vhem_ctx_options o;
    vhem_ctx *own = NULL;
    vhem_models *more = NULL;
    VHEM_INIT(VHEM_CTX_OPTIONS, &o);
    o.threads = 2;
    o.progress = again;
    o.progress_arg = &own;
    if (vhem_ctx_new(&o, &own) || vhem_fit(own, data, &fit_options, &more, NULL))
        return VHEM_ENUMERIC; /* the work itself goes on */
    vhem_free(ctx);
    ctx = own;
    return heard;
}

static vhem_status other_models(vhem_status (*use)(const vhem_models *))
{
    vhem_hmm_view v[N];
    vhem_models *turned = NULL;
    for (int i = 0; i < N; i++) {
        assert_int_equal(vhem_models_hmm(models, (i + 1) % N, &v[i]), VHEM_OK);
        v[i].c = v[i].mu = v[i].cov = NULL;
        v[i].omega = 1.0 / N;
    }
    vhem_status st = vhem_models_new_hmms(ctx, v[0].emission, 1, N, v, &turned);
    return st ? VHEM_ENUMERIC : use(turned);
}
static vhem_status measured(const vhem_models *m)
{
    return vhem_measure(ctx, tree, 0, &(vhem_source){ .models = m }, NULL, &(vhem_measures){ 0 });
}
static vhem_status tested(const vhem_models *m)
{
    vhem_stats_input in;
    vhem_statistics *out = NULL;
    VHEM_INIT(VHEM_STATS_INPUT, &in);
    in.tree = tree;
    in.data = data;
    in.level = 0;
    in.models = m;
    return vhem_stats(ctx, &in, &out);
}
static vhem_status reported(const vhem_models *m)
{
    vhem_report_input in;
    VHEM_INIT(VHEM_REPORT_INPUT, &in);
    in.tree = tree;
    in.models = m;
    return vhem_report_write(ctx, &in, "/dev/null");
}
CALL(measure_other_order, other_models(measured))
CALL(stats_other_order, other_models(tested))
CALL(report_other_order, other_models(reported))

#define TELLS(name, text) \
    {                     \
#name, name, text \
    }
static const struct {
    const char *name;
    vhem_status (*call)(void);
    const char *text; /* in the sentence; NULL: there is no context to ask */
} misuse[] = {
    TELLS(load_no_path, "path is NULL"),
    TELLS(load_no_ctx, NULL),
    TELLS(load_no_out, "out is NULL"),
    TELLS(save_no_path, "path is NULL"),
    TELLS(any_no_path, "path is NULL"),
    TELLS(data_no_path, "path is NULL"),
    TELLS(data_save_no_path, "path is NULL"),
    TELLS(tree_no_path, "path is NULL"),
    TELLS(tree_save_no_path, "path is NULL"),
    TELLS(classes_no_path, "path is NULL"),
    TELLS(tags_no_path, "path is NULL"),
    TELLS(output_no_path, "path is NULL"),
    TELLS(report_no_path, "path is NULL"),
    TELLS(fit_no_data, "data is NULL"),
    TELLS(fit_no_out, "out is NULL"),
    TELLS(score_no_source, "source is NULL"),
    TELLS(assign_no_source, "source is NULL"),
    TELLS(items_no_source, "source is NULL"),
    TELLS(cluster_no_source, "source is NULL"),
    TELLS(cluster_empty_source, "has neither"),
    TELLS(cluster_no_K, "K is NULL"),
    TELLS(choose_no_source, "source is NULL"),
    TELLS(stats_nothing, "in is NULL"),
    TELLS(measure_no_tree, "tree is NULL"),
    TELLS(distance_no_models, "a is NULL"),
    TELLS(hmms_no_views, "the HMMs are NULL"),
    TELLS(textures_no_views, "the textures are NULL"),
    TELLS(rank_no_scores, "score is NULL"),
    TELLS(shards_negative, "there are -7 shards"),
    TELLS(lengths_wrap, "sequence 0 has 4611686018427387904 frames"),
    TELLS(frames_wrap, "sequence 0 has 1099511627776 frames"),
    TELLS(threads_many, NULL),
    TELLS(callback_computes, "the context is in use"),
    TELLS(measure_other_order, "other models were clustered there"),
    TELLS(stats_other_order, "other models were clustered there"),
    TELLS(report_other_order, "other models were clustered there"),
};

/* Of nothing nothing is known. */
static void test_views_of_nothing(void **state)
{
    vhem_models_facts m = { .K = 7 };
    vhem_data_facts d = { .N = 7 };
    vhem_tree_facts t = { .levels = 7 };
    vhem_classes_facts k = { .C = 7 };
    (void)state;
    vhem_models_info(NULL, &m);
    vhem_data_info(NULL, &d);
    vhem_tree_info(NULL, &t);
    vhem_classes_info(NULL, &k);
    assert_true(m.K == 0 && d.N == 0 && t.levels == 0 && k.C == 0);
    assert_string_equal(m.emission, "");
    assert_int_equal(vhem_models_hmm(NULL, 0, &(vhem_hmm_view){ 0 }), VHEM_EINVAL);
    assert_int_equal(vhem_models_texture(NULL, 0, &(vhem_dt_view){ 0 }), VHEM_EINVAL);
    assert_int_equal(vhem_models_column(NULL, 0, &(vhem_column_view){ 0 }), VHEM_EINVAL);
    assert_int_equal(vhem_data_view(NULL, 0, &(vhem_seq_view){ 0 }), VHEM_EINVAL);
    assert_int_equal(vhem_classes_view(NULL, 0, &(vhem_class_view){ 0 }), VHEM_EINVAL);
    assert_null(vhem_tree_level(NULL, 0));
    assert_string_equal(vhem_ctx_backend(NULL), "");
    vhem_ctx_stop(NULL);
}

/* ---- what is released ---------------------------------------------------------------------------------- */

/* Everything of the header that comes through a **, one after the other, by the function that makes it;
 * tests/python/test_misuse.py sees to it that none is forgotten. */
#define FREE(name, type, ...)                                        \
    do {                                                             \
        type *made_ = NULL;                                          \
        vhem_status st_ = name(__VA_ARGS__);                         \
        if (st_ != VHEM_OK || !made_) {                              \
            fprintf(stderr, "%s: %s\n", #name, vhem_ctx_error(ctx)); \
            return st_ ? st_ : VHEM_ENUMERIC;                        \
        }                                                            \
        vhem_free(made_);                                            \
    } while (0)

static vhem_status free_models_and_clusters(void)
{
    const vhem_source models_in = { .models = models }, data_in = { .data = data };
    const double one = 1, none = 0;
    const vhem_dt_view dt = { 1, 1, "", "", 1, &none, &one, &none, &one, &one, &none, &one };
    vhem_stats_input in;
    vhem_hmm_view hmm;
    int fd;
    assert_int_equal(vhem_models_hmm(models, 0, &hmm), VHEM_OK);
    hmm.c = hmm.mu = hmm.cov = NULL;
    hmm.omega = 1;
    VHEM_INIT(VHEM_STATS_INPUT, &in);
    in.tree = tree;
    in.data = data;
    in.level = in.by_group = in.leave_out = 0;

    FREE(vhem_ctx_new, vhem_ctx, NULL, &made_);
    FREE(vhem_output_open, vhem_output, ctx, "misuse.txt", &fd, &made_);
    if (access("misuse.txt", F_OK) == 0)
        return VHEM_EIO;
    FREE(vhem_data_wrap, vhem_data, ctx, N, lengths, 1, y, NULL, &made_);
    FREE(vhem_demo, vhem_data, ctx, "gaze", &made_);
    FREE(vhem_models_new_hmms, vhem_models, ctx, hmm.emission, 1, 1, &hmm, &made_);
    FREE(vhem_models_new_textures, vhem_models, ctx, 1, 1, &dt, &made_);
    FREE(vhem_source_items, vhem_items, ctx, &data_in, &made_);
    FREE(vhem_fit, vhem_models, ctx, data, &fit_options, &made_, NULL);
    vhem_free(fitted);
    FREE(vhem_sample, vhem_data, ctx, models, 2, 3, &made_);
    FREE(vhem_cluster, vhem_tree, ctx, &models_in, 1, &two, NULL, &made_);
    FREE(vhem_stats, vhem_statistics, ctx, &in, &made_);
    FREE(vhem_score_persons, vhem_statistics, ctx, &in, &made_);
    FREE(vhem_intervals_find, vhem_intervals, ctx, vhem_tree_level(tree, 0), -1, -1, &made_);
    FREE(vhem_examples_find, vhem_examples, ctx, tree, data, 1, &made_);
    FREE(vhem_rank, vhem_judgement, ctx, 1, 1, &one, (const unsigned char[]){ 1 }, NULL, &made_);
    return VHEM_OK;
}

static vhem_status free_tasks(void)
{
    const vhem_models *centers = vhem_tree_level(tree, 0)->centers;
    vhem_task *task = NULL;
    vhem_partial *sums = NULL;
    void *bytes = NULL;
    size_t n = 0;

    FREE(vhem_task_new, vhem_task, ctx, models, centers, NULL, &made_);
    if (vhem_task_new(ctx, models, centers, NULL, &task) || vhem_expect(ctx, models, task, 0, 1, &sums)
        || vhem_partial_write(ctx, sums, &bytes, &n))
        return VHEM_ENUMERIC;
    FREE(vhem_expect, vhem_partial, ctx, models, task, 0, 1, &made_);
    FREE(vhem_maximise, vhem_step, ctx, models, task, sums, &made_);
    FREE(vhem_partial_read, vhem_partial, ctx, bytes, n, &made_);
    FREE(vhem_partial_write, void, ctx, sums, &made_, &n);
    vhem_free(bytes);
    vhem_free(sums);
    vhem_free(task);
    return VHEM_OK;
}

static vhem_status free_classes_and_files(void)
{
    vhem_classes *classes = NULL;
    vhem_prediction *said = NULL;
    vhem_contents found = { 0 };

    FREE(vhem_classes_train, vhem_classes, ctx, data, NULL, NULL, &made_);
    FREE(vhem_crossvalidate, vhem_prediction, ctx, data, NULL, NULL, 2, 0, &made_);
    if (vhem_classes_train(ctx, data, NULL, NULL, &classes)
        || vhem_classes_predict(ctx, classes, data, 0, &said))
        return VHEM_ENUMERIC;
    FREE(vhem_classes_predict, vhem_prediction, ctx, classes, data, 0, &made_);
    FREE(vhem_judge, vhem_judgement, ctx, said, NULL, NULL, &made_);
    if (vhem_models_save(ctx, models, NULL, "m.json") || vhem_tree_save(ctx, tree, NULL, "t.json")
        || vhem_data_save(ctx, data, "d.csv") || vhem_classes_save(ctx, classes, NULL, "k.json"))
        return VHEM_EIO;
    vhem_free(said);
    vhem_free(classes);
    FREE(vhem_models_load, vhem_models, ctx, "m.json", &made_);
    FREE(vhem_tree_load, vhem_tree, ctx, "t.json", &made_);
    FREE(vhem_data_load, vhem_data, ctx, "d.csv", NULL, &made_);
    FREE(vhem_classes_load, vhem_classes, ctx, "k.json", &made_);
    FILE *f = fopen("tags.csv", "w");
    fputs("item,x,y\ns0,1,0\ns1,0,1\n", f);
    fclose(f);
    FREE(vhem_tags_load, vhem_tags, ctx, "tags.csv", &made_);
    if (vhem_load(ctx, "m.json", NULL, &found))
        return VHEM_EIO;
    vhem_free(found.models);
    return VHEM_OK;
}

static int freed(void)
{
    int wrong = free_models_and_clusters() || free_tasks() || free_classes_and_files();
    vhem_free(tree);
    vhem_free(models);
    vhem_free(data);
    vhem_free(ctx);
    return wrong;
}

/* ---- each in its own process --------------------------------------------------------------------------- */

static void refused(int k)
{
    vhem_status st = misuse[k].call();
    const char *said = vhem_ctx_error(ctx);
    if (st != VHEM_EINVAL || (misuse[k].text && !strstr(said, misuse[k].text))) {
        fprintf(stderr, "%s: %s, \"%s\"\n", misuse[k].name, vhem_status_text(st), said);
        _exit(1);
    }
}

/* What a child came to: it ends without a word, or says what is wrong. */
static int in_child(int k)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE);
        prepare();
        if (k >= 0)
            refused(k);
        else
            exit(freed()); /* with the checks that sanitizers make at the end */
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static void test_misuse_is_told(void **state)
{
    (void)state;
    int wrong = 0;
    for (int k = 0; k < (int)(sizeof misuse / sizeof *misuse); k++) {
        int status = in_child(k);
        if (WIFSIGNALED(status))
            fprintf(stderr, "%s: %s\n", misuse[k].name, strsignal(WTERMSIG(status)));
        wrong += status != 0;
    }
    assert_int_equal(wrong, 0);
}

static void test_free_releases_everything(void **state)
{
    (void)state;
    char folder[] = "/tmp/vhem-misuse-XXXXXX";
    char *here = getcwd(NULL, 0);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    int status = in_child(-1);
    const char *const files[] = { "m.json", "t.json", "d.csv", "k.json", "tags.csv" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    assert_int_equal(chdir(here), 0);
    rmdir(folder);
    free(here);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_misuse_is_told),
                                        cmocka_unit_test(test_views_of_nothing),
                                        cmocka_unit_test(test_free_releases_everything) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
