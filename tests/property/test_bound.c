/* SPDX-License-Identifier: BSD-3-Clause */
/* test_bound.c - the bound and its statistics against enumeration over all state sequences, and against a
 * direct loop for one state. */
#include "support.h"

#include "vhem/pair_bound.h"
#include "core/alloc.h"
#include "vhem/vhem_h3m.h"
#include "vhem.h"

enum { SB = 2, SR = 3, TAU = 3 };

typedef struct {
    vhem_ctx *ctx;
    vh_h3m *base_h3m, *centers;
    vh_base *base;
    vh_packed *pk;
    vh_scratch scratch;
    double L_gmm[SB][SR];
    const double *pi_b, *A_b, *pi_r, *A_r;
} setting;

static void open_setting(setting *s, uint64_t seed)
{
    vh_rng rng;
    memset(s, 0, sizeof *s);
    s->ctx = test_ctx_with("ref", 1, 1);
    vh_rng_init(&rng, seed, VH_RNG_TEST, 7);
    s->base_h3m = random_h3m(s->ctx, &rng, 1, SB, 1, 2, 0, 1);
    s->centers = random_h3m(s->ctx, &rng, 1, SR, 1, 2, 0, 1);
    assert_ok(s->ctx, vh_base_new(s->ctx, s->base_h3m, &s->base));
    assert_ok(s->ctx, vh_pack_new(s->ctx, s->centers, NULL, 1, s->base->origin, s->base->scale, &s->pk));
    assert_ok(s->ctx, vh_pack_update(s->ctx, s->centers, NULL, s->pk));
    const vh_hmm *b = &s->base_h3m->hmm[0], *r = &s->centers->hmm[0];
    const double *mu_b = vh_hmm_param(s->base_h3m, b, 0), *v_b = vh_hmm_param(s->base_h3m, b, 1);
    const double *mu_r = vh_hmm_param(s->centers, r, 0), *v_r = vh_hmm_param(s->centers, r, 1);
    for (int i = 0; i < SB; i++)
        for (int j = 0; j < SR; j++)
            for (int k = 0; k < 2; k++) {
                double u = mu_b[i * 2 + k] - mu_r[j * 2 + k], v = v_r[j * 2 + k];
                s->L_gmm[i][j] -= 0.5 * (log(2 * acos(-1.0) * v) + (u * u + v_b[i * 2 + k]) / v);
            }
    s->pi_b = b->pi;
    s->A_b = b->A;
    s->pi_r = r->pi;
    s->A_r = r->A;
}

static void close_setting(setting *s)
{
    vh_scratch_free(&s->scratch);
    vh_pack_free(s->pk);
    vh_base_free(s->base);
    vh_h3m_free(s->base_h3m);
    vh_h3m_free(s->centers);
    vhem_free(s->ctx);
}

/* phi1 [SB][SR] and phi [t][rho'][beta][rho]: conditional distributions shared by all base sequences. */
typedef struct {
    double first[SB][SR], next[TAU][SR][SB][SR];
} factors;

/* The objective for given factors:
 *
 *   sum over all beta and rho of p(beta) q(rho | beta) [log p(rho) - log q + sum L_gmm]
 *
 * nu [SR][SB] and xi [SR][SR] are the expected times under p q. */
