/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sequences.c - whole jobs of sequences: every usable backend against one that copies everything and
 * works on whole jobs, on random shapes and extremes; the same bits at any number of threads and whatever
 * tables are asked for; and fits and scores through that backend. */
#include "copy_backend.h"

#include "fit/lengths.h"
#include "math/blas.h"
#include "vhem.h"

/* ---- random jobs --------------------------------------------------------------------------------------- */

typedef struct {
    int K, S, M, d, full, N, T; /* T: of the longest sequence */
    int per_set;                /* sequences of a set: up to so many; 0: no sets */
    double spread, weight;      /* of the means; of the sequences, small ones make soft assignments */
    int chain;                  /* zeros in A */
} shape;

typedef struct {
    vh_h3m *h3m;
    vhem_data data; /* a view of `owner` with weights of its own */
    vhem_data *owner;
    double *y, *xs, *log_omega;
    int64_t frames;
    int64_t *seq, *first;
    int n_set;
    vh_packed *pk;
} problem;

static void random_chain(vh_rng *rng, vh_h3m *h3m)
{
    for (int64_t i = 0; i < h3m->K; i++) {
        vh_hmm *h = &h3m->hmm[i];
        for (int s = 0; s < h->S; s++)
            for (int q = 0; q < h->S; q++)
                h->A[s * h->S + q] = q == s ? (h->S > 1 ? 0.9 : 1) : q == (s + 1) % h->S ? 0.1 : 0;
        memset(h->pi, 0, sizeof *h->pi * (size_t)h->S);
        h->pi[vh_rng_below(rng, h->S)] = 1;
    }
}

/* Sets in the order of the sequences, every fourth one without any. */
static void make_sets(vh_rng *rng, const shape *c, problem *p)
{
    p->first = calloc(2 * (size_t)c->N + 8, sizeof *p->first);
    for (int at = 0; c->per_set > 0 && at < c->N; p->n_set++) {
        at += p->n_set % 4 == 2 ? 0 : 1 + (int)vh_rng_below(rng, c->per_set);
        p->first[p->n_set + 1] = at < c->N ? at : c->N;
    }
}

static void make_problem(vhem_ctx *ctx, const shape *c, int number, problem *p)
{
    vh_rng rng;
    int *T = calloc((size_t)c->N, sizeof *T);
    *p = (problem){ 0 };
    vh_rng_init(&rng, 611, VH_RNG_TEST, (uint64_t)number);
    for (int n = 0; n < c->N; n++)
        p->frames += T[n] = n % 7 == 3 ? 1 : 1 + (int)vh_rng_below(&rng, c->T);
    p->h3m = random_h3m(ctx, &rng, c->K, c->S, c->M, c->d, c->full, c->spread);
    if (c->chain)
        random_chain(&rng, p->h3m);
    p->y = random_frames(&rng, p->frames, c->d, c->spread);
    p->owner = wrap(ctx, c->N, T, c->d, p->y);
    p->data = *p->owner;
    p->data.weight = calloc((size_t)c->N, sizeof(double));
    p->seq = calloc((size_t)c->N, sizeof *p->seq);
    p->log_omega = calloc((size_t)c->K, sizeof(double));
    p->xs = calloc(2 * (size_t)c->d, sizeof(double));
    for (int n = 0; n < c->N; n++) {
        p->data.weight[n] = n % 11 == 5 ? 0 : c->weight * (0.5 + vh_rng_uniform(&rng));
        p->seq[n] = c->N - 1 - n; /* a place is not a number */
    }
    for (int k = 0; k < c->K; k++)
        p->log_omega[k] = log(0.1 + vh_rng_uniform(&rng));
    make_sets(&rng, c, p);
    vh_spread_scale(p->owner, NULL, c->N, NULL, p->xs, p->xs + c->d);
    assert_ok(ctx, vh_pack_new(ctx, p->h3m, NULL, c->K, p->xs, p->xs + c->d, &p->pk));
    assert_ok(ctx, vh_pack_update(ctx, p->h3m, NULL, p->pk));
    free(T);
}

static void free_problem(problem *p)
{
    vh_pack_free(p->pk);
    vh_h3m_free(p->h3m);
    vhem_free(p->owner);
    free(p->data.weight);
    free(p->y);
    free(p->xs);
    free(p->log_omega);
    free(p->seq);
    free(p->first);
}

/* ---- answers ------------------------------------------------------------------------------------------- */

typedef struct {
    int mixtures;
    bool statistics, tables;
    bool spoil; /* overwrite the frames once the job is open */
} how;

