/* SPDX-License-Identifier: BSD-3-Clause */
/* support.h - what the tests share, on cmocka. */
#ifndef VH_TESTS_SUPPORT_H
#define VH_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "models/models.h"
#include "os/path.h"
#include "os/stream.h"
#include "os/system.h"
#include "vhem.h"

/* |a - b| <= atol + rtol max(|a|, |b|); NaN is near NaN, infinity near itself. */
static inline int is_near(double a, double b, double rtol, double atol)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= atol + rtol * fmax(fabs(a), fabs(b));
}

#define assert_near(a, b, rtol, atol)                                                     \
    do {                                                                                  \
        double a_ = (a), b_ = (b);                                                        \
        if (!is_near(a_, b_, rtol, atol))                                                 \
            fail_msg("%s = %.17g, %s = %.17g, difference %.3g", #a, a_, #b, b_, a_ - b_); \
    } while (0)

#define assert_ok(ctx, call)                                                \
    do {                                                                    \
        vhem_status st_ = (call);                                           \
        if (st_ != VHEM_OK)                                                 \
            fail_msg("%s: %s", vhem_status_text(st_), vhem_ctx_error(ctx)); \
    } while (0)

/* The call fails with this status and a sentence that contains this text. */
#define assert_fails(ctx, call, status, text)                                             \
    do {                                                                                  \
        vhem_status st_ = (call);                                                         \
        if (st_ != (status) || !strstr(vhem_ctx_error(ctx), text))                        \
            fail_msg("wanted %s with \"%s\", got %s: %s", vhem_status_text(status), text, \
                     vhem_status_text(st_), vhem_ctx_error(ctx));                         \
    } while (0)

/* First in a test that writes or reads .h5 files, which a build without HDF5 cannot. */
#ifdef VH_HAVE_HDF5
#define NEEDS_HDF5() ((void)0)
#else
#define NEEDS_HDF5() skip()
#endif

static inline vhem_ctx *test_ctx_with(const char *backend, int threads, uint64_t seed)
{
    vhem_ctx_options opt;
    vhem_ctx *ctx = NULL;
    VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
    opt.backend = backend;
    opt.threads = threads;
    opt.seed = (int64_t)seed;
    assert_int_equal(vhem_ctx_new(&opt, &ctx), VHEM_OK);
    return ctx;
}
/* One thread, or as many as VHEM_TEST_THREADS says: results are the same. */
static inline vhem_ctx *test_ctx(void)
{
    const char *threads = getenv("VHEM_TEST_THREADS");
    return test_ctx_with(NULL, threads ? atoi(threads) : 1, 1);
}

/* The name of usable backend i, best first; NULL after the last.  It stands until the next call.
 * VHEM_BACKENDS in the environment names those that are tested instead. */
static inline const char *test_backend(int i)
{
    static char names[128];
    char *save = NULL, *name;
    const char *given = getenv("VHEM_BACKENDS");
    vhem_backend_facts facts;
    snprintf(names, sizeof names, "%s", given ? given : "");
    for (int k = 0; !given && vhem_backend_info(k, &facts) == VHEM_OK; k++)
        if (!facts.problem)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s ", facts.name);
    name = strtok_r(names, " ", &save);
    while (name && i-- > 0)
        name = strtok_r(NULL, " ", &save);
    return name;
}

/* NULL: there is no such variable. */
#ifdef _WIN32
static inline void test_environment(const char *name, const char *value)
{
    _putenv_s(name, value ? value : "");
}
#else
static inline void test_environment(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}
#endif

/* A path for a scratch file that is the test's own; the caller removes it. */
static inline const char *test_scratch(const char *name)
{
    static char path[4][4096];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/vhem-test-%lld-%s", vh_scratch_folder("/tmp"),
             (long long)vh_process_id(), name);
    return path[turn];
}

static inline void test_write(const char *path, const void *bytes, size_t n)
{
    FILE *f = vh_file_open(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* p [n]: a random distribution. */
static inline void random_simplex(vh_rng *rng, int n, double *p)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i] = vh_rng_exponential(rng) + 0.05;
    for (int i = 0; i < n; i++)
        p[i] /= sum;
}

/* Leaves the transitions of a chain that never goes back and never skips a state. */
static inline void make_left_right(vh_hmm *h)
{
    for (int s = 0; s < h->S; s++) {
        double sum = 0;
        for (int q = 0; q < h->S; q++) {
            if (q < s || q > s + 1)
                h->A[s * h->S + q] = 0;
            sum += h->A[s * h->S + q];
        }
        for (int q = 0; q < h->S; q++)
            h->A[s * h->S + q] /= sum;
        h->pi[s] = s == 0;
    }
}

/* K random HMMs.  full: full covariances; spread: standard deviation of the means. */
static inline vh_h3m *random_h3m(vhem_ctx *ctx, vh_rng *rng, int K, int S, int M, int d, int full,
                                 double spread)
{
    int dd = full ? d * d : d, C = S * M;
    vhem_hmm_view *view = calloc((size_t)K, sizeof *view);
    for (int i = 0; i < K; i++) {
        int n_theta = C + C * d + C * dd;
        double *pi = calloc((size_t)(S + S * S + n_theta), sizeof *pi), *A = pi + S, *theta = A + S * S;
        double *mu = theta + C, *cov = mu + C * d;
        random_simplex(rng, S, pi);
        for (int s = 0; s < S; s++) {
            random_simplex(rng, S, A + s * S);
            random_simplex(rng, M, theta + s * M);
        }
        for (int k = 0; k < C * d; k++)
            mu[k] = spread * vh_rng_normal(rng);
        for (int r = 0; r < C; r++)
            for (int a = 0; a < d; a++) {
                if (!full) {
                    cov[r * d + a] = 0.2 + vh_rng_exponential(rng);
                    continue;
                }
                for (int b = 0; b <= a; b++) { /* diagonally dominant, so positive definite */
                    double v = a == b ? 1.0 + vh_rng_exponential(rng) : 0.8 * (vh_rng_uniform(rng) - 0.5) / d;
                    cov[(r * d + a) * d + b] = cov[(r * d + b) * d + a] = v;
                }
            }
        view[i] = (vhem_hmm_view){ .S = S,
                                   .M = M,
                                   .d = d,
                                   .n_theta = n_theta,
                                   .omega = 1.0 / K,
                                   .pi = pi,
                                   .A = A,
                                   .theta = theta,
                                   .name = "",
                                   .label = "" };
    }
    vh_h3m *h3m = NULL;
    assert_ok(ctx, vh_h3m_from_views(ctx, full ? "gaussian-full" : "gaussian-diag", d, K, view, &h3m));
    for (int i = 0; i < K; i++)
        free((void *)view[i].pi);
    free(view);
    return h3m;
}

#include "calls.h"

#endif
