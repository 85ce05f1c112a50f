/* SPDX-License-Identifier: BSD-3-Clause */
/* test_backends.c - every usable backend against ref: scores, and parameters after Baum-Welch iterations.
 *
 * 1e-9 relative: the product form may lose 2e-11 per frame (pack.c), and
 * iterations multiply that by a few. */
#include "engine.h"
#include "vhem.h"

static const double RTOL = 1e-9;

/* Calls check for every backend but ref, with ref beside it. */
typedef void (*backend_check)(vhem_ctx *ref, vhem_ctx *ctx, const void *arg);
static void each_backend(backend_check check, const void *arg)
{
    const char *name;
    for (int n = 0; (name = test_backend(n)); n++) {
        if (strcmp(name, "ref") == 0)
            continue;
        vhem_ctx *ref = test_ctx_with("ref", 1, 5), *ctx = test_ctx_with(name, 1, 5);
        assert_string_equal(vhem_ctx_backend(ctx), name);
        check(ref, ctx, arg);
        vhem_free(ref);
        vhem_free(ctx);
    }
}

/* Every backend is listed once, ref can always be used, and one that cannot says why. */
static void listed(void **state)
{
    vhem_backend_facts facts;
    int n = 0, refs = 0;
    (void)state;
    while (vhem_backend_info(n, &facts) == VHEM_OK) {
        vhem_ctx_options opt;
        vhem_ctx *ctx = NULL;
        VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
        opt.backend = facts.name;
        assert_int_equal(vhem_ctx_new(&opt, &ctx), facts.problem ? VHEM_EBACKEND : VHEM_OK);
        assert_true(!facts.problem || *facts.problem);
        refs += !facts.problem && strcmp(facts.name, "ref") == 0;
        vhem_free(ctx);
        n++;
    }
    assert_int_equal(refs, 1);
    assert_int_equal(vhem_backend_info(-1, &facts), VHEM_EINVAL);
}

typedef struct {
    const char *what;
    const vh_h3m *h3m;
    const vhem_data *data;
    int iterations; /* of Baum-Welch from each HMM alone; 0: only scores */
    double tol;
} agreement;

static void check_scores(vhem_ctx *ref, vhem_ctx *ctx, const agreement *a)
{
    int64_t N = a->data->N, K = a->h3m->K;
    double *want = calloc((size_t)(N * K), sizeof *want), *got = calloc((size_t)(N * K), sizeof *got);
    assert_ok(ref, vh_h3m_score(ref, a->h3m, a->data, want));
    assert_ok(ctx, vh_h3m_score(ctx, a->h3m, a->data, got));
    for (int64_t i = 0; i < N * K; i++)
        if (!is_near(got[i], want[i], a->tol, a->tol))
            fail_msg("%s, %s: sequence %lld, HMM %lld: %.15g, ref %.15g", vhem_ctx_backend(ctx), a->what,
                     (long long)(i / K), (long long)(i % K), got[i], want[i]);
    free(want);
    free(got);
}

/* All sequences to one HMM, starting from HMM i. */
static vh_h3m *iterate(vhem_ctx *ctx, const agreement *a, int64_t i, double *loglik)
{
    vhem_fit_options opt;
    vhem_hmm_view v = view_of(a->h3m, i);
    vh_h3m *start = NULL, *out = NULL;
    vhem_fit_report *report = NULL;
    vhem_data data = *a->data;
    char **group = calloc((size_t)data.N, sizeof *group), same[] = "g";
    for (int64_t n = 0; n < data.N; n++)
        group[n] = same;
    data.group = group;
    v.omega = 1;
    assert_ok(ctx, vh_h3m_from_views(ctx, v.emission, v.d, 1, &v, &start));
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.start = HMMS(start);
    opt.max_iter = a->iterations;
    opt.tol = 0;
    opt.by_group = 1;
    opt.repair = 0;
    vhem_status st = vh_fit_each(ctx, &data, &opt, &out, &report);
    if (st != VHEM_OK)
        fail_msg("%s, %s: %s", vhem_ctx_backend(ctx), a->what, vhem_ctx_error(ctx));
    *loglik = report->run[0].loglik;
    vhem_free(report);
    vh_h3m_free(start);
    free(group);
    return out;
}

