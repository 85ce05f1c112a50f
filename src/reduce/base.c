/* SPDX-License-Identifier: BSD-3-Clause */
/* base.c - see base.h. */
#include "reduce/base.h"

#include "core/alloc.h"

#include <math.h>

typedef struct {
    int S, M, i;
} shape;

static int by_shape(const void *a, const void *b)
{
    const shape *p = a, *q = b;
    if (p->S != q->S)
        return p->S < q->S ? -1 : 1;
    if (p->M != q->M)
        return p->M < q->M ? -1 : 1;
    return p->i < q->i ? -1 : p->i > q->i;
}

/* Within each chunk alone: which HMMs are in a chunk must not hang on the others. */
static vhem_status sort_by_shape(vhem_ctx *ctx, const vh_h3m *h3m, int *order)
{
    vhem_status st = VHEM_OK;
    shape *s = NULL;
    VH_NEW(s, h3m->K);
    for (int i = 0; i < h3m->K; i++)
        s[i] = (shape){ h3m->hmm[i].S, h3m->hmm[i].M, i };
    for (int first = 0; first < h3m->K; first += VH_REDUCE_CHUNK) {
        int left = h3m->K - first;
        qsort(s + first, (size_t)(left < VH_REDUCE_CHUNK ? left : VH_REDUCE_CHUNK), sizeof *s, by_shape);
    }
    for (int i = 0; i < h3m->K; i++)
        order[i] = s[i].i;
done:
    free(s);
    return st;
}

/* Adds w mu (about NULL) or w (cov + (mu - about)^2) of every base component to sum [d]; returns the sum of
 * the weights w.  mean and var [d] are overwritten. */
static double add_pass(const vh_h3m *h3m, const double *about, double *mean, double *var, double *sum)
{
    int d = h3m->d;
    double all = 0;
    for (int i = 0; i < h3m->K; i++) {
        const vh_hmm *h = &h3m->hmm[i];
        for (int q = 0; q < h->S * h->M; q++) {
            double *par[VH_MAX_PARAM], w = (h3m->omega[i] + 1e-300) * vh_hmm_c(h)[q] / h->S;
            vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
            h3m->family->location->moments(&h3m->shape, (const double *const *)par, mean, var);
            for (int k = 0; k < d; k++) {
                double u = about ? mean[k] - about[k] : 0;
                sum[k] += w * (about ? u * u + var[k] : mean[k]);
            }
            all += w;
        }
    }
    return all;
}

/* Mean and deviation of all base components together, each counted with omega c / S: where the product is
 * taken; 0 and 1 for families without a location.  Both arrays come zeroed; work [2 d]. */
static void spread(const vh_h3m *h3m, double *origin, double *scale, double *work)
{
    for (int k = 0; !h3m->family->location && k < h3m->d; k++)
        scale[k] = 1;
    if (!h3m->family->location)
        return;
    double all = add_pass(h3m, NULL, work, work + h3m->d, origin);
    for (int k = 0; k < h3m->d; k++)
        origin[k] /= all;
    add_pass(h3m, origin, work, work + h3m->d, scale);
    for (int k = 0; k < h3m->d; k++) {
        scale[k] = sqrt(scale[k] / all);
        if (!(scale[k] > 1e-14 * fabs(origin[k])) || !isfinite(scale[k]))
            scale[k] = 1;
    }
}

static void add_means(vh_base *b)
{
    const vh_packed *pk = b->packed;
    double all = 0;
    for (int k = 0; k < pk->K; k++)
        for (int r = pk->comp0[k]; r < pk->comp0[k + 1]; r++) {
            double w = (b->omega[k] + 1e-300) * pk->c[r] / pk->S[k];
            for (int e = 0; e < pk->n_stat; e++)
                b->mean[e] += w * pk->mean[(size_t)r * (size_t)pk->n_stat + (size_t)e];
            all += w;
        }
    for (int e = 0; e < pk->n_stat; e++)
        b->mean[e] /= all;
}

/* A part of the packed set: its offsets are those of the whole. */
static vhem_status block(vhem_ctx *ctx, const void *arg, int first, int n, vh_packed *out)
{
    const vh_base *base = arg;
    (void)ctx;
    *out = *base->packed;
    out->K = n;
    out->S += first;
    out->M += first;
    out->state0 += first;
    out->comp0 += first;
    out->trans0 += first;
    out->n_state = out->state0[n] - out->state0[0];
    out->n_comp = out->comp0[n] - out->comp0[0];
    out->n_trans = out->trans0[n] - out->trans0[0];
    return VHEM_OK;
}

vhem_status vh_base_pack(vhem_ctx *ctx, const vh_h3m *h3m, vh_base **out)
{
    vhem_status st = VHEM_OK;
    vh_base *b = NULL;
    double *work = NULL;

    VH_NEW(b, 1);
    b->h3m = h3m;
    b->Kb = h3m->K;
    VH_NEW(b->order, h3m->K);
    VH_NEW(b->omega, h3m->K);
    VH_NEW(b->origin, h3m->d);
    VH_NEW(b->scale, h3m->d);
    VH_TRY(sort_by_shape(ctx, h3m, b->order));
    for (int p = 0; p < h3m->K; p++)
        b->omega[p] = h3m->omega[b->order[p]];
    VH_NEW(work, 2 * (size_t)h3m->d);
    spread(h3m, b->origin, b->scale, work);
    VH_TRY(vh_pack_base(ctx, h3m, b->order, h3m->K, b->origin, b->scale, &b->packed));
    VH_NEW(b->mean, b->packed->n_stat);
    add_means(b);
    *out = b;
    b = NULL;
done:
    free(work);
    vh_base_free(b);
    return st;
}

vhem_status vh_base_new(vhem_ctx *ctx, const vh_h3m *h3m, vh_base **out)
{
    vhem_status st = VHEM_OK;
    vh_base *b = NULL;

    VH_TRY(vh_base_pack(ctx, h3m, &b));
    const vh_base_source source = {
        .K = b->Kb, .omega = b->omega, .number = b->order, .block = block, .resident = true, .arg = b
    };
    VH_TRY(vh_reduce_open(ctx, &source, &b->job));
    *out = b;
    b = NULL;
done:
    vh_base_free(b);
    return st;
}

void vh_base_free(vh_base *base)
{
    if (!base)
        return;
    vh_reduce_close(base->job);
    free(base->order);
    free(base->omega);
    free(base->origin);
    free(base->scale);
    free(base->mean);
    vh_pack_free(base->packed);
    free(base);
}
