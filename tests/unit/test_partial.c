/* SPDX-License-Identifier: BSD-3-Clause */
/* test_partial.c - sums over models that an executor has made, in parts and in any order: the same bits as
 * from one process. */
#include "on_disk.h"
#include "support.h"

#include "core/hash.h"
#include "hmm/convert.h"
#include "hmm/missing_columns.h"
#include "models/models.h"
#include "distributed/partial.h"
#include "vhem.h"
#include "vhem/distributed.h"

#include <math.h>

enum { K = 5000, MOST = 64 };

typedef struct {
    vhem_ctx *ctx; /* of the workers */
    const vhem_models *models;
    vh_rng rng;
    int parts;  /* at most, of which each task is made */
    int tasks;  /* so far */
    int broken; /* what the executor does wrong: 2 a part is missing, 3 it fails, 5 it hands over nothing */
} cutter;

static vhem_partial *make_part(cutter *c, const vhem_task *task, int64_t first, int64_t n)
{
    vhem_partial *p = NULL, *back = NULL;
    void *bytes = NULL;
    size_t size = 0;
    assert_ok(c->ctx, vhem_expect(c->ctx, c->models, task, first, n, &p));
    assert_ok(c->ctx, vhem_partial_write(c->ctx, p, &bytes, &size));
    assert_ok(c->ctx, vhem_partial_read(c->ctx, bytes, size, &back));
    ((char *)bytes)[size / 2] ^= 1;
    assert_fails(c->ctx, vhem_partial_read(c->ctx, bytes, size, &p), VHEM_EFORMAT, "checksum");
    assert_fails(c->ctx, vhem_partial_read(c->ctx, bytes, 3, &p), VHEM_EFORMAT, "partial sum");
    vhem_free(bytes);
    vhem_free(p);
    return back;
}

static vhem_status cut(void *arg, const vhem_task *task, vhem_partial **total, char *why)
{
    cutter *c = arg;
    vhem_partial *part[MOST] = { 0 };
    int n = 0;
    c->tasks++;
    if (c->broken == 3) {
        snprintf(why, VHEM_WHY, "rank 2: it is on fire");
        return VHEM_EBACKEND;
    }
    for (int64_t first = 0, some; first < task->chunks; first += some) {
        some = n == c->parts - 1 ? task->chunks - first : 1 + (int64_t)vh_rng_below(&c->rng, 4);
        some = some < task->chunks - first ? some : task->chunks - first;
        if (c->broken != 2 || first > 0)
            part[n++] = make_part(c, task, first, some);
    }
    for (int k = n - 1; k > 0; k--) { /* in any order */
        int with = (int)vh_rng_below(&c->rng, k + 1);
        vhem_partial *t = part[k];
        part[k] = part[with];
        part[with] = t;
    }
    for (int k = 1; k < n; k++) {
        assert_ok(c->ctx, vhem_partial_merge(c->ctx, part[0], part[k]));
        if (k == n - 1)
            assert_fails(c->ctx, vhem_partial_merge(c->ctx, part[0], part[k]), VHEM_EINVAL, "already");
        vhem_free(part[k]);
    }
    *total = part[0];
    return VHEM_OK;
}

/* lacking: every third HMM has no column 1, or no column 0; the first 1200 have both. */
static vhem_models *sample(vhem_ctx *ctx, bool lacking)
{
    vh_rng rng;
    vhem_models *m = NULL;
    vh_rng_init(&rng, 9, VH_RNG_TEST, 0);
    vh_h3m *all = random_h3m(ctx, &rng, K, 2, 1, 2, 0, 1);
    double sum = 0;
    for (int i = 0; i < K; i++) {
        all->omega[i] = 1 + (double)vh_rng_below(&rng, 3);
        for (int q = 0; q < 4; q++)
            vh_hmm_param(all, &all->hmm[i], 0)[q] += 10 * (i % 3);
        sum += all->omega[i];
    }
    for (int i = 0; i < K; i++)
        all->omega[i] /= sum;
    for (int i = 1200; lacking && i < K; i += 3)
        vh_hmm_forget(all, &all->hmm[i], i % 2);
    vh_h3m_settle_family(all);
    assert_ok(ctx, vh_models_take_hmms(ctx, all, &m));
    return m;
}

