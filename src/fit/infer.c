/* SPDX-License-Identifier: BSD-3-Clause */
/* infer.c - inference on sequences: log-likelihood, most likely states, posteriors. */
#include "fit/forward_backward.h"
#include "fit/estep.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/map.h"
#include "fit/family.h"
#include "fit/frames.h"
#include "fit/infer.h"
#include "fit/lengths.h"
#include "math/blas.h"
#include "math/logsum.h"
#include "hmm/shared_columns.h"

#include <math.h>
#include <string.h>

/* HMMs are scored in blocks of at most this many components: their tables then stay in cache. */
enum { TILE = 512, STRETCH = 1024 }; /* STRETCH: frames between checks of the stop flag */

typedef struct { /* columns in which a 0 is impossible, tested on the first 0 */
    const vh_h3m *h3m;
    char *known; /* [d]  0: not tested, 1: 0 is possible, 2: it is not */
} zeros;

/* True if column k is never 0, for any component. */
static bool is_never_zero(const vh_h3m *h3m, int k)
{
    for (int64_t i = 0; i < h3m->K; i++)
        for (int q = 0; q < h3m->hmm[i].S * h3m->hmm[i].M; q++) {
            double *par[VH_MAX_PARAM];
            vh_hmm_component(h3m, &h3m->hmm[i], q / h3m->hmm[i].M, q % h3m->hmm[i].M, par);
            if (!h3m->family->never_zero(&h3m->shape, (const double *const *)par, k))
                return false;
        }
    return true;
}

static const char *no_zero(const void *arg, int k, double y)
{
    const zeros *z = arg;
    if (y != 0)
        return NULL;
    if (z->known[k] == 0)
        z->known[k] = is_never_zero(z->h3m, k) ? 2 : 1;
    return z->known[k] == 2 ? "more than 0: no state of the models can give exactly 0" : NULL;
}

/* A frame impossible under every state gives likelihood 0: reports where it is. */
static vhem_status check_zeros(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data, const int64_t *seq,
                               int64_t n)
{
    VH_AUTOFREE char *known = NULL;
    int64_t n_missing;

    if (!h3m->family->never_zero)
        return VHEM_OK;
    VH_NEW(known, h3m->d);
    return vh_data_suits(ctx, data, seq, n, no_zero, &(zeros){ .h3m = h3m, .known = known }, &n_missing);
}

/* Gets sequences seq [n] (NULL: all) as h3m sees them; *seen is h3m in the matching family: the same
 * parameters, and statistics that handle missing cells.  Reads no other sequence, so that one call per
 * sequence costs no more than one for all. */
static vhem_status check_sequences(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data,
                                   const int64_t *seq, int64_t n, vh_frames *frames, vh_h3m *seen)
{
    *seen = *h3m;
    VH_TRY(vh_frames_for(ctx, data, seq, n, h3m, frames));
    VH_CHECK(h3m->d == frames->data->d, VHEM_EINVAL, "the models have dimension %d, but the data has %d",
             h3m->d, frames->data->d);
    if (frames->own) /* the copy has only these sequences */
        seq = NULL;
    VH_TRY(vh_family_for(ctx, h3m->family, &h3m->shape, frames->data, seq, n, &seen->family));
    return check_zeros(ctx, h3m, frames->data, seq, n);
}

/* A singular covariance comes from the input: the error names its HMM. */
static vhem_status pack_named(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, vh_packed *pk)
{
    vhem_status st = vh_pack_update(ctx, h3m, index, pk);
    if (st == VHEM_ENUMERIC)
        vh_h3m_prefix(ctx, h3m, pk->at_fault);
    return st;
}

