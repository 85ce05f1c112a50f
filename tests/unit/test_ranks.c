/* SPDX-License-Identifier: BSD-3-Clause */
/* test_ranks.c - jobs that two processes share: all results on both, the first failure on both, a stop on
 * both; tables of distances, which both have where both need them; sums over chunks, with the bits of one. */
#include "cluster_samples.h"

#include "methods/clustering.h"
#include "distance/distance.h"
#include "distance/row_blocks.h"
#include "parallel/sum.h"
#include "parallel/map.h"
#include "parallel/ranks.h"
#include "vhem.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 700 }; /* more than a round of both */

typedef struct { /* a process: its end of the line, and what it has come to */
    int fd;
    double made[N];
    int64_t fails, stops; /* a job that fails, one that stops; -1: none */
    int ran;
    int told[N]; /* how often the warning of each job was heard */
} side;

static vhem_status move(int fd, bool out, void *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t k = out ? write(fd, (char *)bytes + at, n - at) : read(fd, (char *)bytes + at, n - at);
        if (k <= 0)
            return VHEM_EIO;
        at += (size_t)k;
    }
    return VHEM_OK;
}

static int own_rank;

static vhem_status pass(void *arg, int from, int everyone, void **bytes, size_t *n, char *why)
{
    side *s = arg;
    bool out = from == own_rank;
    if (!everyone && from == 0)
        return VHEM_OK;
    vhem_status st = move(s->fd, out, n, sizeof *n);
    if (st == VHEM_OK && !out)
        *bytes = malloc(*n);
    if (st == VHEM_OK)
        st = move(s->fd, out, *bytes, *n);
    if (st != VHEM_OK)
        snprintf(why, VHEM_WHY, "rank %d: it is gone", 1 - own_rank);
    return st;
}

static vhem_status run(vhem_ctx *ctx, void *arg, int64_t i, int worker)
{
    side *s = arg;
    (void)worker;
#pragma omp atomic
    s->ran++;
    VH_CHECK(s->fails < 0 || i < s->fails, VHEM_ENUMERIC, "job %lld does not work", (long long)i);
    if (i == s->stops)
        vhem_ctx_stop(ctx->parent);
    s->made[i] = 1.0 / (double)(i + 1);
    if (i % 100 < 2)
        vh_log(ctx, VHEM_LOG_WARN, "job %lld warns", (long long)i);
    return VHEM_OK;
}

static void walk(vhem_ctx *ctx, void *arg, int64_t i, vh_serial *w)
{
    vh_serial_real(ctx, w, &((side *)arg)->made[i]);
}

static void hear(void *arg, int level, const char *text)
{
    side *s = arg;
    long long i;
    if (level == VHEM_LOG_WARN && sscanf(text, "job %lld warns", &i) == 1)
        s->told[i]++;
}

/* Every job that warns is heard once, also of the other process. */
static bool heard_all(const side *s)
{
    bool all = true;
    for (int i = 0; i < N; i++)
        all &= s->told[i] == (i % 100 < 2);
    return all;
}

/* What a process finds out, as bits: 1 all results, 2 job 300 failed, 4 stopped, 8 the other has other work,
 * 16 the other is gone. */
static int work(int rank, int fd, int64_t fails, int64_t stops, int64_t n)
{
    side s = { .fd = fd, .fails = fails, .stops = rank == 0 ? stops : -1 };
    const vhem_ranks ranks = { rank, 2, pass, &s };
    vhem_ctx_options opt;
    vhem_ctx *ctx = NULL;
    const vh_work jobs = { .n = n, .what = "test", .logs = true, .run = run, .walk = walk, .arg = &s };
    int64_t failed = -1;
    int found = 0;

    own_rank = rank;
    VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
    opt.threads = 1;
    opt.ranks = &ranks;
    opt.log = hear;
    opt.log_arg = &s;
    if (vhem_ctx_new(&opt, &ctx) != VHEM_OK)
        return 64;
    vhem_status st = vh_map(ctx, &jobs, &failed);
    bool all = st == VHEM_OK && s.ran < N && heard_all(&s);
    for (int i = 0; i < N; i++)
        all &= s.made[i] == 1.0 / (i + 1);
    found |= all ? 1 : 0;
    found |= st == VHEM_ENUMERIC && failed == 300 && strstr(ctx->error, "job 300 does not work") ? 2 : 0;
    found |= st == VHEM_ESTOPPED && vh_stopped(ctx) && s.ran < N / 2 ? 4 : 0;
    found |= st == VHEM_EINVAL && strstr(ctx->error, "do all see the same files?") ? 8 : 0;
    found |= st == VHEM_EIO && strstr(ctx->error, "it is gone") ? 16 : 0;
    vhem_free(ctx);
    close(fd);
    return found;
}