static vhem_status clusters(vhem_ctx *ctx, const vhem_models *m, const vhem_executor *executor, int weighted,
                            vhem_tree **tree)
{
    vhem_cluster_options o;
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &o);
    o.search = "restarts";
    o.restarts = 2;
    o.soft = 1;
    o.max_iter = 3;
    o.tau = 3;
    o.weighted_omega = weighted;
    o.executor = executor;
    return vhem_cluster(ctx, &(vhem_source){ .models = m }, 2, (const int64_t[]){ 4, 2 }, &o, tree);
}

static void compare(const vhem_tree *a, const vhem_tree *b)
{
    for (int l = 0; l < 2; l++) {
        const vhem_clustering *x = vhem_tree_level(a, l), *y = vhem_tree_level(b, l);
        size_t Kb = (size_t)x->Kb, Kr = (size_t)x->Kr;
        assert_int_equal(x->n_iter, y->n_iter);
        assert_memory_equal(x->bound, y->bound, (size_t)(x->n_iter + 1) * sizeof *x->bound);
        assert_memory_equal(x->label, y->label, Kb * sizeof *x->label);
        assert_true(vhem_models_compare(x->centers, y->centers) == 0);
        assert_memory_equal(x->z, y->z, Kb * Kr * sizeof *x->z);
        assert_memory_equal(x->L_hmm, y->L_hmm, Kb * Kr * sizeof *x->L_hmm);
        assert_null(y->options->executor);
    }
}

static void check_bits(bool lacking)
{
    vhem_ctx *ctx = test_ctx(), *other = test_ctx();
    vhem_models *m = sample(ctx, lacking), *disk;
    char path[512];
    vhem_tree *a = NULL, *b = NULL;
    cutter c = { .ctx = other };
    const vhem_executor executor = { cut, &c };
    vh_rng_init(&c.rng, 3, VH_RNG_TEST, 0);
    snprintf(path, sizeof path, "%s", test_scratch("partial"));
    disk = on_disk(ctx, m, 3, path);
    for (int k = 0; k < (lacking ? 2 : 4); k++) {
        const vhem_models *from = k % 2 ? disk : m;
        c.models = from;
        c.parts = k < 2 ? MOST : 1;
        c.tasks = 0;
        assert_ok(ctx, clusters(ctx, m, NULL, k / 2, &a));
        assert_ok(ctx, clusters(ctx, from, &executor, k / 2, &b));
        assert_true(c.tasks > 4 && (!lacking || vh_hmm_lacks(m->h3m, &m->h3m->hmm[1200], 0)));
        compare(a, b);
        vhem_free(a);
        vhem_free(b);
        a = b = NULL;
    }
    assert_null(disk->h3m);
    vhem_free(disk);
    on_disk(ctx, m, 0, path);
    vhem_free(m);
    vhem_free(other);
    vhem_free(ctx);
}

static void same_bits(void **state)
{
    (void)state;
    NEEDS_HDF5();
    check_bits(false);
}

static void same_bits_lacking(void **state)
{
    (void)state;
    NEEDS_HDF5();
    check_bits(true);
}

/* A loop of one's own, with the sums of each task made in two parts: the bounds, repairs and centres of
 * vhem_cluster. */
static void check_loop(bool lacking)
{
    vhem_ctx *ctx = test_ctx();
    vhem_models *m = sample(ctx, lacking);
    vhem_tree *tree = NULL;
    vhem_task *first = NULL;
    vhem_step *now = NULL, *last = NULL;
    vhem_cluster_options o;
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &o);
    o.max_iter = 6;
    o.tau = 3;
    o.repair = 1;
    o.cov_floor = 1e-4;
    vh_h3m *start = NULL;
    assert_ok(ctx, vh_h3m_subset(ctx, m->h3m, (const int64_t[]){ 0, 3, 6, 9 }, 4, &start));
    for (int e = 0; e < 4; e++)
        vh_hmm_param(start, &start->hmm[2], 0)[e] = 1e6; /* nobody is near it: it is seeded anew */
    vhem_models centers = vh_models_of_hmms(start);
    o.start = &centers;
    assert_ok(ctx, vhem_cluster(ctx, &(vhem_source){ .models = m }, 1, (const int64_t[]){ 4 }, &o, &tree));
    const vhem_clustering *c = vhem_tree_level(tree, 0);
    assert_true(c->n_iter > 2 && c->n_empty > 0);
    assert_ok(ctx, vhem_task_new(ctx, m, &centers, &o, &first));
    const vhem_task *task = first;
    for (int k = 0;; k++) {
        vhem_partial *a = NULL, *b = NULL;
        assert_ok(ctx, vhem_expect(ctx, m, task, 7, task->chunks - 7, &a));
        assert_ok(ctx, vhem_expect(ctx, m, task, 0, 7, &b));
        assert_fails(ctx, vhem_maximise(ctx, m, task, b, &now), VHEM_EINVAL, "chunk 7 of 10 is missing");
        assert_ok(ctx, vhem_partial_merge(ctx, a, b));
        assert_ok(ctx, vhem_maximise(ctx, m, task, a, &now));
        assert_int_equal(now->n_iter, k);
        assert_true(now->J == c->bound[k]);
        vhem_free(a);
        vhem_free(b);
        vhem_free(last);
        last = now;
        task = now->next;
        if (!task)
            break;
    }
    assert_int_equal(last->n_iter, c->n_iter);
    assert_int_equal(last->converged, c->converged);
    assert_int_equal(last->n_empty, c->n_empty);
    assert_true(vhem_models_compare(last->centers, c->centers) == 0);
    vhem_free(last);
    vhem_free(first);
    vhem_free(tree);
    vh_h3m_free(start);
    vhem_free(m);
    vhem_free(ctx);
}