/* Scores HMMs first .. first+n-1 on all sequences of the job. */
static vhem_status score_block(vhem_ctx *ctx, const vh_h3m *h3m, const vh_sequences *in,
                               vh_opened_sequences *opened, int64_t first, int64_t n, double *loglik)
{
    VH_OWN(vh_packed) *pk = NULL;
    VH_CLEANUP(vh_seq_sums_free) vh_seq_sums sums = { 0 };
    VH_AUTOFREE double *block = NULL;
    VH_AUTOFREE int64_t *index = NULL;

    VH_NEW(index, n);
    VH_NEW(block, vh_cells(in->n, n));
    for (int64_t k = 0; k < n; k++)
        index[k] = first + k;
    VH_TRY(vh_pack_new(ctx, h3m, index, n, in->x.origin, in->x.scale, &pk));
    VH_TRY(pack_named(ctx, h3m, index, pk));
    VH_TRY(vh_seq_sums_new(ctx, pk, 0, &sums));
    sums.loglik = block;
    VH_TRY(vh_sequences_run(ctx, opened, &(vh_seq_step){ .pk = pk }, &sums));
    for (int64_t s = 0; s < in->n; s++)
        for (int64_t k = 0; k < n; k++)
            loglik[vh_ij(s, h3m->K, first + k)] = vh_or_impossible(block[vh_ij(s, n, k)]);
    return VHEM_OK;
}

vhem_status vh_score_each(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *given, const char *what,
                          double *loglik)
{
    VH_BLAS_SERIAL;
    VH_AUTOFREE double *x = NULL;
    VH_AUTOFREE int64_t *seq = NULL;
    VH_CLEANUP(vh_frames_free) vh_frames frames = { 0 };
    VH_CLEANUP(vh_workers_free) vh_workers workers = { 0 };
    VH_OWN(vh_opened_sequences) *opened = NULL;
    vh_h3m seen;

    VH_TRY(check_sequences(ctx, h3m, given, NULL, given->N, &frames, &seen));
    const vhem_data *data = frames.data;
    VH_NEW(x, 2 * (size_t)data->d);
    VH_NEW(seq, data->N);
    VH_TRY(vh_workers_new(ctx, ctx->threads, &workers));
    for (int64_t n = 0; n < data->N; n++)
        seq[n] = n;
    vh_data_coords(h3m->family, &h3m->shape, data, NULL, data->N, NULL, x);
    const vh_sequences in = { .data = data,
                              .seq = seq,
                              .n = data->N,
                              .family = seen.family,
                              .x = { h3m->shape, x, x + data->d },
                              .workers = &workers };
    VH_TRY(vh_sequences_open(ctx, &in, &opened));
    for (int64_t i = 0; i < h3m->K;) {
        int64_t n = 0;
        int comps = 0;
        while (i + n < h3m->K && (n == 0 || comps + h3m->hmm[i + n].S * h3m->hmm[i + n].M <= TILE)) {
            comps += h3m->hmm[i + n].S * h3m->hmm[i + n].M;
            n++;
        }
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped; %lld of %lld HMMs were scored", (long long)i,
                 (long long)h3m->K);
        VH_TRY(score_block(ctx, &seen, &in, opened, i, n, loglik));
        i += n;
        if (what)
            vh_progress(ctx, what, i, h3m->K);
    }
    return VHEM_OK;
}

vhem_status vh_score(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data, const char *what,
                     double *loglik)
{
    vh_h3m *copy = NULL;
    vhem_status st = vh_h3m_shared_columns(ctx, h3m, &copy, &h3m);
    if (st == VHEM_OK)
        st = vh_score_each(ctx, h3m, data, what, loglik);
    vh_h3m_free(copy);
    return st;
}

vhem_status vh_h3m_score(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data, double *loglik)
{
    size_t size = vh_cells(data->N, h3m->K);
    VH_AUTOFREE double *table = NULL;

    VH_NEW(table, size);
    VH_TRY(vh_score(ctx, h3m, data, "score", table));
    memcpy(loglik, table, sizeof *table * size);
    return VHEM_OK;
}

/* ---- states of sequences ------------------------------------------------------------------------------- */

typedef struct { /* sequences first .. first+n-1, each under its HMM */
    const vh_h3m *h3m;
    const int64_t *hmm; /* [n] */
    int64_t first, n;
    const vhem_decoding *out;
    vh_frames frames; /* the sequences as the HMMs see them */
    vh_h3m seen;
    int64_t *seq;                /* [n]  their indices in frames */
    int64_t *frame, *gamma, *xi; /* [n]  offsets of the results */
    vh_workers workers;
} decoding;