/* What less than 1e-20 frames support is no promise: a scaled recursion takes it for nothing (lanes.c) and
 * the M-step then keeps the old parameters, while logs still see it.  After one iteration such states of
 * `got` are set as those of `want`, before the comparison. */
static void forgive_unsupported(vhem_ctx *ref, const agreement *a, int64_t i, const vh_h3m *want, vh_h3m *got)
{
    vh_hmm *p = &want->hmm[0], *q = &got->hmm[0];
    int S = p->S, M = p->M;
    for (int s = 0; s < S; s++) {
        double sum = 0;
        for (int64_t n = 0; n < a->data->N; n++) {
            int T = (int)vh_data_length(a->data, n);
            double *gamma = malloc(sizeof *gamma * (size_t)(T * S));
            assert_ok(ref, vh_h3m_posterior(ref, a->h3m, i, a->data, n, gamma, NULL, NULL));
            for (int t = 0; t < T; t++)
                sum += gamma[t * S + s];
            free(gamma);
        }
        if (sum > 1e-20)
            continue;
        memcpy(q->A + s * S, p->A + s * S, sizeof *p->A * (size_t)S);
        memcpy(vh_hmm_c(q) + s * M, vh_hmm_c(p) + s * M, sizeof *p->A * (size_t)M);
        for (int m = 0; m < M; m++) {
            double *from[VH_MAX_PARAM], *to[VH_MAX_PARAM];
            vh_hmm_component(want, p, s, m, from);
            vh_hmm_component(got, q, s, m, to);
            for (int k = 0; k < 2; k++)
                memcpy(to[k], from[k], sizeof **to * vh_param_size(want->family, k, &want->shape));
        }
    }
}

static void check_agreement(vhem_ctx *ref, vhem_ctx *ctx, const void *arg)
{
    const agreement *a = arg;
    check_scores(ref, ctx, a);
    for (int64_t i = 0; a->iterations > 0 && i < a->h3m->K; i++) {
        double want_ll, got_ll;
        vh_h3m *want = iterate(ref, a, i, &want_ll), *got = iterate(ctx, a, i, &got_ll);
        if (a->iterations == 1 && vh_h3m_compare(want, got) > 10 * a->tol)
            forgive_unsupported(ref, a, i, want, got);
        double diff = vh_h3m_compare(want, got);
        if (!(diff <= 10 * a->tol) || !is_near(want_ll, got_ll, a->tol, a->tol))
            fail_msg(
                "%s, %s: HMM %lld after %d iterations: parameters differ by %.3g, loglik %.15g, ref %.15g",
                vhem_ctx_backend(ctx), a->what, (long long)i, a->iterations, diff, got_ll, want_ll);
        vh_h3m_free(want);
        vh_h3m_free(got);
    }
}

static void agree(const char *what, const vh_h3m *h3m, const vhem_data *data, int iterations)
{
    agreement a = { what, h3m, data, iterations, RTOL };
    each_backend(check_agreement, &a);
}

/* Zeros below the diagonal of every A, and pi on the first state. */
static void forbid_steps_back(vh_h3m *h3m)
{
    for (int64_t i = 0; i < h3m->K; i++) {
        vh_hmm *h = &h3m->hmm[i];
        for (int s = 0; s < h->S; s++) {
            double sum = 0;
            h->pi[s] = s == 0;
            for (int q = 0; q < h->S; q++)
                sum += h->A[s * h->S + q] *= q >= s;
            for (int q = 0; q < h->S; q++)
                h->A[s * h->S + q] /= sum;
        }
    }
}

static int random_lengths(vh_rng *rng, int N, int most, int *T)
{
    int sum = 0;
    for (int n = 0; n < N; n++)
        sum += T[n] = n % 4 == 1 ? 1 : 1 + (int)vh_rng_below(rng, most);
    return sum;
}