static void own_loop(void **state)
{
    (void)state;
    check_loop(false);
    check_loop(true);
}

/* What is wrong is said, and there is no result. */
static vhem_status spoil(void *arg, const vhem_task *task, vhem_partial **total, char *why)
{
    cutter *c = arg;
    vhem_task bad = *task;
    vhem_partial *p = NULL;
    char *bytes = malloc(task->n);
    vhem_ctx *ref = test_ctx_with("ref", 1, 1);

    memcpy(bytes, task->bytes, task->n);
    bytes[task->n / 2] ^= 1;
    bad.bytes = bytes;
    assert_fails(c->ctx, vhem_expect(c->ctx, c->models, &bad, 0, 1, &p), VHEM_EFORMAT, "checksum");
    bad = (vhem_task){ task->bytes, 20, task->chunks };
    assert_fails(c->ctx, vhem_expect(c->ctx, c->models, &bad, 0, 1, &p), VHEM_EFORMAT, "checksum");
    assert_fails(c->ctx, vhem_expect(c->ctx, c->models, task, 9, 2, &p), VHEM_EINVAL,
                 "chunks 9 to 10: there are 10");
    assert_fails(c->ctx, vhem_expect(c->ctx, c->models, task, 0, 0, &p), VHEM_EINVAL, "chunks");
    if (strcmp(vhem_ctx_backend(c->ctx), "ref") != 0)
        assert_fails(ref, vhem_expect(ref, c->models, task, 0, 1, &p), VHEM_EBACKEND,
                     "this process uses ref");
    free(bytes);
    vhem_free(ref);
    if (c->broken == 5) /* nothing at all */
        return VHEM_OK;
    return cut(arg, task, total, why);
}

static void wrong(void **state)
{
    static const struct {
        int broken;
        vhem_status st;
        const char *text;
    } cases[] = { { 2, VHEM_EINVAL, "chunk 0 of 10 is missing" },
                  { 3, VHEM_EBACKEND, "rank 2: it is on fire" },
                  { 5, VHEM_EINVAL, "no sums" } };
    vhem_ctx *ctx = test_ctx(), *other = test_ctx();
    vhem_models *m = sample(ctx, false);
    cutter c = { .ctx = other, .models = m, .parts = MOST };
    const vhem_executor executor = { spoil, &c };
    vhem_tree *tree = NULL;
    (void)state;
    vh_rng_init(&c.rng, 3, VH_RNG_TEST, 0);
    for (int k = 0; k < 3; k++) {
        c.broken = cases[k].broken;
        assert_fails(ctx, clusters(ctx, m, &executor, 0, &tree), cases[k].st, cases[k].text);
        assert_null(tree);
    }
    vhem_free(m);
    vhem_free(other);
    vhem_free(ctx);
}

/* ---- bytes that are not what they claim to be ---------------------------------------------------------- */

static void mend(void *bytes, size_t n)
{
    uint64_t check = vh_hash_chain(0, bytes, n - sizeof check);
    memcpy((char *)bytes + n - sizeof check, &check, sizeof check);
}

/* A copy of the task with another number in place of the first one that is `old`. */
static vhem_task with_number(const vhem_task *task, const void *old, const void *other)
{
    vhem_task out = { malloc(task->n), task->n, task->chunks };
    char *at = (char *)out.bytes;
    memcpy(at, task->bytes, task->n);
    while (memcmp(at, old, 8) != 0)
        assert_true(++at < (char *)out.bytes + task->n - 8);
    memcpy(at, other, 8);
    mend((void *)out.bytes, out.n);
    return out;
}