typedef struct { /* one of them */
    const vhem_decoding *out;
    int64_t i, T;
    int S;
    vh_packed *pk;
    double *log_b; /* [T][S] */
} single;

static vhem_status single_open(vhem_ctx *ctx, const decoding *d, int64_t i, vh_scratch *scratch, single *x)
{
    const vhem_data *data = d->frames.data;
    int64_t n = d->seq[i], k = d->hmm[i];
    vh_h3m seen = d->seen;
    VH_AUTOFREE double *xs = NULL, *comp = NULL;

    *x = (single){ d->out, i, vh_data_length(data, n), d->h3m->hmm[k].S, NULL, NULL };
    /* the result for a sequence must not depend on cells missing in others */
    seen.family = vh_family_of_some(d->h3m->family, d->seen.family, data, &n, 1);
    VH_NEW(xs, 2 * (size_t)data->d);
    vh_data_coords(d->h3m->family, &d->h3m->shape, data, &n, 1, NULL, xs);
    VH_TRY(vh_pack_new(ctx, &seen, &k, 1, xs, xs + data->d, &x->pk));
    VH_TRY(pack_named(ctx, d->h3m, &k, x->pk));
    VH_NEW(x->log_b, x->T * x->S);
    VH_NEW(comp, x->T * x->S * d->h3m->hmm[k].M);
    const vh_seq_pair pair = { .pk = x->pk, .k = 0, .y = vh_data_frames(data, n), .T = x->T };
    return vh_ref_emissions(ctx, &pair, scratch, comp, x->log_b);
}

static void single_close(single *x)
{
    vh_pack_free(x->pk);
    free(x->log_b);
}

/* Viterbi: best [S] = max over paths to (t, s) of log p(path, y_1:t); stores T x S small backpointers. */
static vhem_status find_path(vhem_ctx *ctx, const single *x, int *path)
{
    int S = x->S;
    VH_AUTOFREE uint16_t *from = NULL;
    VH_AUTOFREE double *best = NULL;
    double *next, *log_A;

    VH_NEW(from, x->T * S);
    VH_NEW(best, 2 * (size_t)S + vh_cells(S, S));
    next = best + S;
    log_A = next + S;
    for (int e = 0; e < S * S; e++)
        log_A[e] = log(x->pk->A[e]);
    for (int s = 0; s < S; s++)
        best[s] = log(x->pk->pi[s]) + x->log_b[s];
    for (int64_t t = 1; t < x->T; t++) {
        VH_CHECK(t % STRETCH != 0 || !vh_stopped(ctx), VHEM_ESTOPPED, "stopped before the path was found");
        for (int q = 0; q < S; q++) {
            int arg = 0; /* ties: the lowest index */
            for (int s = 1; s < S; s++)
                if (best[s] + log_A[s * S + q] > best[arg] + log_A[arg * S + q])
                    arg = s;
            from[t * S + q] = (uint16_t)arg;
            next[q] = best[arg] + log_A[arg * S + q] + x->log_b[t * S + q];
        }
        memcpy(best, next, sizeof *best * (size_t)S);
    }
    int state = vh_argmax(S, best, 1);
    if (x->out->logprob)
        x->out->logprob[x->i] = vh_or_impossible(best[state]);
    for (int64_t t = x->T - 1; t >= 0; t--) {
        path[t] = state;
        state = from[t * S + state];
    }
    return VHEM_OK;
}

static vhem_status find_posterior(vhem_ctx *ctx, const decoding *d, const single *x, double *gamma,
                                  double *xi)
{
    VH_AUTOFREE double *beta = NULL, *alpha = NULL;

    VH_NEW(alpha, x->T * x->S);
    VH_NEW(beta, x->T * x->S);
    const vh_chain c = { x->S, x->T, x->pk->pi, x->pk->A, x->log_b, ctx };
    double ll = vh_or_impossible(vh_log_forward(&c, alpha));
    VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped before the posteriors were found");
    VH_CHECK(isfinite(ll), VHEM_ENUMERIC,
             "sequence %lld has the log-likelihood %g under HMM %lld: it has no posterior",
             (long long)(d->first + x->i), ll, (long long)d->hmm[x->i]);
    vh_log_backward(&c, beta);
    if (xi)
        memset(xi, 0, sizeof *xi * vh_cells(x->S, x->S));
    vh_log_posterior(&c, alpha, beta, 1.0, gamma ? gamma : alpha, xi);
    VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped before the posteriors were found");
    if (d->out->loglik)
        d->out->loglik[x->i] = ll;
    return VHEM_OK;
}