/* Opens, goes through the sequences twice, closes. */
static void answer(vhem_ctx *ctx, problem *p, const how *h, vh_seq_sums *out)
{
    size_t n = (size_t)p->data.N, K = (size_t)p->pk->K, n_set = p->n_set > 0 ? (size_t)p->n_set : n;
    vh_workers workers = { 0 };
    vh_opened_sequences *job = NULL;
    double *kept = copy_of(p->y, (size_t)p->frames * (size_t)p->data.d, sizeof *kept);

    assert_ok(ctx, vh_workers_new(ctx, ctx->threads, &workers));
    assert_ok(ctx, vh_seq_sums_new(ctx, p->pk, h->mixtures, out));
    if (h->tables) {
        out->loglik = calloc(n * K, sizeof(double));
        out->z = calloc(n_set * K, sizeof(double));
    }
    const vh_sequences in = { .data = &p->data,
                              .seq = p->seq,
                              .n = p->data.N,
                              .first = p->n_set > 0 ? p->first : NULL,
                              .n_set = (int)n_set,
                              .family = p->h3m->family,
                              .x = p->pk->x,
                              .workers = &workers };
    const vh_seq_step step = {
        .pk = p->pk, .statistics = h->statistics, .mixtures = h->mixtures, .log_omega = p->log_omega
    };
    assert_ok(ctx, vh_sequences_open(ctx, &in, &job));
    for (int64_t i = 0; h->spoil && i < p->frames * p->data.d; i++)
        p->y[i] = NAN;
    for (int twice = 0; twice < 2; twice++)
        assert_ok(ctx, vh_sequences_run(ctx, job, &step, out));
    vh_sequences_close(job);
    memcpy(p->y, kept, sizeof *kept * (size_t)p->frames * (size_t)p->data.d);
    free(kept);
    vh_workers_free(&workers);
}

static void free_answer(vh_seq_sums *a)
{
    free(a->loglik);
    free(a->z);
    vh_seq_sums_free(a);
}

static void near(const char *what, const char *which, size_t n, const double *want, const double *got,
                 double tol)
{
    double size = 0;
    for (size_t i = 0; i < n; i++)
        size = fmax(size, isfinite(want[i]) ? fabs(want[i]) : 0);
    for (size_t i = 0; i < n; i++)
        if (!is_near(want[i], got[i], tol, 1e-3 * tol * size))
            fail_msg("%s: %s[%zu] is %.15g, must be %.15g", what, which, i, got[i], want[i]);
}

/* Statistics at the higher of both scales of each HMM. */
static void near_statistics(const char *what, const vh_packed *pk, const vh_stats *want, const vh_stats *got)
{
    double *a = calloc(want->size, sizeof *a), *b = calloc(want->size, sizeof *b);
    for (int k = 0; k < pk->K; k++)
        a[k] = b[k] = fmax(want->scale[k], got->scale[k]);
    vh_stats_merge(pk, a, want->block);
    vh_stats_merge(pk, b, got->block);
    near(what, "statistics", want->size - (size_t)pk->K, a + pk->K, b + pk->K, 1e-8);
    free(a);
    free(b);
}

static void check_backend(const char *name, const char *what, problem *p, const how *h,
                          const vh_seq_sums *want)
{
    size_t n = (size_t)p->data.N, K = (size_t)p->pk->K, n_set = p->n_set > 0 ? (size_t)p->n_set : n;
    size_t filled = h->statistics ? want->size : want->head;
    for (int threads = 1; threads <= 7; threads += 3) {
        vhem_ctx *ctx = test_ctx_with(name, threads, 1);
        vh_seq_sums got, bare;
        how tables = *h, none = *h;
        tables.tables = true;
        none.tables = false;
        answer(ctx, p, &tables, &got);
        answer(ctx, p, &none, &bare);
        near(what, "sums", want->head, want->block, got.block, 1e-9);
        if (h->statistics)
            near_statistics(what, p->pk, &want->stats, &got.stats);
        near(what, "loglik", n * K, want->loglik, got.loglik, 1e-9);
        if (h->mixtures > 0)
            near(what, "z", n_set * K, want->z, got.z, 1e-7);
        assert_memory_equal(got.block, bare.block, sizeof(double) * filled);
        static double first[1 << 16];
        assert_in_range(filled, 1, sizeof first / sizeof *first);
        if (threads == 1)
            memcpy(first, got.block, sizeof(double) * filled);
        assert_memory_equal(got.block, first, sizeof(double) * filled);
        free_answer(&got);
        free_answer(&bare);
        vhem_free(ctx);
    }
}

static void check(const shape *c, int number)
{
    vhem_ctx *ctx = test_ctx_with("ref", 1, 1);
    vh_backend whole = copy_backend();
    problem p;
    make_problem(ctx, c, number, &p);
    ctx->backend = &whole;
    for (int mixtures = 0; mixtures <= c->K; mixtures += mixtures == 0 || c->K == 1 ? 1 : c->K - 1)
        for (int statistics = 0; statistics < 2; statistics++) {
            const how h = { .mixtures = mixtures, .statistics = statistics, .tables = true, .spoil = true };
            how plain = h;
            vh_seq_sums want;
            char text[96];
            const char *name;
            plain.spoil = false;
            answer(ctx, &p, &h, &want);
            for (int b = 0; (name = test_backend(b)); b++) {
                char backend[32];
                snprintf(backend, sizeof backend, "%s", name);
                snprintf(text, sizeof text, "%s, case %d, %d mixtures%s", backend, number, mixtures,
                         statistics ? ", statistics" : "");
                check_backend(backend, text, &p, &plain, &want);
            }
            free_answer(&want);
        }
    free_problem(&p);
    vhem_free(ctx);
}