static void shapes(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    static const int dims[] = { 1, 2, 3, 5, 9, 20 };
    for (int S = 1; S <= 12; S++)
        for (int trial = 0; trial < 3; trial++) {
            vh_rng rng;
            char what[100];
            int M = 1 + (S + trial) % 5, d = dims[(S * 3 + trial) % 6], full = trial == 1,
                K = 1 + (S + trial) % 3;
            int N = 3 + (S * 5 + trial * 7) % 15, T[32];
            vh_rng_init(&rng, 100 + (uint64_t)S, VH_RNG_TEST, (uint64_t)trial);
            int frames = random_lengths(&rng, N, 25, T);
            while (frames < 8 * S * M) /* enough frames for each component */
                frames = random_lengths(&rng, N, frames, T);
            vh_h3m *h3m = random_h3m(ctx, &rng, K, S, M, d, full, 1.0);
            if (trial == 2)
                forbid_steps_back(h3m);
            double *y = random_frames(&rng, frames, d, 1.5);
            vhem_data *data = wrap(ctx, N, T, d, y);
            snprintf(what, sizeof what, "seed %d/%d: S %d M %d d %d K %d N %d %s", 100 + S, trial, S, M, d, K,
                     N,
                     full         ? "full"
                     : trial == 2 ? "left-right"
                                  : "diag");
            agree(what, h3m, data, trial == 0 ? 3 : 1);
            vhem_free(data);
            vh_h3m_free(h3m);
            free(y);
        }
    vhem_free(ctx);
}

/* One H3M of HMMs of all sizes, with more pairs than fit a vector. */
static void mixed_sizes(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    enum { K = 11, N = 13, D = 3 };
    vh_rng_init(&rng, 120, VH_RNG_TEST, 0);
    vh_h3m *part[K], *h3m = NULL;
    vhem_hmm_view v[K];
    for (int k = 0; k < K; k++) {
        part[k] = random_h3m(ctx, &rng, 1, 1 + k % 4, 1 + k % 3, D, 0, 2);
        if (k % 3 == 0)
            forbid_steps_back(part[k]);
        v[k] = view_of(part[k], 0);
        v[k].omega = 1.0 / K;
    }
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", D, K, v, &h3m));
    int T[N], frames = random_lengths(&rng, N, 40, T);
    double *y = random_frames(&rng, frames, D, 2);
    vhem_data *data = wrap(ctx, N, T, D, y);
    agree("mixed sizes", h3m, data, 1);
    vhem_free(data);
    vh_h3m_free(h3m);
    for (int k = 0; k < K; k++)
        vh_h3m_free(part[k]);
    free(y);
    vhem_free(ctx);
}

/* Longer than a chunk (4096 frames at most), so that tables are made twice; longer than a group of
 * lanes fits a cache; and direct components on the way. */
static void long_sequences(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int trial = 0; trial < 4; trial++) {
        vh_rng rng;
        vh_rng_init(&rng, 130, VH_RNG_TEST, (uint64_t)trial);
        int S = trial < 2 ? 3 : 7, M = trial < 2 ? 2 : 1, d = trial % 2 ? 4 : 1, full = trial == 1;
        int T[] = { 4500, 3, 5101, 700 };
        vh_h3m *h3m = random_h3m(ctx, &rng, 2, S, M, d, full, 2);
        double *y = random_frames(&rng, 10304, d, 2);
        /* a tight component far from the rest, in both HMMs: frames that none fits have loglik -1e10, and ref
         * itself is then only good to 2e-16 of that */
        if (trial == 3)
            for (int k = 0; k < d; k++) {
                for (int i = 0; i < 2; i++)
                    vh_hmm_param(h3m, &h3m->hmm[i], 0)[k] = 4000;
                for (int t = 4000; t < 4100; t++)
                    y[t * d + k] += 4000;
            }
        vhem_data *data = wrap(ctx, 4, T, d, y);
        agree("long sequences", h3m, data, 1);
        vhem_free(data);
        vh_h3m_free(h3m);
        free(y);
    }
    vhem_free(ctx);
}

/* ---- what scaled recursions get wrong ------------------------------------------------------------------ */