static vhem_status decode_one(vhem_ctx *ctx, void *arg, int64_t i, int worker)
{
    const decoding *d = arg;
    const vhem_decoding *out = d->out;
    VH_CLEANUP(single_close) single x = { 0 };

    VH_TRY(single_open(ctx, d, i, &d->workers.scratch[worker], &x));
    if (out->path)
        VH_TRY(find_path(ctx, &x, out->path + d->frame[i]));
    if (out->gamma || out->xi || out->loglik)
        VH_TRY(find_posterior(ctx, d, &x, out->gamma ? out->gamma + d->gamma[i] : NULL,
                              out->xi ? out->xi + d->xi[i] : NULL));
    return VHEM_OK;
}

static vhem_status decoding_open(vhem_ctx *ctx, const vhem_data *data, decoding *d)
{
    int64_t frame = 0, gamma = 0, xi = 0;

    VH_CHECK(d->first >= 0 && d->n >= 1 && d->first <= data->N - d->n, VHEM_EINVAL,
             "sequence %lld was asked for, but there are %lld",
             (long long)(d->first < 0 || d->first >= data->N ? d->first : d->first + d->n - 1),
             (long long)data->N);
    VH_NEW(d->seq, d->n);
    VH_NEW(d->frame, d->n);
    VH_NEW(d->gamma, d->n);
    VH_NEW(d->xi, d->n);
    for (int64_t i = 0; i < d->n; i++) {
        VH_CHECK(d->hmm[i] >= 0 && d->hmm[i] < d->h3m->K, VHEM_EINVAL,
                 "HMM %lld was asked for, but there are %lld", (long long)d->hmm[i], (long long)d->h3m->K);
        int64_t T = vh_data_length(data, d->first + i), S = d->h3m->hmm[d->hmm[i]].S;
        d->seq[i] = d->first + i;
        d->frame[i] = frame;
        d->gamma[i] = gamma;
        d->xi[i] = xi;
        frame += T;
        gamma += T * S;
        xi += S * S;
    }
    VH_TRY(check_sequences(ctx, d->h3m, data, d->seq, d->n, &d->frames, &d->seen));
    for (int64_t i = 0; d->frames.own && i < d->n; i++)
        d->seq[i] = i;
    return vh_workers_new(ctx, ctx->threads, &d->workers);
}

static void decoding_close(decoding *d)
{
    vh_frames_free(&d->frames);
    vh_workers_free(&d->workers);
    free(d->seq);
    free(d->frame);
    free(d->gamma);
    free(d->xi);
}

vhem_status vh_h3m_decode(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *hmm, const vhem_data *data,
                          int64_t first, int64_t n, const vhem_decoding *out)
{
    VH_BLAS_SERIAL;
    VH_CLEANUP(decoding_close) decoding d = { .h3m = h3m, .hmm = hmm, .first = first, .n = n, .out = out };
    int64_t failed;

    VH_TRY(decoding_open(ctx, data, &d));
    if (n == 1)
        return decode_one(ctx, &d, 0, 0);
    vhem_status st = vh_map(ctx, &(vh_work){ .n = n, .run = decode_one, .arg = &d }, &failed);
    VH_CHECK(st != VHEM_ESTOPPED, st, "stopped before all sequences were decoded");
    vh_data_release(d.frames.data, d.seq, n);
    return st;
}

vhem_status vh_h3m_posterior(vhem_ctx *ctx, const vh_h3m *h3m, int64_t i, const vhem_data *data, int64_t n,
                             double *gamma, double *xi, double *loglik)
{
    return vh_h3m_decode(ctx, h3m, &i, data, n, 1,
                         &(vhem_decoding){ .gamma = gamma, .xi = xi, .loglik = loglik });
}