static void both(int64_t fails, int64_t stops, int64_t n_other, int want, int want_other)
{
    int fd[2], status = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    pid_t other = fork();
    if (other == 0) {
        close(fd[0]);
        _exit(work(1, fd[1], fails, stops, n_other));
    }
    close(fd[1]);
    int found = work(0, fd[0], fails, stops, N);
    waitpid(other, &status, 0);
    assert_int_equal(found, want);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, want_other);
}

static void test_two(void **state)
{
    (void)state;
    both(-1, -1, N, 1, 1);
    both(300, -1, N, 2, 2);
    both(-1, 10, N, 4, 4);
    both(-1, -1, N - 1, 16, 8);
}

/* ---- tables -------------------------------------------------------------------------------------------- */

enum { MODELS = 530, GROUPS = 2 }; /* more than a strip */

typedef struct {
    vh_h3m *h3m;
    double *D;  /* [MODELS][MODELS]  by one process */
    int *label; /* likewise */
    int strips; /* taken */
} known;

static vhem_status make_row_block(vhem_ctx *ctx, void *arg, int64_t first, int64_t n, double *x, size_t *size)
{
    (void)arg;
    (void)n;
    (void)x;
    *size = 0;
    VH_CHECK(first != 1, VHEM_ENUMERIC, "strip %lld does not work", (long long)first);
    return VHEM_OK;
}

static void take_row_block(void *arg, int64_t first, int64_t n, const double *x)
{
    (void)first;
    (void)n;
    (void)x;
    ((known *)arg)->strips++;
}

/* What a process finds out, as bits: 1 the table is right, 2 a method that needs a table finds its clusters,
 * 4 it knows of the strip that failed. */
static int work_with_tables(vhem_ctx *ctx, known *k)
{
    double *D = calloc((size_t)MODELS * MODELS, sizeof *D);
    vhem_distance_options opt;
    vhem_cluster_options how = cluster_options();
    vh_clustering *c = NULL;
    const vh_row_blocks strips = { "test", 4, 1, 1, make_row_block, take_row_block, k };
    int found = 0;

    VHEM_INIT(VHEM_DISTANCE_OPTIONS, &opt);
    opt.tau = 2;
    opt.symmetric = 1;
    vhem_status st = vh_h3m_distance(ctx, k->h3m, k->h3m, &opt, D, NULL);
    found |= st == VHEM_OK && memcmp(D, k->D, sizeof *D * MODELS * MODELS) == 0 ? 1 : 0;
    how.method = "kl-sc";
    how.restarts = 1;
    how.tau = 2;
    st = call_cluster_hmms(ctx, k->h3m, GROUPS, &how, &c);
    found |= st == VHEM_OK && memcmp(c->label, k->label, sizeof *c->label * MODELS) == 0 ? 2 : 0;
    st = vh_row_blocks_run(ctx, &strips);
    found |= st == VHEM_ENUMERIC && strstr(ctx->error, "strip 1 does not work") ? 4 : 0;
    vh_clustering_free(c);
    free(D);
    return found;
}

static int table_rank(int rank, int fd, known *k)
{
    side s = { .fd = fd };
    vhem_ranks ranks = { rank, 2, pass, &s };
    vhem_ctx_options opt;
    vhem_ctx *ctx = NULL;

    own_rank = rank;
    VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
    opt.threads = 1;
    opt.seed = 1;
    opt.ranks = &ranks;
    if (vhem_ctx_new(&opt, &ctx) != VHEM_OK)
        return 64;
    ranks = (vhem_ranks){ .rank = 7 }; /* the context has its own copy */
    int found = work_with_tables(ctx, k);
    vhem_free(ctx);
    close(fd);
    return found;
}