/* States so far apart that most of B is exactly zero. */
static void separated(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    enum { S = 4, N = 9, T1 = 30 };
    double pi[S], A[S * S], mu[S], cov[S], y[N * T1];
    int T[N];
    vh_rng_init(&rng, 140, VH_RNG_TEST, 0);
    random_simplex(&rng, S, pi);
    for (int s = 0; s < S; s++) {
        random_simplex(&rng, S, A + s * S);
        mu[s] = 1000.0 * s;
        cov[s] = 1 + s;
    }
    for (int i = 0; i < N * T1; i++)
        y[i] = 1000.0 * (double)vh_rng_below(&rng, S) + vh_rng_normal(&rng);
    for (int n = 0; n < N; n++)
        T[n] = T1;
    vh_h3m *h3m = simple_hmm(ctx, S, 1, pi, A, mu, cov);
    vhem_data *data = wrap(ctx, N, T, 1, y);
    agree("separated states", h3m, data, 2);
    forbid_steps_back(h3m); /* now the data contradicts the model at every step */
    agree("separated states, left-right", h3m, data, 1);
    vhem_free(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* A frame y for which state s is exp(-e_s) times its peak: states sit at axis s
 * of d = S dimensions, unit variance. */
static void evidence(int S, const double *e, double *y)
{
    for (int s = 0; s < S; s++)
        y[s] = -e[s] / 100; /* against means 100 on the axis: -e + what all share */
}

/* S chains that never change state, and frames that favour one by so much
 * that the others are flushed to zero. */
typedef struct {
    int S, T;
    double e[8][4]; /* [T][S]  log-evidence against each state, in nats */
    double pi[4];
    double leak;     /* probability of each change of state */
    const double *A; /* [S][S]  instead, when not NULL */
} conflict;

static void check_conflict(const conflict *c, const char *what)
{
    vhem_ctx *ctx = test_ctx();
    int S = c->S;
    double A[16], mu[16] = { 0 }, cov[16], y[32];
    for (int s = 0; s < S; s++)
        for (int q = 0; q < S; q++) {
            A[s * S + q] = c->A ? c->A[s * S + q] : s == q ? 1 - (S - 1) * c->leak : c->leak;
            mu[s * S + q] = s == q ? 100 : 0;
            cov[s * S + q] = 1;
        }
    for (int t = 0; t < c->T; t++)
        evidence(S, c->e[t], y + t * S);
    vh_h3m *h3m = simple_hmm(ctx, S, S, c->pi, A, mu, cov);
    vhem_data *data = wrap(ctx, 1, &c->T, S, y);

    enumeration e;
    double loglik;
    vhem_hmm_view v = view_of(h3m, 0);
    enumerate(&v, y, c->T, &e);
    vhem_ctx *ref = test_ctx_with("ref", 1, 1);
    assert_ok(ref, vh_h3m_score(ref, h3m, data, &loglik));
    assert_near(loglik, (double)e.loglik, 1e-12, 1e-9);
    vhem_free(ref);
    agree(what, h3m, data, 0);
    agree(what, h3m, data, 1);
    int nine[9]; /* and the same in full vectors */
    double many[9 * 32];
    for (int n = 0; n < 9; n++) {
        nine[n] = c->T;
        memcpy(many + n * c->T * S, y, sizeof *y * (size_t)(c->T * S));
    }
    vhem_data *copies = wrap(ctx, 9, nine, S, many);
    agree(what, h3m, copies, 1);
    vhem_free(copies);
    vhem_free(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void conflicts(void **state)
{
    (void)state;
    /* alternating evidence of 1e-250 with a slight winner */
    check_conflict(&(conflict){ 2,
                                6,
                                { { 0, 575 }, { 575, 0 }, { 0, 575 }, { 575, 0 }, { 0, 575 }, { 580, 0 } },
                                { 0.5, 0.5 },
                                0,
                                NULL },
                   "alternating evidence");
    /* first one, then the other, beyond the range of a double in one frame and in two */
    check_conflict(&(conflict){ 2, 2, { { 0, 800 }, { 900, 0 } }, { 0.5, 0.5 }, 0, NULL },
                   "one frame too far");
    check_conflict(
        &(conflict){ 2, 4, { { 0, 400 }, { 0, 400 }, { 450, 0 }, { 450, 0 } }, { 0.5, 0.5 }, 0, NULL },
        "two frames too far");
    check_conflict(&(conflict){ 2,
                                8,
                                { { 0, 300 },
                                  { 0, 300 },
                                  { 0, 300 },
                                  { 0, 300 },
                                  { 301, 0 },
                                  { 301, 0 },
                                  { 301, 0 },
                                  { 301, 0 } },
                                { 0.5, 0.5 },
                                0,
                                NULL },
                   "eight frames");
    /* a state that cannot be entered holds the largest B, so that both others are small: 1e-200 and 1e-310 */
    check_conflict(&(conflict){ 3, 2, { { 460, 714, 0 }, { 460, 0, 300 } }, { 0.5, 0.5, 0 }, 0, NULL },
                   "the largest B is out of reach");
    check_conflict(
        &(conflict){ 3, 3, { { 460, 720, 0 }, { 300, 0, 300 }, { 300, 0, 300 } }, { 0.5, 0.5, 0 }, 0, NULL },
        "the largest B is out of reach, three frames");
    /* the same with every change of state possible, just: forward alone is all that a score looks at */
    check_conflict(&(conflict){ 3, 2, { { 600, 720, 0 }, { 460, 0, 460 } }, { 0.5, 0.5, 0 }, 1e-90, NULL },
                   "the largest B is out of reach, leaking");
    check_conflict(
        &(conflict){ 2, 4, { { 0, 600 }, { 0, 600 }, { 610, 0 }, { 610, 0 } }, { 0.5, 0.5 }, 1e-90, NULL },
        "leaking");
    check_conflict(
        &(conflict){ 2, 4, { { 0, 600 }, { 0, 600 }, { 610, 0 }, { 610, 0 } }, { 0.5, 0.5 }, 1e-250, NULL },
        "leaking less");
    /* a change so unlikely that alpha A underflows before it is divided by c, paid back by the frame after
     * it, to a state that no other leads to with more: beta alone shows nothing */
    static const double rare[] = { 1, 1e-200, 0, 1, 0, 0, 1, 1e-200, 0 };
    check_conflict(&(conflict){ 3, 2, { { 345, 345, 0 }, { 465, 0, 460 } }, { 1, 0, 0 }, 0, rare },
                   "unlikely change");
}

/* Random conflicts of all strengths: the guard must neither miss one nor need luck. */
static void random_conflicts(void **state)
{
    (void)state;
    for (int trial = 0; trial < 120; trial++) {
        vh_rng rng;
        char what[60];
        conflict c = { 2 + trial % 3, 2 + trial % 5, { { 0 } }, { 0 }, 0, NULL };
        vh_rng_init(&rng, 150, VH_RNG_TEST, (uint64_t)trial);
        for (int t = 0; t < c.T; t++)
            for (int s = 0; s < c.S; s++)
                c.e[t][s] = vh_rng_uniform(&rng) < 0.3 ? 0 : 800 * vh_rng_uniform(&rng);
        random_simplex(&rng, c.S, c.pi);
        if (trial % 4 == 1 && c.S > 2) { /* one state cannot begin */
            c.pi[1] += c.pi[2];
            c.pi[2] = 0;
        }
        c.leak = trial % 2 ? 0 : pow(10, -300 * vh_rng_uniform(&rng));
        if (c.leak > 0.1)
            c.leak = 0.1;
        snprintf(what, sizeof what, "random conflict, seed 150/%d", trial);
        check_conflict(&c, what);
    }
}

static void zero_weights(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 160, VH_RNG_TEST, 0);
    vh_h3m *h3m = random_h3m(ctx, &rng, 2, 3, 3, 2, 0, 2);
    for (int i = 0; i < 2; i++) {
        double *c = vh_hmm_c(&h3m->hmm[i]);
        c[1] += c[0];
        c[0] = 0; /* one of three */
        c[3] = 1;
        c[4] = c[5] = 0; /* two of three */
    }
    int T[] = { 40, 1, 60 };
    double *y = random_frames(&rng, 101, 2, 2);
    vhem_data *data = wrap(ctx, 3, T, 2, y);
    agree("zero weights", h3m, data, 2);
    vhem_free(data);
    vh_h3m_free(h3m);
    free(y);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(listed),           cmocka_unit_test(shapes),
                                        cmocka_unit_test(mixed_sizes),      cmocka_unit_test(long_sequences),
                                        cmocka_unit_test(separated),        cmocka_unit_test(conflicts),
                                        cmocka_unit_test(random_conflicts), cmocka_unit_test(zero_weights) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
