/* SPDX-License-Identifier: BSD-3-Clause */
/* em_start.c - starts for EM-H3M.
 *
 *   far     sets far from each other, an HMM fitted to each: the first set at random, the next drawn with
 *           probability increasing with how badly the HMMs so far explain it.  A set with fewer frames than
 *           the HMM has components is extended by its neighbours
 *   dealt   the sets dealt at random into K equal hands, an HMM started from each */
#include "fit/em_h3m.h"

#include "core/alloc.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { FAR_ITER = 5 }; /* of Baum-Welch on a single set */

/* Lists in where [n] the sets that have sequences. */
static vhem_status used_sets(vhem_ctx *ctx, const vh_sets *sets, int64_t **where, int64_t *n)
{
    *n = 0;
    VH_NEW(*where, sets->n);
    for (int64_t g = 0; g < sets->n; g++)
        if (sets->first[g] < sets->first[g + 1])
            (*where)[(*n)++] = g;
    return VHEM_OK;
}

/* Updates best [sets], the log-likelihood per frame under the best HMM so far, for the new HMM k. */
static vhem_status update_best(vhem_ctx *ctx, const vh_mixture *mix, const vh_h3m *h3m, int64_t k,
                               double *best)
{
    const vh_sets *sets = mix->sets;
    VH_OWN(vh_packed) *pk = NULL;
    VH_CLEANUP(vh_seq_sums_free) vh_seq_sums sums = { 0 };
    VH_AUTOFREE double *loglik = NULL;
    double mass;

    VH_NEW(loglik, mix->item.n);
    VH_TRY(vh_pack_new(ctx, h3m, &k, 1, mix->item.origin, mix->item.scale, &pk));
    VH_TRY(vh_pack_update(ctx, h3m, &k, pk));
    VH_TRY(vh_seq_sums_new(ctx, pk, 0, &sums));
    sums.loglik = loglik;
    VH_TRY(vh_sequences_run(ctx, mix->seqs, &(vh_seq_step){ .pk = pk }, &sums));
    for (int64_t g = 0; g < sets->n; g++) {
        double sum = 0;
        vh_sets_frames(sets, mix->item.data, g, &mass);
        for (int64_t i = sets->first[g]; i < sets->first[g + 1]; i++)
            sum += vh_data_weight(mix->item.data, sets->seq[i]) * loglik[i];
        if (mass > 0)
            best[g] = fmax(best[g], sum / mass);
    }
    return VHEM_OK;
}

/* Draws a position in where [n] with probability proportional to how much worse than the best set it is
 * explained; sets of weight 0 only if there are no others. */
static int64_t pick_far(vh_rng *rng, int64_t n, const int64_t *where, const double *best, double *p)
{
    double top = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++)
        top = fmax(top, best[where[i]]);
    for (int64_t i = 0; i < n; i++)
        sum += p[i] = isfinite(best[where[i]]) ? top - best[where[i]] : 0;
    if (!(sum > 0) || !isfinite(sum))
        return vh_rng_below(rng, n);
    for (int64_t i = 0; i < n; i++)
        p[i] /= sum;
    return vh_rng_pick(rng, n, p);
}

/* The sequences of set g, extended by neighbouring sequences to at least `least` frames. */
static vh_em_seeding seed_of(const vh_mixture *mix, int64_t g, int64_t least)
{
    const vh_sets *sets = mix->sets;
    int64_t lo = sets->first[g], hi = sets->first[g + 1], end = sets->first[sets->n], frames = 0;
    for (int64_t i = lo; i < hi; i++)
        frames += vh_data_length(mix->item.data, sets->seq[i]);
    for (; frames < least && hi < end; hi++)
        frames += vh_data_length(mix->item.data, sets->seq[hi]);
    for (; frames < least && lo > 0; lo--)
        frames += vh_data_length(mix->item.data, sets->seq[lo - 1]);
    return (vh_em_seeding){ .seq = sets->seq + lo, .n = hi - lo, .iterations = FAR_ITER };
}

static vhem_status far(vhem_ctx *ctx, const vh_mixture *mix, vh_rng *rng, vh_h3m *h3m, int first)
{
    const vh_sets *sets = mix->sets;
    VH_AUTOFREE int64_t *where = NULL;
    int64_t n = 0;
    int K = (int)mix->item.opt->K;
    VH_AUTOFREE double *best = NULL, *p = NULL;

    VH_TRY(used_sets(ctx, sets, &where, &n));
    VH_NEW(best, sets->n);
    VH_NEW(p, n);
    for (int64_t g = 0; g < sets->n; g++)
        best[g] = -INFINITY;
    for (int j = 0; j < K; j++) {
        int64_t at = j == 0 ? vh_rng_below(rng, n) : pick_far(rng, n, where, best, p), g = where[at];
        const vh_hmm *h = &h3m->hmm[first + j];
        vh_em_seeding from = seed_of(mix, g, (int64_t)h->S * h->M);
        from.limits = &mix->limits[j];
        VH_TRY(vh_em_seed(ctx, mix, &from, rng, h3m, &h3m->hmm[first + j]));
        h3m->omega[first + j] = 1.0 / K;
        if (n > 1) { /* each set only once, while there are enough */
            memmove(where + at, where + at + 1, sizeof *where * (size_t)(n - at - 1));
            n--;
        }
        if (j + 1 < K)
            VH_TRY(update_best(ctx, mix, h3m, first + j, best));
    }
    return VHEM_OK;
}

static vhem_status dealt(vhem_ctx *ctx, const vh_mixture *mix, vh_rng *rng, vh_h3m *h3m, int first)
{
    const vh_sets *sets = mix->sets;
    VH_AUTOFREE int64_t *where = NULL, *seq = NULL;
    int64_t n = 0;
    int K = (int)mix->item.opt->K;

    VH_TRY(used_sets(ctx, sets, &where, &n));
    assert(n > 0);
    VH_NEW(seq, mix->item.n);
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t k = vh_rng_below(rng, i + 1);
        int64_t swap = where[i];
        where[i] = where[k];
        where[k] = swap;
    }
    for (int j = 0; j < K; j++) {
        int64_t n_seq = 0;
        for (int64_t i = j % n; i < n; i += K) /* j % n: with more HMMs than sets, hands repeat */
            for (int64_t k = sets->first[where[i]]; k < sets->first[where[i] + 1]; k++)
                seq[n_seq++] = sets->seq[k];
        const vh_em_seeding from = { &mix->limits[j], seq, n_seq, 0 };
        VH_TRY(vh_em_seed(ctx, mix, &from, rng, h3m, &h3m->hmm[first + j]));
        h3m->omega[first + j] = 1.0 / K;
    }
    return VHEM_OK;
}

const char *const vh_em_starts[] = { "far", "dealt", NULL };

vhem_status vh_em_start(vhem_ctx *ctx, const char *name, const vh_mixture *mix, vh_rng *rng, vh_h3m *h3m,
                        int first)
{
    return strcmp(name, "far") == 0 ? far(ctx, mix, rng, h3m, first) : dealt(ctx, mix, rng, h3m, first);
}