static void refused_task(vhem_ctx *ctx, const vhem_models *m, const vhem_task *task, double old, double other)
{
    vhem_partial *p = NULL;
    vhem_task t = with_number(task, &old, &other);
    assert_int_not_equal(vhem_expect(ctx, m, &t, 0, 1, &p), VHEM_OK);
    assert_null(p);
    free((void *)t.bytes);
}

/* A base HMM may lack a column, a centre may not. */
static void refused_lacking(vhem_ctx *ctx, const vhem_models *m, const vhem_task *task,
                            const vhem_hmm_view *h)
{
    const double *gone[] = { &h->mu[0], &h->mu[1], &h->cov[0], &h->cov[1] }, nan = NAN;
    vhem_task lacking = with_number(task, gone[0], &nan);
    vhem_partial *p = NULL;
    for (int k = 1; k < 4; k++) {
        vhem_task t = with_number(&lacking, gone[k], &nan);
        free((void *)lacking.bytes);
        lacking = t;
    }
    assert_fails(ctx, vhem_expect(ctx, m, &lacking, 0, 1, &p), VHEM_EFORMAT, "lacks a column");
    free((void *)lacking.bytes);
}

/* What comes from another process is looked at before it is used. */
static void damaged(void **state)
{
    enum { MODELS = 6 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vhem_models *m = NULL;
    vhem_cluster_options opt;
    vhem_task *task = NULL;
    vhem_partial *p = NULL, *other = NULL;
    vhem_step *step = NULL;
    int64_t tau = 23, none = 0; /* no length of a text before it */
    (void)state;
    vh_rng_init(&rng, 12, VH_RNG_TEST, 0);
    assert_ok(ctx, vh_models_take_hmms(ctx, random_h3m(ctx, &rng, MODELS, 2, 1, 1, 0, 1), &m));
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    opt.tau = (int)tau;
    opt.max_iter = 20;
    assert_ok(ctx, vhem_task_new(ctx, m, m, &opt, &task));
    vhem_task t = with_number(task, &tau, &none);
    assert_fails(ctx, vhem_expect(ctx, m, &t, 0, 1, &p), VHEM_EFORMAT, "tau 0");
    free((void *)t.bytes);
    char ours[8], theirs[8]; /* the first letters of the version, after the mark and its length */
    memcpy(ours, (const char *)task->bytes + 16, sizeof ours);
    memcpy(theirs, ours, sizeof theirs);
    theirs[0] = '9';
    t = with_number(task, ours, theirs);
    assert_fails(ctx, vhem_expect(ctx, m, &t, 0, 1, &p), VHEM_EINVAL, "the task was made by version 9.");
    free((void *)t.bytes);
    vhem_hmm_view h;
    assert_ok(ctx, vhem_models_hmm(m, 0, &h));
    refused_task(ctx, m, task, h.mu[0], NAN);
    refused_task(ctx, m, task, h.A[0], -1);
    refused_task(ctx, m, task, h.cov[0], -1);
    refused_lacking(ctx, m, task, &h);
    assert_ok(ctx, vhem_expect(ctx, m, task, 0, 1, &p));
    other = p; /* sums whose empty cluster would begin again at an HMM that is not there */
    const vh_sum_node *node;
    vh_tree_sum_nodes(other->sum, &node);
    vh_reduce_sums sums = vh_reduce_sums_at(&other->sizes, node[0].block);
    sums.sum_z[0] = 0;
    sums.members[1] = 5;
    for (int j = 0; j < MODELS; j++)
        sums.worst[j] = 1e18;
    assert_fails(ctx, vhem_maximise(ctx, m, task, other, &step), VHEM_EFORMAT, "as its worst");
    sums.stats.T[0] = NAN;
    void *bytes = NULL;
    size_t n = 0;
    assert_ok(ctx, vhem_partial_write(ctx, other, &bytes, &n));
    assert_fails(ctx, vhem_partial_read(ctx, bytes, n, &p), VHEM_EFORMAT, "not a number");
    vhem_free(bytes);
    vhem_free(other);
    vhem_free(task);
    vhem_free(m);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_bits), cmocka_unit_test(same_bits_lacking),
                                        cmocka_unit_test(own_loop), cmocka_unit_test(wrong),
                                        cmocka_unit_test(damaged) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
