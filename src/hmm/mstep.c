/* SPDX-License-Identifier: BSD-3-Clause */
/* mstep.c - the M-step.  Paper, Section 3.4 and Appendix B.  Observations are base components without spread:
 * then it is Baum-Welch, Rabiner 1989, section III.C.
 *
 *   pi_s ~ nu1_s     a_sq ~ xi_sq     c_sm ~ T_sm[0]     component: the family's maximiser of T_sm */
#include "hmm/mstep.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/logsum.h"
#include "math/scaled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Expected weights below this, at the scale of the HMM, are rounding noise. */
#define NOTHING 1e-200

/* Converts counts, row [n], to probabilities, with pseudo-counts. */
static void row_from(const vh_limits *lim, int n, const double *fixed, const double *old, double *row)
{
    for (int q = 0; q < n; q++)
        row[q] += lim->count * lim->unit;
    vh_constrain(n, fixed, old, row);
}

/* Fits component r of the packed set to its statistics T [n_stat] and the pseudo-frames; par receives the
 * parameters.  mean [2 n_stat] is scratch. */
static int component_from(const vh_limits *lim, const vh_packed *pk, int r, const double *T,
                          double *const *par, double *mean, double *work)
{
    double *made_up = mean + pk->n_stat, frames = lim->frame ? lim->frames * lim->unit : 0,
           all = T[0] + frames;
    if (frames > 0)
        pk->family->stats_of_component(&pk->about[r], lim->frame, made_up);
    for (int e = 0; e < pk->n_stat; e++)
        mean[e] = frames > 0 ? (T[e] + frames * made_up[e]) / all : T[e] / T[0];
    return pk->family->maximise(&pk->about[r], mean, lim->floor, par, work);
}

/* pi and A, eq. 58; weights c and the parameters of the components, eq. 59, by their family. */
vhem_status vh_mstep(vhem_ctx *ctx, const vh_limits *lim, const vh_packed *pk, int k, const vh_stats *stats,
                     vh_h3m *h3m, vh_hmm *h, int *n_floored)
{
    int S = h->S, M = h->M, n_stat = pk->n_stat, held = 0;
    VH_AUTOFREE double *mean = NULL;
    double *work, *row, count = lim->count * lim->unit;

    VH_NEW(mean, 2 * (size_t)n_stat + vh_emission_room(h3m->family, &h3m->shape) + (size_t)(S > M ? S : M));
    work = mean + 2 * n_stat;
    row = work + vh_emission_room(h3m->family, &h3m->shape);

    memcpy(row, stats->nu1 + pk->state0[k], sizeof *row * (size_t)S);
    row_from(lim, S, lim->fixed_pi, h->pi, row);
    memcpy(h->pi, row, sizeof *row * (size_t)S);
    for (int s = 0; s < S; s++) {
        memcpy(row, stats->xi + pk->trans0[k] + (size_t)(s * S), sizeof *row * (size_t)S);
        row_from(lim, S, lim->fixed_A ? lim->fixed_A + s * S : NULL, h->A + s * S, row);
        memcpy(h->A + s * S, row, sizeof *row * (size_t)S);
    }
    for (int s = 0; s < S; s++) {
        const double *T = stats->T + vh_row(pk->comp0[k] + s * M, n_stat);
        double sum = 0;
        for (int m = 0; m < M; m++)
            sum += T[m * n_stat] + count;
        for (int m = 0; m < M && sum > NOTHING; m++, T += n_stat) {
            double *par[VH_MAX_PARAM];
            vh_hmm_c(h)[s * M + m] = (T[0] + count) / sum;
            if (!(T[0] > NOTHING) && !lim->frame)
                continue;
            vh_hmm_component(h3m, h, s, m, par);
            int r = component_from(lim, pk, pk->comp0[k] + s * M + m, T, par, mean, work);
            VH_CHECK(r >= 0, VHEM_ENUMERIC,
                     "the covariance of state %d, component %d collapsed onto too few frames; "
                     "a floor (" VH_OPT("cov_floor") ") or fewer states help",
                     s, m);
            held += r;
        }
    }
    *n_floored = held;
    return VHEM_OK;
}

/* Sum of the logs of the free entries. */
static double log_free(int n, const double *fixed, const double *row)
{
    double sum = 0;
    for (int q = 0; q < n; q++)
        sum += !fixed || isnan(fixed[q]) ? log(row[q]) : 0;
    return sum;
}

