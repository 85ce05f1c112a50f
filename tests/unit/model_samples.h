/* SPDX-License-Identifier: BSD-3-Clause */
/* model_samples.h - models for the tests of the model files. */
#ifndef VH_TESTS_MODEL_SAMPLES_H
#define VH_TESTS_MODEL_SAMPLES_H

#include "support.h"

#include "hmm/hmm_set.h"

/* Two HMMs of unequal shape whose parameters are the numbers that are hard to write: denormal, huge, minus
 * zero, neighbours of short decimals, thirds. */
static inline vh_h3m *hard_h3m(vhem_ctx *ctx)
{
    static const double hard[] = { 5e-324,
                                   -2.2250738585072011e-308,
                                   1e308,
                                   -1.7976931348623157e308,
                                   -0.0,
                                   0.0,
                                   0.1,
                                   0.30000000000000004,
                                   1.0 / 3,
                                   9007199254740993.0,
                                   123456789012345678.0,
                                   1e22,
                                   1e23,
                                   -1e-5,
                                   4.35,
                                   2.0 / 3 };
    vh_h3m *h3m = NULL;
    assert_ok(ctx, vh_h3m_new(ctx, &vh_gaussian_diag, (vh_shape){ .d = 4 }, 2, &h3m));
    for (int i = 0; i < 2; i++) {
        int S = 2 + i, M = 2 - i;
        assert_ok(ctx, vh_h3m_shape(ctx, h3m, i, S, M));
        vh_hmm *h = &h3m->hmm[i];
        for (int s = 0; s < S; s++) {
            h->pi[s] = 1.0 / S;
            for (int t = 0; t < S; t++)
                h->A[s * S + t] = 1.0 / S;
            for (int m = 0; m < M; m++)
                vh_hmm_c(h)[s * M + m] = 1.0 / M;
        }
        h->A[0] += 1e-13; /* sums that are not quite 1 stay so */
        for (int k = 0; k < S * M * 4; k++) {
            vh_hmm_param(h3m, h, 0)[k] = hard[k % 16];
            vh_hmm_param(h3m, h, 1)[k] = fabs(hard[(k + 5) % 16]);
        }
        h->pi[0] = i ? h->pi[0] : 1 - h->pi[1];
    }
    h3m->omega[0] = 1.0 / 3;
    h3m->omega[1] = 2.0 / 3;
    assert_ok(ctx, vh_h3m_set_text(ctx, &h3m->hmm[1].name, "caf\xC3\xA9 \"7\"\n"));
    assert_ok(ctx, vh_h3m_set_text(ctx, &h3m->hmm[1].label, "walk"));
    assert_ok(ctx, vh_h3m_validate(ctx, h3m));
    return h3m;
}

static inline void assert_same_text(const char *a, const char *b)
{
    assert_string_equal(a ? a : "(none)", b ? b : "(none)");
}

/* Every bit, unlike vh_h3m_compare, which takes 0 and -0 for equal. */
static inline void assert_same_h3m(const vh_h3m *a, const vh_h3m *b)
{
    assert_ptr_equal(a->family, b->family);
    assert_int_equal(a->d, b->d);
    assert_int_equal(a->K, b->K);
    assert_memory_equal(a->omega, b->omega, (size_t)a->K * sizeof *a->omega);
    assert_same_text(a->extra, b->extra);
    assert_same_text(a->provenance, b->provenance);
    assert_same_text(a->prior, b->prior);
    assert_memory_equal(&a->lengths, &b->lengths, sizeof a->lengths);
    for (int64_t i = 0; i < a->K; i++) {
        const vh_hmm *g = &a->hmm[i], *h = &b->hmm[i];
        assert_int_equal(g->S, h->S);
        assert_int_equal(g->M, h->M);
        assert_memory_equal(g->pi, h->pi, ((size_t)(g->theta - g->pi) + g->n_theta) * sizeof *g->pi);
        assert_same_text(g->name, h->name);
        assert_same_text(g->label, h->label);
        assert_same_text(g->extra, h->extra);
    }
}

/* Files in the scratch folder whose names begin as path does. */
static inline int files_like(const char *path)
{
    char folder[4096];
    const char *name = vh_path_name(path);
    snprintf(folder, sizeof folder, "%.*s", (int)(name - path), path);
    vh_folder *dir = vh_folder_open(folder);
    assert_non_null(dir);
    int n = 0;
    for (const char *one; (one = vh_folder_next(dir));)
        n += strncmp(one, name, strlen(name)) == 0;
    vh_folder_close(dir);
    return n;
}

#endif