static double enumerate(const setting *s, const factors *f, double nu[SR][SB], double xi[SR][SR])
{
    double total = 0;
    memset(nu, 0, sizeof(double) * SR * SB);
    memset(xi, 0, sizeof(double) * SR * SR);
    for (int bs = 0; bs < SB * SB * SB; bs++)
        for (int rs = 0; rs < SR * SR * SR; rs++) {
            int b[TAU] = { bs % SB, bs / SB % SB, bs / SB / SB },
                r[TAU] = { rs % SR, rs / SR % SR, rs / SR / SR };
            double p = s->pi_b[b[0]], q = f->first[b[0]][r[0]],
                   in = log(s->pi_r[r[0]]) + s->L_gmm[b[0]][r[0]];
            for (int t = 1; t < TAU; t++) {
                p *= s->A_b[b[t - 1] * SB + b[t]];
                q *= f->next[t][r[t - 1]][b[t]][r[t]];
                in += log(s->A_r[r[t - 1] * SR + r[t]]) + s->L_gmm[b[t]][r[t]];
            }
            total += p * q * (in - log(q));
            for (int t = 0; t < TAU; t++)
                nu[r[t]][b[t]] += p * q;
            for (int t = 1; t < TAU; t++)
                xi[r[t - 1]][r[t]] += p * q;
        }
    return total;
}

/* The best factors, straight from Appendix A. */
static void best_factors(const setting *s, factors *f)
{
    double L[SB][SR] = { { 0 } };
    for (int t = TAU - 1; t >= 0; t--) {
        double new_L[SB][SR] = { { 0 } }, U[SB][SR];
        for (int b = 0; b < SB; b++)
            for (int from = 0; from < (t > 0 ? SR : 1); from++) {
                double sum = 0, *phi = t > 0 ? f->next[t][from][b] : f->first[b];
                for (int r = 0; r < SR; r++)
                    sum += phi[r] =
                        (t > 0 ? s->A_r[from * SR + r] : s->pi_r[r]) * exp(s->L_gmm[b][r] + L[b][r]);
                for (int r = 0; r < SR; r++)
                    phi[r] /= sum;
                U[b][from] = log(sum);
            }
        for (int b = 0; t > 0 && b < SB; b++)
            for (int r = 0; r < SR; r++)
                for (int to = 0; to < SB; to++)
                    new_L[b][r] += s->A_b[b * SB + to] * U[to][r];
        memcpy(L, new_L, sizeof L);
    }
}

static void test_enumeration(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        setting s;
        factors f, other;
        vh_rng rng;
        double nu[SR][SB], xi[SR][SR], got_nu[SR * SB], L;
        vh_stats stats = { 0 };
        open_setting(&s, seed);
        assert_ok(s.ctx, vh_stats_new(s.ctx, s.pk, &stats));
        const vh_reduce_pair pair = { s.base->packed, s.pk, TAU, 0, 0, 1 };
        assert_ok(s.ctx, vh_ref_reduce_pair(s.ctx, &pair, &s.scratch, &L, &stats, got_nu));
        best_factors(&s, &f);
        double want = enumerate(&s, &f, nu, xi), sum_xi = 0, sum_nu = 0;
        assert_near(L, want, 1e-12, 1e-12);
        for (int r = 0; r < SR; r++) {
            for (int b = 0; b < SB; b++) {
                assert_near(got_nu[r * SB + b], nu[r][b], 1e-11, 1e-13);
                sum_nu += got_nu[r * SB + b];
            }
            for (int q = 0; q < SR; q++) {
                assert_near(stats.xi[r * SR + q], xi[r][q], 1e-11, 1e-13);
                sum_xi += stats.xi[r * SR + q];
            }
        }
        assert_near(sum_nu, TAU, 1e-12, 0);
        assert_near(sum_xi, TAU - 1, 1e-12, 0);
        vh_rng_init(&rng, seed, VH_RNG_TEST, 8); /* and no other factors do better */
        for (int k = 0; k < 50; k++) {
            double nu2[SR][SB], xi2[SR][SR], *x = (double *)&other;
            other = f;
            for (size_t row = 0; row < sizeof other / sizeof(double) / SR; row++) {
                double sum = 0;
                for (int r = 0; r < SR; r++)
                    sum += x[row * SR + (size_t)r] =
                        fabs(x[row * SR + (size_t)r]) * exp(0.1 * vh_rng_normal(&rng)) + 1e-300;
                for (int r = 0; r < SR; r++)
                    x[row * SR + (size_t)r] /= sum;
            }
            assert_true(enumerate(&s, &other, nu2, xi2) <= want + 1e-12);
        }
        vh_stats_free(&stats);
        close_setting(&s);
    }
}