static void test_tables(void **state)
{
    vhem_ctx *ctx = test_ctx_with(NULL, 1, 1);
    known k = { .h3m = clustered_h3m(ctx, 5, GROUPS, MODELS / GROUPS, 1, 1, 2, 0, 0.3) };
    vhem_distance_options opt;
    vhem_cluster_options how = cluster_options();
    vh_clustering *c = NULL;
    int fd[2], status = 0;
    (void)state;

    k.D = calloc((size_t)MODELS * MODELS, sizeof *k.D);
    VHEM_INIT(VHEM_DISTANCE_OPTIONS, &opt);
    opt.tau = 2;
    opt.symmetric = 1;
    assert_ok(ctx, vh_h3m_distance(ctx, k.h3m, k.h3m, &opt, k.D, NULL));
    how.method = "kl-sc";
    how.restarts = 1;
    how.tau = 2;
    assert_ok(ctx, call_cluster_hmms(ctx, k.h3m, GROUPS, &how, &c));
    assert_true(found_clusters(c, GROUPS));
    k.label = c->label;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    pid_t other = fork();
    if (other == 0) {
        close(fd[0]);
        _exit(table_rank(1, fd[1], &k));
    }
    close(fd[1]);
    int found = table_rank(0, fd[0], &k);
    waitpid(other, &status, 0);
    assert_int_equal(found, 7);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 7);
    vh_clustering_free(c);
    free(k.D);
    vh_h3m_free(k.h3m);
    vhem_free(ctx);
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

enum { CHUNKS = 13, EACH = 3 };

typedef struct {
    double row[CHUNKS * EACH];
    int64_t fails; /* a chunk that fails; -1: none */
    int ran;
} sums;

static vhem_status run_chunk(vhem_ctx *ctx, void *arg, int64_t chunk, int worker, double *block)
{
    sums *s = arg;
    (void)worker;
    s->ran++;
    VH_CHECK(chunk != s->fails, VHEM_ENUMERIC, "chunk %lld does not work", (long long)chunk);
    for (int i = 0; i < EACH; i++)
        s->row[chunk * EACH + i] = 1 / (double)(chunk * EACH + i + 3);
    for (int i = 0; block && i < EACH; i++)
        block[0] += s->row[chunk * EACH + i];
    return VHEM_OK;
}

static void rows_of(const void *arg, int64_t first, int64_t end, int64_t *lo, int64_t *hi)
{
    (void)arg;
    *lo = first * EACH;
    *hi = end * EACH;
}

/* What a process finds out, as bits: 1 the sum and its table, 2 the table without a sum, 4 the chunk that
 * failed, 8 a sum after that is right again.  A process that is alone has total and row right. */
static int add_up(vhem_ctx *ctx, double *total, sums *s, const sums *want, double want_total)
{
    const vh_chunks chunks = { .n = CHUNKS, .threads = 1, .run = run_chunk, .arg = s };
    const vh_sum_table table[] = { { s->row, sizeof(double), rows_of, NULL }, { NULL, 8, rows_of, NULL } };
    const vh_shared shared = { .table = table, .tables = 2 };
    VH_OWN(vh_tree_sum) *sum = NULL;
    int found = 0;

    s->fails = -1;
    if (vh_tree_sum_new(ctx, 1, NULL, NULL, &sum) != VHEM_OK
        || vh_sum(ctx, &chunks, &shared, sum, total) != VHEM_OK)
        found |= 64;
    if (!want)
        return found;
    found |= *total == want_total && memcmp(s->row, want->row, sizeof s->row) == 0 && s->ran < CHUNKS ? 1 : 0;
    memset(s->row, 0, sizeof s->row);
    found |=
        vh_sum(ctx, &chunks, &shared, NULL, NULL) == VHEM_OK && memcmp(s->row, want->row, sizeof s->row) == 0
            ? 2
            : 0;
    s->fails = 9;
    found |= vh_sum(ctx, &chunks, &shared, sum, total) == VHEM_ENUMERIC
                     && strcmp(ctx->error, "chunk 9 does not work") == 0
                 ? 4
                 : 0;
    s->fails = -1;
    *total = 0;
    found |= vh_sum(ctx, &chunks, &shared, sum, total) == VHEM_OK && *total == want_total ? 8 : 0;
    return found;
}

static int sum_rank(int rank, int fd, const sums *want, double want_total)
{
    side s = { .fd = fd };
    const vhem_ranks ranks = { rank, 2, pass, &s };
    vhem_ctx_options opt;
    vhem_ctx *ctx = NULL;
    sums own = { .ran = 0 };
    double total = 0;

    own_rank = rank;
    VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
    opt.threads = 1;
    opt.ranks = &ranks;
    if (vhem_ctx_new(&opt, &ctx) != VHEM_OK)
        return 64;
    int found = add_up(ctx, &total, &own, want, want_total);
    vhem_free(ctx);
    close(fd);
    return found;
}

