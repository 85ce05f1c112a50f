/* SPDX-License-Identifier: BSD-3-Clause */
/* ppk_pair.c - the probability product kernel of two HMMs in plain C.  Paper, Section 4.2, with mixtures:
 *
 *   k~(a, b) = sum over state sequences x of a, x' of b and their components of
 *              int (p(y, x | a) p(y, x' | b))^lambda dy_1:tau
 *
 * The integral factors over time, so that with
 *   Psi(s, s') = sum_{m,l} (c_m c'_l)^lambda int N_m^lambda N_l^lambda dy
 *   F_1(s, s') = (pi_s pi'_s')^lambda Psi(s, s')
 *   F_t(q, q') = Psi(q, q') sum_s a_{s q}^lambda sum_s' a'_{s' q'}^lambda F_t-1(s, s')
 * k~ = sum F_tau.  The sum over s' does not depend on q: S^3 a step, not S^4.  All in logs. */
#include "distance/ppk_pair.h"

#include "math/logsum.h"

#include <math.h>

enum { POLL = 1024 }; /* steps between checks of the stop flag */
enum { SLOT_PSI, SLOT_F, SLOT_TERM, SLOT_WORK };

/* Computes Psi [Sa][Sb], in logs. */
static vhem_status emissions(vhem_ctx *ctx, const vh_product *p, int i, int j, vh_scratch *scratch,
                             double *Psi)
{
    const vh_packed *a = p->a, *b = p->b;
    int Sa = a->S[i], Ma = a->M[i], Sb = b->S[j], Mb = b->M[j];
    double *term, *work;

    VH_SCRATCH(term, SLOT_TERM, Ma * Mb);
    VH_SCRATCH(work, SLOT_WORK, vh_emission_room(a->family, &a->shape));
    for (int s = 0; s < Sa * Sb; s++) {
        for (int e = 0; e < Ma * Mb; e++) {
            size_t m = (size_t)(a->comp0[i] + s / Sb * Ma + e / Mb),
                   l = (size_t)(b->comp0[j] + s % Sb * Mb + e % Mb);
            term[e] = -INFINITY;
            if (!(a->c[m] > 0) || !(b->c[l] > 0))
                continue;
            VH_CHECK(a->family->log_product(&a->shape, a->par + m * VH_MAX_PARAM, b->par + l * VH_MAX_PARAM,
                                            p->lambda, &term[e], work),
                     VHEM_ENUMERIC,
                     "two components have no product kernel: a covariance is singular, or at this lambda the "
                     "kernel is infinite");
            term[e] += p->lambda * (log(a->c[m]) + log(b->c[l]));
        }
        Psi[s] = vh_logsum(Ma * Mb, term, 1);
    }
    return VHEM_OK;
}

typedef struct {    /* a step in one of the two chains */
    int S, n;       /* number of its states, and of the other chain's */
    double *log;    /* [S][S]  lambda log A */
    int by_s, by_r; /* strides of its states and of the other chain's in F */
    double *term;   /* [S]  scratch */
} chain_step;

/* out(q, r) = log sum_s a_{s q}^lambda exp F(s, r), F and out [S][n] with the strides of the step. */
static void take_step(const chain_step *c, const double *F, double *out)
{
    int S = c->S;
    for (int r = 0; r < c->n; r++)
        for (int q = 0; q < S; q++) {
            for (int s = 0; s < S; s++)
                c->term[s] = c->log[s * S + q] + F[s * c->by_s + r * c->by_r];
            out[q * c->by_s + r * c->by_r] = vh_logsum(S, c->term, 1);
        }
}

/* lambda log A, once for all steps. */
static void take_logs(const double *A, double lambda, chain_step *c)
{
    for (int e = 0; e < c->S * c->S; e++)
        c->log[e] = lambda * log(A[e]);
}

/* log k~(a, b), eq. 62. */
vhem_status vh_ref_product_pair(vhem_ctx *ctx, const vh_product *p, int i, int j, vh_scratch *scratch,
                                double *log_k)
{
    const vh_packed *a = p->a, *b = p->b;
    int Sa = a->S[i], Sb = b->S[j], n = Sa * Sb;
    double *Psi, *F, *G, *term;

    VH_SCRATCH(Psi, SLOT_PSI, n);
    VH_SCRATCH(F, SLOT_F, 2 * n);
    G = F + n;
    VH_TRY(emissions(ctx, p, i, j, scratch, Psi));
    VH_SCRATCH(term, SLOT_TERM, (Sa > Sb ? Sa : Sb) + Sa * Sa + Sb * Sb);
    chain_step in_a = { Sa, Sb, term + (Sa > Sb ? Sa : Sb), Sb, 1, term };
    chain_step in_b = { Sb, Sa, in_a.log + Sa * Sa, 1, Sb, term };
    take_logs(a->A + a->trans0[i], p->lambda, &in_a);
    take_logs(b->A + b->trans0[j], p->lambda, &in_b);
    for (int e = 0; e < n; e++)
        F[e] = p->lambda * (log(a->pi[a->state0[i] + e / Sb]) + log(b->pi[b->state0[j] + e % Sb])) + Psi[e];
    for (int t = 2; t <= p->tau; t++) {
        VH_CHECK(t % POLL != 0 || !vh_stopped(ctx), VHEM_ESTOPPED, "stopped while a kernel was computed");
        take_step(&in_b, F, G);
        take_step(&in_a, G, F);
        for (int e = 0; e < n; e++)
            F[e] += Psi[e];
    }
    *log_k = vh_logsum(n, F, 1);
    VH_CHECK(!isnan(*log_k), VHEM_ENUMERIC, "the kernel of two HMMs is not a number");
    return VHEM_OK;
}

vhem_status vh_ref_product(vhem_ctx *ctx, const vh_product *p, const void *prepared, const vh_rectangle *r,
                           vh_scratch *scratch, double *log_k)
{
    (void)prepared;
    for (int i = 0; i < r->na; i++)
        for (int j = 0; j < r->nb; j++)
            VH_TRY(vh_ref_product_pair(ctx, p, r->a0 + i, r->b0 + j, scratch, &log_k[i * r->nb + j]));
    return VHEM_OK;
}

const vh_product_kernels vh_product_ref = { .kernel = vh_ref_product };
