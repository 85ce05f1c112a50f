/* SPDX-License-Identifier: BSD-3-Clause */
/* test_mstep.c - from statistics to parameters: by hand, with fixed entries, and the revival of what died. */
#include "engine.h"

#include "hmm/mstep.h"
#include "vhem.h"

typedef struct {
    vhem_ctx *ctx;
    vh_h3m *h3m;
    vh_packed *pk;
    vh_stats stats;
    vh_limits lim;
    double origin[4], scale[4];
} fixture;

static void open_fixture(fixture *f, int S, int M, int d)
{
    vh_rng rng;
    vh_rng_init(&rng, 91, VH_RNG_TEST, 0);
    memset(f, 0, sizeof *f);
    f->ctx = test_ctx();
    f->h3m = random_h3m(f->ctx, &rng, 1, S, M, d, 0, 2);
    for (int k = 0; k < d; k++) {
        f->origin[k] = 10;
        f->scale[k] = 2;
    }
    f->lim.scale = f->scale;
    f->lim.unit = 1;
    assert_ok(f->ctx, vh_pack_new(f->ctx, f->h3m, NULL, 1, f->origin, f->scale, &f->pk));
    assert_ok(f->ctx, vh_pack_update(f->ctx, f->h3m, NULL, f->pk));
    assert_ok(f->ctx, vh_stats_new(f->ctx, f->pk, &f->stats));
}

static void close_fixture(fixture *f)
{
    vh_stats_free(&f->stats);
    vh_pack_free(f->pk);
    vh_h3m_free(f->h3m);
    vhem_free(f->ctx);
}

static int mstep(fixture *f)
{
    int held = -1;
    assert_ok(f->ctx, vh_mstep(f->ctx, &f->lim, f->pk, 0, &f->stats, f->h3m, &f->h3m->hmm[0], &held));
    return held;
}

static int revive(fixture *f)
{
    vh_rng rng;
    vh_rng_init(&rng, 92, VH_RNG_TEST, 0);
    return vh_revive(&f->lim, f->pk, 0, &f->stats, f->h3m, &f->h3m->hmm[0], &rng);
}

/* Component r saw `weight` frames of this mean and variance, in the user's coordinates. */
static void saw(fixture *f, int r, double weight, double mean, double var)
{
    double *T = f->stats.T + r * f->pk->n_stat, x = (mean - 10) / 2;
    T[0] = weight;
    T[1] = weight * x;
    T[2] = weight * (var / 4 + x * x);
}

static void check_rows(const fixture *f)
{
    vhem_hmm_view v = view_of(f->h3m, 0);
    double sum = 0;
    for (int s = 0; s < v.S; s++)
        sum += v.pi[s];
    assert_near(sum, 1, 1e-14, 0);
    for (int s = 0; s < v.S; s++) {
        double row = 0, c = 0;
        for (int q = 0; q < v.S; q++)
            row += v.A[s * v.S + q];
        for (int m = 0; m < v.M; m++)
            c += v.c[s * v.M + m];
        if (!is_near(row, 1, 1e-14, 0) || !is_near(c, 1, 1e-14, 0))
            fail_msg("state %d: its row of A sums to %g, its weights to %g", s, row, c);
    }
    assert_ok(f->ctx, vh_h3m_validate(f->ctx, f->h3m));
}

static void by_hand(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, 2, 2, 1);
    f.stats.nu1[0] = 3;
    f.stats.nu1[1] = 1;
    memcpy(f.stats.xi, (double[]){ 6, 2, 1, 1 }, 4 * sizeof(double));
    saw(&f, 0, 9, 11, 2);
    saw(&f, 1, 3, 7, 0.5);
    saw(&f, 2, 4, -1, 1e-3);
    saw(&f, 3, 4, 20, 5);
    double floor = 0.01;
    f.lim.floor = &floor;
    assert_int_equal(mstep(&f), 1);
    vhem_hmm_view v = view_of(f.h3m, 0);
    assert_near(v.pi[0], 0.75, 1e-15, 0);
    assert_near(v.A[0], 0.75, 1e-15, 0);
    assert_near(v.A[3], 0.5, 1e-15, 0);
    assert_near(v.c[0], 0.75, 1e-15, 0);
    assert_near(v.mu[0], 11, 1e-14, 0);
    assert_near(v.mu[2], -1, 1e-14, 0);
    assert_near(v.cov[0], 2, 1e-13, 0);
    assert_true(v.cov[2] == 0.01);
    check_rows(&f);
    close_fixture(&f);
}