/* Few, many and large sets; sequences of one frame; sequences that no HMM likes; soft and hard. */
static void shapes(void **state)
{
    static const shape table[] = {
        { 1, 2, 1, 1, 0, 5, 30, 0, 1, 1, 0 },       { 3, 3, 2, 2, 0, 40, 20, 0, 2, 1, 0 },
        { 4, 2, 1, 3, 1, 60, 25, 5, 2, 1, 0 },      { 4, 4, 2, 2, 0, 60, 60, 3, 20, 1, 1 },
        { 2, 3, 1, 2, 0, 150, 90, 40, 1, 1e-3, 0 }, { 6, 5, 1, 1, 0, 12, 300, 4, 5, 1e-2, 1 },
        { 2, 2, 2, 1, 0, 9, 12, 9, 1e3, 1, 0 },     { 3, 1, 3, 2, 1, 30, 10, 2, 1, 1e-6, 0 },
    };
    (void)state;
    vh_blas_enter();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check(&table[i], (int)i);
    vh_blas_leave();
}

/* Clusters that nothing prefers: their shares are e^-1000 and less, in all of the sets or in some chunks. */
static void starved_clusters(void **state)
{
    static const shape table[] = {
        { 3, 2, 1, 2, 0, 70, 60, 0, 3, 300, 0 },
        { 4, 2, 2, 1, 0, 50, 100, 3, 4, 1e4, 0 },
        { 5, 3, 1, 2, 1, 200, 40, 6, 2, 1e6, 0 },
    };
    (void)state;
    vh_blas_enter();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check(&table[i], 200 + (int)i);
    vh_blas_leave();
}

/* A set that lies in several chunks, among sets that do not, and one sequence longer than a chunk. */
static void large_sets(void **state)
{
    static const shape table[] = {
        { 2, 2, 1, 1, 0, 130, 900, 100, 2, 1e-4, 0 },
        { 2, 2, 1, 1, 0, 90, 900, 60, 2, 1, 0 },
        { 2, 2, 1, 1, 0, 7, 6000, 1, 2, 1e-3, 0 },
    };
    (void)state;
    vh_blas_enter();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check(&table[i], 100 + (int)i);
    vh_blas_leave();
}

/* ---- through the library ------------------------------------------------------------------------------- */

static void fits_and_scores(void **state)
{
    enum { N = 24, D = 2 };
    vhem_ctx *ref = test_ctx_with("ref", 1, 5), *ctx = test_ctx_with("ref", 2, 5);
    vh_backend whole = copy_backend();
    vhem_fit_options opt;
    vh_h3m *want = NULL, *got = NULL;
    double a[N * 3], b[N * 3];
    int T[N];
    vh_rng rng;
    (void)state;

    ctx->backend = &whole;
    vh_rng_init(&rng, 9, VH_RNG_TEST, 0);
    for (int n = 0; n < N; n++)
        T[n] = 30;
    double *y = random_frames(&rng, (int64_t)N * 30, D, 1);
    for (int i = 0; i < N * 30 * D; i++)
        y[i] += 4 * ((i / D / 10 + i / D / 30) % 3);
    vhem_data *data = wrap(ref, N, T, D, y);
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.S = 2;
    opt.K = 3;
    opt.max_iter = 12;
    assert_ok(ref, vh_fit_mixture(ref, data, &opt, &want, NULL));
    assert_ok(ctx, vh_fit_mixture(ctx, data, &opt, &got, NULL));
    assert_near(vh_h3m_compare(want, got), 0, 0, 1e-8);
    assert_ok(ref, vh_h3m_score(ref, want, data, a));
    assert_ok(ctx, vh_h3m_score(ctx, want, data, b));
    for (int i = 0; i < N * 3; i++)
        assert_near(a[i], b[i], 1e-12, 1e-12);
    vh_h3m_free(want);
    vh_h3m_free(got);
    opt.K = 0;
    assert_ok(ref, vh_fit_each(ref, data, &opt, &want, NULL));
    assert_ok(ctx, vh_fit_each(ctx, data, &opt, &got, NULL));
    assert_near(vh_h3m_compare(want, got), 0, 0, 1e-8);
    vh_h3m_free(want);
    vh_h3m_free(got);
    vhem_free(data);
    free(y);
    vhem_free(ref);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shapes), cmocka_unit_test(starved_clusters),
                                        cmocka_unit_test(large_sets), cmocka_unit_test(fits_and_scores) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