double vh_mstep_log_prior(const vh_limits *lim, const vh_h3m *h3m, const vh_hmm *h, double *work)
{
    int S = h->S, M = h->M;
    double rows, sum = 0;

    if (!lim->frame)
        return 0;
    rows = log_free(S, lim->fixed_pi, h->pi) + log_free(S * S, lim->fixed_A, h->A)
           + log_free(S * M, NULL, vh_hmm_c(h));
    for (int q = 0; q < S * M; q++) {
        double *par[VH_MAX_PARAM], expected = 0;
        vh_hmm_component(h3m, h, q / M, q % M, par);
        h3m->family->expected_density(&h3m->shape, (const double *const *)par, lim->frame, 1, &expected, 1,
                                      work);
        sum += expected;
    }
    return lim->unit * (lim->count * rows + lim->frames * sum);
}

#define DEAD       1e-3 /* a state or component with fewer expected frames is dead */
#define SPLITTABLE 2.0  /* one with fewer is not split */

/* Splits component `from`: `to` becomes a copy of it, and the two are moved apart.  work [vh_nudge_work]. */
static void split(const vh_coords *x, vh_h3m *h3m, vh_hmm *h, int from, int to, vh_rng *rng, double *work)
{
    double *a[VH_MAX_PARAM], *b[VH_MAX_PARAM];
    vh_hmm_component(h3m, h, from / h->M, from % h->M, a);
    vh_hmm_component(h3m, h, to / h->M, to % h->M, b);
    vh_emission_copy(h3m->family, &h3m->shape, (const double *const *)a, b);
    vh_emission_part(h3m->family, x, rng, a, b, work);
}

static bool is_free(const double *fixed, int q)
{
    return !fixed || isnan(fixed[q]);
}

/* Splits state `from`: `to` gets half its incoming probability and a copy of its outgoing row, except fixed
 * entries. */
static void share_chain(const vh_limits *lim, vh_hmm *h, int from, int to)
{
    int S = h->S;
    for (int s = -1; s < S; s++) {
        double *row = s < 0 ? h->pi : h->A + s * S;
        const double *fixed = s < 0 ? lim->fixed_pi : lim->fixed_A ? lim->fixed_A + s * S : NULL;
        if (is_free(fixed, from) && is_free(fixed, to))
            row[from] = row[to] = (row[from] + row[to]) / 2;
    }
    const double *fixed = lim->fixed_A ? lim->fixed_A + to * S : NULL;
    double *row = h->A + to * S, weight = 0;
    for (int q = 0; q < S; q++)
        weight += is_free(fixed, q) ? h->A[from * S + q] : 0;
    if (weight > 0) { /* else all successors of `from` are fixed in `to`: keep its row */
        memcpy(row, h->A + from * S, sizeof *row * (size_t)S);
        vh_constrain(S, fixed, row, row);
    }
}

/* Expected frames of state s. */
static double state_weight(const double *T, int M, int n_stat, int s)
{
    double sum = 0;
    for (int m = 0; m < M; m++)
        sum += T[vh_row(s * M + m, n_stat)];
    return sum;
}

int vh_revive(const vh_limits *lim, const vh_packed *pk, int k, const vh_stats *stats, vh_h3m *h3m, vh_hmm *h,
              vh_rng *rng)
{
    int S = h->S, M = h->M, n_stat = pk->n_stat, revived = 0, big = 0;
    double unit = lim->unit / vh_scaled_value(1, stats->scale[k]); /* one frame, at the scale of T */
    const double *T = stats->T + vh_row(pk->comp0[k], n_stat);
    double *c = vh_hmm_c(h), *work = malloc(sizeof *work * vh_nudge_work(h3m->family, &h3m->shape));
    const vh_coords x = { h3m->shape, pk->x.origin,
                          h3m->family->location && h3m->family->location->part ? lim->scale : pk->x.scale };

    if (!work) /* fail, rather than silently skip the repairs */
        return -1;
    for (int s = 0; s < S; s++) { /* components inside a living state */
        const double *Ts = T + vh_row(s * M, n_stat);
        int top = vh_argmax(M, Ts, n_stat);
        for (int m = 0; m < M; m++)
            if (Ts[m * n_stat] < DEAD * unit && Ts[top * n_stat] > SPLITTABLE * unit) {
                split(&x, h3m, h, s * M + top, s * M + m, rng, work);
                c[s * M + top] = c[s * M + m] = (c[s * M + top] + c[s * M + m]) / 2;
                revived++;
            }
        if (state_weight(T, M, n_stat, s) > state_weight(T, M, n_stat, big))
            big = s;
    }
    for (int s = 0; s < S; s++) { /* whole states */
        if (state_weight(T, M, n_stat, s) >= DEAD * unit
            || state_weight(T, M, n_stat, big) < SPLITTABLE * unit)
            continue;
        for (int m = 0; m < M; m++) {
            split(&x, h3m, h, big * M + m, s * M + m, rng, work);
            c[s * M + m] = c[big * M + m];
        }
        share_chain(lim, h, big, s);
        revived++;
    }
    free(work);
    return revived;
}
