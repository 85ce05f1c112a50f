/* SPDX-License-Identifier: BSD-3-Clause */
/* base_moments.c - see base_moments.h. */
#include "vhem/base_moments.h"

#include "vhem/estep.h"
#include "core/alloc.h"
#include "hmm/missing_columns.h"

#include <math.h>

#define LEAST_WEIGHT 1e-300 /* weight of an HMM with omega 0: if all are 0, all count alike */

int vh_base_moments_width(const vh_base_moments *s)
{
    const vh_h3m *h3m = s->h3m;
    return s->kind == VH_BASE_STATISTICS ? h3m->family->n_stat(&h3m->shape) : h3m->d;
}

size_t vh_base_moments_size(const vh_base_moments *s)
{
    return 2 * (size_t)vh_base_moments_width(s) + (size_t)s->h3m->d + 3;
}

/* Adds w times the values of a component to sum [width]: mu, cov + (mu - origin)^2, or E[T]; adds w to the
 * weights behind them.  work [2][width] is overwritten. */
static void add_component(const vh_base_moments *s, const double *const *par, double w, double *work,
                          double *sum)
{
    const vh_h3m *h3m = s->h3m;
    int n = vh_base_moments_width(s);
    double *mean = work, *var = work + n;

    if (s->kind == VH_BASE_STATISTICS) {
        const vh_coords x = { .shape = h3m->shape, .origin = s->origin, .scale = s->scale };
        h3m->family->stats_of_component(&x, par, mean);
    } else {
        h3m->family->moments(&h3m->shape, par, mean, var);
    }
    for (int k = 0; k < n; k++) {
        double u = s->kind == VH_BASE_SPREAD ? mean[k] - s->origin[k] : 0;
        if (isnan(mean[k]))
            continue;
        sum[k] += w * (s->kind == VH_BASE_SPREAD ? u * u + var[k] : mean[k]);
        sum[n + k] += w;
    }
}

/* Adds all components of n HMMs. */
static void add_hmms(const vh_base_moments *s, const vh_h3m *h3m, int64_t first, int n, double *work,
                     double *sum)
{
    for (int64_t i = first; i < first + n; i++) {
        const vh_hmm *h = &h3m->hmm[i];
        for (int q = 0; q < h->S * h->M; q++) {
            double *par[VH_MAX_PARAM], w = (h3m->omega[i] + LEAST_WEIGHT) * vh_hmm_c(h)[q] / h->S;
            vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
            add_component(s, (const double *const *)par, w, work, sum);
        }
    }
}

/* Counts the HMMs that have each column, and those that lack any. */
static void count_columns(const vh_h3m *h3m, int64_t first, int n, double *sum)
{
    for (int64_t i = first; i < first + n; i++) {
        bool lacks = false;
        for (int k = 0; k < h3m->d; k++) {
            bool lacking = vh_hmm_lacks(h3m, &h3m->hmm[i], k);
            lacks |= lacking;
            sum[k] += !lacking && h3m->omega[i] > 0;
        }
        sum[h3m->d] += lacks;
    }
}

/* Fingerprint of chunk c, n HMMs from `first` on, as two integers whose sums over all chunks are exact. */
static void add_fingerprint(const vh_h3m *h3m, int64_t first, int n, int64_t c, double *sum)
{
    uint64_t h = vh_hash_chain((uint64_t)c, h3m->omega + first, sizeof *h3m->omega * (size_t)n);
    for (int64_t i = first; i < first + n; i++) {
        const vh_hmm *m = &h3m->hmm[i];
        h = vh_hash_chain(h, m->pi, vh_hmm_numbers(m) * sizeof *m->pi);
    }
    sum[0] += (double)(h & UINT32_MAX);
    sum[1] += (double)(h >> 32);
}

vhem_status vh_base_moments_chunk(vhem_ctx *ctx, const vh_base_moments *s, int64_t c, double *block)
{
    int64_t first = c * VH_REDUCE_CHUNK, left = s->K - first;
    int n = left < VH_REDUCE_CHUNK ? (int)left : VH_REDUCE_CHUNK;
    VH_OWN(vh_h3m) *own = NULL;
    VH_AUTOFREE double *work = NULL;

    VH_NEW(work, 2 * vh_base_moments_width(s));
    if (s->shards) {
        vh_shards_expect(s->shards, first + VH_READ_AHEAD * VH_REDUCE_CHUNK, VH_REDUCE_CHUNK);
        VH_TRY(vh_shards_read(ctx, s->shards, first, n, false, &own));
    }
    const vh_h3m *from = own ? own : s->h3m;
    int64_t at = own ? 0 : first;
    for (int i = 0; s->order && s->kind != VH_BASE_SPREAD && i < n; i++)
        s->omega[first + i] = from->omega[at + s->order[first + i] - first];
    add_hmms(s, from, at, n, work, block);
    double *columns = block + 2 * vh_base_moments_width(s);
    count_columns(from, at, n, columns);
    if (s->kind != VH_BASE_SPREAD)
        add_fingerprint(from, at, n, c, columns + from->d + 1);
    return VHEM_OK;
}