static void test_sums(void **state)
{
    vhem_ctx *ctx = test_ctx_with(NULL, 1, 1);
    sums one = { .ran = 0 };
    double total = 0;
    int fd[2], status = 0;
    (void)state;

    assert_int_equal(add_up(ctx, &total, &one, NULL, 0), 0);
    assert_int_equal(one.ran, CHUNKS);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    pid_t other = fork();
    if (other == 0) {
        close(fd[0]);
        _exit(sum_rank(1, fd[1], &one, total));
    }
    close(fd[1]);
    int found = sum_rank(0, fd[0], &one, total);
    waitpid(other, &status, 0);
    assert_int_equal(found, 15);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 15);
    vhem_free(ctx);
}

/* ---- processes that are elsewhere ---------------------------------------------------------------------- */

typedef struct { /* what process 1 does differently */
    const char *sentence;
    bool fresh;                 /* it makes a new context before its second call, */
    bool strips;                /* which is another one */
    int64_t seed;               /* of its context */
    uint64_t data, fingerprint; /* fingerprints */
} odd_one;

static vhem_status call(vhem_ctx *ctx, side *s, const odd_one *o, bool odd)
{
    const vh_work jobs = { .n = N, .what = "test", .run = run, .walk = walk, .arg = s };
    known k = { 0 };
    const vh_row_blocks strips = { "test", 4, 1, 1, make_row_block, take_row_block, &k };
    const vh_chunks chunks = { .n = CHUNKS, .threads = 1, .run = run_chunk, .arg = &(sums){ .fails = -1 } };
    vhem_fit_options opt;
    int64_t failed;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    vhem_status st =
        vh_ranks_call(ctx, odd && o->strips ? "compare" : "fit", VHEM_FIT_OPTIONS, &opt, odd ? o->data : 0);
    if (st != VHEM_OK)
        return st;
    if (o->fingerprint)
        return vh_sum(ctx, &chunks, &(vh_shared){ .fingerprint = odd ? o->fingerprint : 1 }, NULL, NULL);
    return odd && o->strips ? vh_row_blocks_run(ctx, &strips) : vh_map(ctx, &jobs, &failed);
}

/* Both make a first call together, and a second that is not the same.  Process 1 says so, process 0 finds it
 * gone; as bits: 1 process 0 is as it should be, 2 so is process 1, 64 the first call failed, 128 it
 * shares more after that. */
static int part_ways(int rank, int fd, const odd_one *o)
{
    side s = { .fd = fd, .fails = -1, .stops = -1 };
    const vhem_ranks ranks = { rank, 2, pass, &s };
    const odd_one same = { .sentence = NULL };
    vhem_ctx_options opt;
    vhem_ctx *ctx = NULL;
    int found = 0;

    own_rank = rank;
    VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
    opt.threads = 1;
    opt.ranks = &ranks;
    if (vhem_ctx_new(&opt, &ctx) != VHEM_OK || call(ctx, &s, &same, false) != VHEM_OK)
        found |= 64;
    if (rank == 1 && (o->fresh || o->seed)) {
        vhem_free(ctx);
        opt.seed = o->seed;
        found |= vhem_ctx_new(&opt, &ctx) == VHEM_OK ? 0 : 64;
        if (o->seed)
            ctx->step = 2; /* a seed alone is to be the difference */
    }
    vhem_status st = call(ctx, &s, o, rank == 1);
    found |= rank == 0 && st == VHEM_EIO && strstr(ctx->error, "it is gone") ? 1 : 0;
    found |= rank == 1 && st == VHEM_EINVAL && strstr(ctx->error, o->sentence) ? 2 : 0;
    /* A process that has parted shares nothing more: the same sentence at once, and no byte to the other. */
    s.fd = -1;
    char why[256];
    snprintf(why, sizeof why, "%.*s", (int)sizeof why - 1, ctx->error);
    found |= call(ctx, &s, &same, false) != st || strncmp(ctx->error, why, strlen(why)) != 0 ? 128 : 0;
    found |= vh_ranks_end(ctx, VHEM_OK) != st || ctx->parted != VHEM_OK ? 128 : 0;
    if (rank == 1 && !(found & 2))
        fprintf(stderr, "%s\n", ctx->error);
    vhem_free(ctx);
    close(fd);
    return found;
}