/* Mixture hierarchies (one state, one component, tau = 1) by a direct loop: z ~ omega exp(N_i L), weighted
 * means. */
enum { KB = 12, KR = 3, D = 2, ITER = 5 };

static void direct_loop(const vh_h3m *base, double N, double omega[KR], double mu[KR][D], double v[KR][D])
{
    for (int iter = 0; iter < ITER; iter++) {
        double z[KB][KR];
        for (int i = 0; i < KB; i++) {
            const double *m = vh_hmm_param(base, &base->hmm[i], 0), *c = vh_hmm_param(base, &base->hmm[i], 1);
            double sum = 0;
            for (int j = 0; j < KR; j++) {
                double L = 0;
                for (int k = 0; k < D; k++)
                    L -= 0.5 * (log(2 * acos(-1.0) * v[j][k]) + (pow(m[k] - mu[j][k], 2) + c[k]) / v[j][k]);
                sum += z[i][j] = omega[j] * exp(N / KB * L);
            }
            for (int j = 0; j < KR; j++)
                z[i][j] /= sum;
        }
        for (int j = 0; j < KR; j++) {
            double w = 0;
            for (int i = 0; i < KB; i++)
                w += z[i][j];
            omega[j] = w / KB;
            for (int k = 0; k < D; k++) {
                double m1 = 0, m2 = 0;
                for (int i = 0; i < KB; i++)
                    m1 += z[i][j] * vh_hmm_param(base, &base->hmm[i], 0)[k] / w;
                for (int i = 0; i < KB; i++)
                    m2 += z[i][j] / w
                          * (vh_hmm_param(base, &base->hmm[i], 1)[k]
                             + pow(vh_hmm_param(base, &base->hmm[i], 0)[k] - m1, 2));
                mu[j][k] = m1;
                v[j][k] = m2;
            }
        }
    }
}

static void test_one_state(void **state)
{
    (void)state;
    const double N = 30;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 9);
    vh_h3m *base = random_h3m(ctx, &rng, KB, 1, 1, D, 0, 3),
           *centers = random_h3m(ctx, &rng, KR, 1, 1, D, 0, 3);
    double mu[KR][D], v[KR][D], omega[KR];
    for (int j = 0; j < KR; j++) {
        omega[j] = centers->omega[j];
        for (int k = 0; k < D; k++) {
            mu[j][k] = vh_hmm_param(centers, &centers->hmm[j], 0)[k];
            v[j][k] = vh_hmm_param(centers, &centers->hmm[j], 1)[k];
        }
    }
    direct_loop(base, N, omega, mu, v);
    vh_base *b = NULL;
    vh_scratch scratch = { { 0 }, { 0 } };
    vh_vhem_run run = { 0 };
    const vh_vhem_options opt = { .N = N, .tau = 1, .max_iter = ITER };
    assert_ok(ctx, vh_base_new(ctx, base, &b));
    assert_ok(ctx, vh_vhem(ctx, b, &opt, &(vh_workers){ 1, &scratch }, centers, &run));
    for (int j = 0; j < KR; j++) {
        assert_near(centers->omega[j], omega[j], 1e-10, 1e-12);
        for (int k = 0; k < D; k++) {
            assert_near(vh_hmm_param(centers, &centers->hmm[j], 0)[k], mu[j][k], 1e-9, 1e-10);
            assert_near(vh_hmm_param(centers, &centers->hmm[j], 1)[k], v[j][k], 1e-9, 1e-10);
        }
    }
    vh_vhem_run_free(&run);
    vh_scratch_free(&scratch);
    vh_base_free(b);
    vh_h3m_free(base);
    vh_h3m_free(centers);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_enumeration),
                                        cmocka_unit_test(test_one_state) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