static void unsupported(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, 2, 2, 1);
    vhem_hmm_view v = view_of(f.h3m, 0);
    double A[4], c[4], mu[4], cov[4];
    memcpy(A, v.A, sizeof A);
    memcpy(c, v.c, sizeof c);
    memcpy(mu, v.mu, sizeof mu);
    memcpy(cov, v.cov, sizeof cov);
    f.stats.nu1[0] = 1;
    saw(&f, 1, 5, 12, 1); /* one component of one state, no transition at all */
    mstep(&f);
    assert_memory_equal(v.A, A, sizeof A);
    assert_true(v.c[0] == 0 && v.c[1] == 1 && v.mu[0] == mu[0] && v.cov[0] == cov[0]);
    assert_memory_equal(v.c + 2, c + 2, 2 * sizeof *c);
    assert_memory_equal(v.mu + 2, mu + 2, 2 * sizeof *mu);
    check_rows(&f);

    saw(&f, 1, 5, 12, 0); /* no variance and no floor */
    int held;
    assert_fails(f.ctx, vh_mstep(f.ctx, &f.lim, f.pk, 0, &f.stats, f.h3m, &f.h3m->hmm[0], &held),
                 VHEM_ENUMERIC, "state 0, component 1 collapsed onto too few frames");
    close_fixture(&f);
}

static void fixed_entries(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, 3, 1, 1);
    double fixed_pi[] = { 1, 0, 0 }, fixed_A[] = { NAN, NAN, 0, 0, NAN, NAN, 0, 0.25, NAN };
    f.lim.fixed_pi = fixed_pi;
    f.lim.fixed_A = fixed_A;
    for (int s = 0; s < 3; s++) {
        f.stats.nu1[s] = 1;
        saw(&f, s, 5, s, 1);
        for (int q = 0; q < 3; q++)
            f.stats.xi[3 * s + q] = 1 + s + 2 * q;
    }
    mstep(&f);
    vhem_hmm_view v = view_of(f.h3m, 0);
    for (int s = 0; s < 3; s++)
        assert_true(v.pi[s] == fixed_pi[s]);
    for (int k = 0; k < 9; k++)
        assert_true(isnan(fixed_A[k]) || v.A[k] == fixed_A[k]);
    assert_near(v.A[0], 1.0 / 4, 1e-15, 0);
    assert_near(v.A[8], 0.75, 1e-15, 0);
    check_rows(&f);
    close_fixture(&f);
}

static void dead_component(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f, 2, 3, 1);
    f.stats.nu1[0] = f.stats.nu1[1] = 1;
    for (int r = 0; r < 6; r++)
        saw(&f, r, r == 1 ? 0 : 10 + r, 10 + r, 1);
    mstep(&f);
    vhem_hmm_view v = view_of(f.h3m, 0);
    assert_true(v.c[1] == 0);
    double top = v.c[2];
    assert_int_equal(revive(&f), 1);
    assert_near(v.c[1], top / 2, 1e-15, 0); /* a share of the heaviest of its state */
    assert_true(v.mu[1] != v.mu[2]);
    assert_near(v.mu[1] + v.mu[2], 24, 1e-14, 0);
    assert_true(v.cov[1] == v.cov[2]);
    check_rows(&f);
    close_fixture(&f);
}

/* Each state dies in turn, in every topology: rows stay distributions,
 * zeros stay zeros, fixed numbers stay. */
static void dead_states(void **state)
{
    (void)state;
    static const double named[3][9] = {
        { NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN },
        { NAN, NAN, NAN, 0, NAN, NAN, 0, 0, NAN }, /* left-right */
        { NAN, NAN, 0, 0, NAN, NAN, 0, 0, NAN },   /* linear */
    };
    static const double first[] = { 1, 0, 0 };
    for (int topo = 0; topo < 3; topo++)
        for (int dead = 0; dead < 8; dead++) { /* bits: which states are dead */
            fixture f;
            int n_dead = (dead & 1) + (dead >> 1 & 1) + (dead >> 2 & 1);
            open_fixture(&f, 3, 2, 1);
            f.lim.fixed_A = named[topo];
            f.lim.fixed_pi = topo ? first : NULL;
            for (int s = 0; s < 3; s++) {
                int lives = !(dead >> s & 1);
                f.stats.nu1[s] = lives;
                for (int q = s; lives && q < 3; q++)
                    f.stats.xi[3 * s + q] = dead >> q & 1 ? 0 : 5;
                saw(&f, 2 * s, lives * 20, 10 + s, 1);
                saw(&f, 2 * s + 1, lives * 20, 12 + s, 1);
            }
            vh_hmm *h = &f.h3m->hmm[0]; /* a start that obeys */
            static const double obedient[3][9] = { { 0 },
                                                   { 0.4, 0.3, 0.3, 0, 0.5, 0.5, 0, 0, 1 },
                                                   { 0.5, 0.5, 0, 0, 0.5, 0.5, 0, 0, 1 } };
            if (topo)
                memcpy(h->A, obedient[topo], sizeof obedient[topo]);
            mstep(&f);
            assert_int_equal(revive(&f), n_dead == 3 ? 0 : n_dead);
            vhem_hmm_view v = view_of(f.h3m, 0);
            for (int k = 0; k < 9; k++)
                assert_true(isnan(named[topo][k]) || v.A[k] == named[topo][k]);
            for (int s = 0; topo && s < 3; s++)
                assert_true(v.pi[s] == first[s]);
            check_rows(&f);
            close_fixture(&f);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(by_hand), cmocka_unit_test(unsupported),
                                        cmocka_unit_test(fixed_entries), cmocka_unit_test(dead_component),
                                        cmocka_unit_test(dead_states) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