static void test_elsewhere(void **state)
{
    static const char other[] =
        "ranks 1 and 0 are both at step 3 of fit, but have different options, backends, "
        "kernels of BLAS, data or models";
    const odd_one odd[] = {
        { .fresh = true, .sentence = "rank 1 is at step 1 of fit, but rank 0 at step 3 of fit" },
        { .strips = true, .sentence = "rank 1 is at step 3 of compare, but rank 0 at step 3 of fit" },
        { .seed = 5, .sentence = other },
        { .data = 7, .sentence = other },
        { .fingerprint = 9, .sentence = other },
    };
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        int fd[2], status = 0;
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
        pid_t other_process = fork();
        if (other_process == 0) {
            close(fd[0]);
            _exit(part_ways(1, fd[1], &odd[i]));
        }
        close(fd[1]);
        int found = part_ways(0, fd[0], &odd[i]);
        waitpid(other_process, &status, 0);
        assert_int_equal(found, 1);
        assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 2);
    }
}

/* Ranks that cannot be, and a store, which one process alone can write. */
static void test_wrong(void **state)
{
    const vhem_ranks wrong[] = { { -1, 2, pass, NULL },
                                 { 2, 2, pass, NULL },
                                 { 0, 0, pass, NULL },
                                 { 0, 2, NULL, NULL } },
                     right = { 1, 2, pass, NULL };
    const double x[] = { 1, 2, 1, 3 };
    const int64_t T[] = { 4 };
    vhem_ctx_options opt;
    vhem_fit_options fit;
    vhem_ctx *ctx = NULL;
    vhem_data *data = NULL;
    vhem_models *models = NULL;
    (void)state;
    VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        opt.ranks = &wrong[i];
        assert_int_equal(vhem_ctx_new(&opt, &ctx), VHEM_EINVAL);
        assert_null(ctx);
    }
    opt.ranks = &right;
    assert_int_equal(vhem_ctx_new(&opt, &ctx), VHEM_OK);
    assert_ok(ctx, vhem_data_wrap(ctx, 1, T, 1, x, NULL, &data));
    VHEM_INIT(VHEM_FIT_OPTIONS, &fit);
    fit.S = 1;
    fit.store = "nowhere";
    assert_fails(ctx, vhem_fit(ctx, data, &fit, &models, NULL), VHEM_EINVAL,
                 "a store is written by one process");
    vhem_free(data);
    vhem_free(ctx);
}

/* Few HMMs are clustered by each process in full; process `stops` has been asked to stop. */
static vhem_status cluster_few(int rank, int fd, int stops)
{
    side s = { .fd = fd, .fails = -1, .stops = -1 };
    const vhem_ranks ranks = { rank, 2, pass, &s };
    const int64_t K = 3;
    vhem_ctx_options opt;
    vhem_ctx *ctx = NULL;
    vhem_tree *tree = NULL;

    own_rank = rank;
    VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
    opt.threads = 1;
    opt.ranks = &ranks;
    vhem_status st = vhem_ctx_new(&opt, &ctx);
    if (st != VHEM_OK)
        return st;
    vh_h3m *h3m = clustered_h3m(ctx, 5, 3, 30, 2, 1, 2, 0, 8);
    const vhem_source source = { .models = &(vhem_models){ .kind = VHEM_HMMS, .h3m = h3m } };
    if (rank == stops)
        vhem_ctx_stop(ctx);
    st = vhem_cluster(ctx, &source, 1, &K, NULL, &tree);
    vhem_free(tree);
    vh_h3m_free(h3m);
    vhem_free(ctx);
    close(fd);
    return st;
}

/* Work that each process does in full: what one was stopped in, all were. */
static void test_each_in_full(void **state)
{
    (void)state;
    for (int stops = -1; stops < 2; stops++) {
        int fd[2], status = 0;
        vhem_status wanted = stops < 0 ? VHEM_OK : VHEM_ESTOPPED;
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
        pid_t other_process = fork();
        if (other_process == 0) {
            close(fd[0]);
            _exit(cluster_few(1, fd[1], stops));
        }
        close(fd[1]);
        assert_int_equal(cluster_few(0, fd[0], stops), wanted);
        waitpid(other_process, &status, 0);
        assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_two),   cmocka_unit_test(test_tables),
                                        cmocka_unit_test(test_sums),  cmocka_unit_test(test_elsewhere),
                                        cmocka_unit_test(test_wrong), cmocka_unit_test(test_each_in_full) };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
