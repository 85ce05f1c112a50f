/* SPDX-License-Identifier: BSD-3-Clause */
/* vb_problems.h - what the tests of variational Bayes with several families share: a problem with its run,
 * and what must hold for problems of every family: the bound never falls, and is the same on all
 * backends. */
#ifndef VH_TESTS_VB_PROBLEMS_H
#define VH_TESTS_VB_PROBLEMS_H

#include "engine.h"

#include "vhem/vb.h"
#include "vhem.h"

enum { ROUNDS = 10 };

typedef struct {
    vh_h3m *h3m, *start;
    vh_base *base;
    vh_vb m;
    vh_vhem_run run;
    vh_scratch scratch;
} problem;

typedef struct { /* problems of all families */
    const char *const *names;
    int n_names, count; /* count: random runs of each, unless VHEM_TEST_COUNT says how many */
    uint64_t seed;
    problem (*make)(vhem_ctx *ctx, vh_rng *rng, const char *name, const vh_vb_options *o); /* and run it */
} problems;

static inline void problem_free(problem *p)
{
    vh_vb_free(&p->m);
    vh_vhem_run_free(&p->run);
    vh_scratch_free(&p->scratch);
    vh_base_free(p->base);
    vh_h3m_free(p->h3m);
    vh_h3m_free(p->start);
}

static inline void problem_run(vhem_ctx *ctx, const vh_vb_options *o, problem *p)
{
    assert_ok(ctx, vh_base_new(ctx, p->h3m, &p->base));
    assert_ok(ctx, vh_vb_begin(ctx, p->base, o, &(vh_workers){ 1, &p->scratch }, p->start, &p->m));
    assert_ok(ctx, vh_vb_run(ctx, p->base, o, &(vh_workers){ 1, &p->scratch }, &p->m, &p->run));
}

static inline vh_vb_options options_of(vh_rng *rng, int n)
{
    return (vh_vb_options){ .run = { .N = 6 * pow(10, -1 + 4 * vh_rng_uniform(rng)),
                                     .tau = 1 + (int)vh_rng_below(rng, 12),
                                     .max_iter = ROUNDS },
                            .learn = n % 3 == 0 ? 2 : 0 };
}

static inline void check_never_falls(const problems *all)
{
    vhem_ctx *ctx = test_ctx();
    const char *text = getenv("VHEM_TEST_COUNT");
    int count = text && *text ? atoi(text) : all->count;
    for (int n = 0; n < count * all->n_names; n++) {
        const char *name = all->names[n % all->n_names];
        vh_rng rng;
        vh_rng_init(&rng, all->seed, VH_RNG_TEST, (uint64_t)n);
        const vh_vb_options o = options_of(&rng, n);
        problem p = all->make(ctx, &rng, name, &o);
        for (int k = 1; k <= ROUNDS; k++)
            if (!(p.run.J[k] >= p.run.J[k - 1] - 1e-10 * (fabs(p.run.J[k - 1]) + 1)))
                fail_msg("%s, run %d: the bound fell from %.15g to %.15g in update %d", name, n,
                         p.run.J[k - 1], p.run.J[k], k);
        problem_free(&p);
    }
    vhem_free(ctx);
}

static inline void check_same_on_all_backends(const problems *all)
{
    for (int n = 0; n < 3 * all->n_names; n++) {
        double want[ROUNDS + 1];
        for (int b = -1; b < 0 || test_backend(b); b++) {
            vhem_ctx *ctx = b < 0 ? test_ctx_with("ref", 1, 7) : test_ctx_with(test_backend(b), 1, 7);
            vh_rng rng;
            vh_rng_init(&rng, all->seed, VH_RNG_TEST, (uint64_t)n);
            const vh_vb_options o = options_of(&rng, n);
            problem p = all->make(ctx, &rng, all->names[n % all->n_names], &o);
            for (int k = 0; k <= ROUNDS; k++)
                if (b < 0)
                    want[k] = p.run.J[k];
                else
                    assert_near(p.run.J[k], want[k], 1e-9, 1e-9);
            problem_free(&p);
            vhem_free(ctx);
        }
    }
}

#endif
