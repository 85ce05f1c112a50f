/* SPDX-License-Identifier: BSD-3-Clause */
/* pack.c - from models to the arrays of the engine: log p(y_t | r) for all frames and components is one
 * matrix product, theta . T'. */
#include "hmm/pack.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/linalg.h"
#include "emission/layout.h"
#include "hmm/missing_columns.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* In the product, terms up to `loss` cancel to a result of order one, with an error of about 2e-16 loss.  1e5
 * keeps ten decimal places. */
#define MAX_LOSS 1e5

/* The sparse product pays off from this many statistics and components on. */
enum { SPARSE = 64, MANY = 16 };

/* Sizes, offsets, chains, coordinates and pointers to parameters, for both sides of the product. */
static vhem_status pack_shape(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, int64_t K,
                              const double *origin, const double *scale, vh_packed **out)
{
    VH_OWN(vh_packed) *pk = NULL;
    double *xs = NULL;

    VH_CHECK(K < INT_MAX, VHEM_EINVAL,
             "%lld models do not fit into memory at once; in HDF5 they are read in parts", (long long)K);
    VH_NEW(pk, 1);
    pk->family = h3m->family;
    pk->shape = h3m->shape;
    pk->d = h3m->d;
    pk->n_stat = h3m->family->n_stat(&h3m->shape);
    pk->K = (int)K;
    VH_NEW(pk->S, K);
    VH_NEW(pk->M, K);
    VH_NEW(pk->state0, K + 1);
    VH_NEW(pk->comp0, K + 1);
    VH_NEW(pk->trans0, K + 1);
    for (int k = 0; k < pk->K; k++) {
        const vh_hmm *h = &h3m->hmm[index ? index[k] : k];
        VH_CHECK((double)pk->comp0[k] + (double)h->S * h->M < INT_MAX, VHEM_EINVAL,
                 "the models have more than %d components together; in HDF5 they are read in parts", INT_MAX);
        pk->S[k] = h->S;
        pk->M[k] = h->M;
        pk->state0[k + 1] = pk->state0[k] + h->S;
        pk->comp0[k + 1] = pk->comp0[k] + h->S * h->M;
        pk->trans0[k + 1] = pk->trans0[k] + vh_cells(h->S, h->S);
    }
    pk->n_state = pk->state0[K];
    pk->n_comp = pk->comp0[K];
    pk->n_trans = pk->trans0[K];
    pk->sparse = h3m->family->sparse && pk->n_stat >= SPARSE && pk->n_comp >= MANY;
    VH_NEW(pk->pi, pk->n_state);
    VH_NEW(pk->A, pk->n_trans);
    VH_NEW(pk->par, (size_t)pk->n_comp * VH_MAX_PARAM);
    VH_NEW(xs, 2 * (size_t)h3m->d);
    memcpy(xs, origin, sizeof *xs * (size_t)h3m->d);
    memcpy(xs + h3m->d, scale, sizeof *xs * (size_t)h3m->d);
    pk->x = (vh_coords){ .shape = h3m->shape, .origin = xs, .scale = xs + h3m->d };
    *out = vh_take(pk);
    return VHEM_OK;
}

vhem_status vh_pack_new(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, int64_t K,
                        const double *origin, const double *scale, vh_packed **out)
{
    VH_OWN(vh_packed) *pk = NULL;

    VH_TRY(pack_shape(ctx, h3m, index, K, origin, scale, &pk));
    VH_NEW(pk->theta, vh_cells(pk->n_comp, pk->n_stat));
    VH_NEW(pk->log_c, pk->n_comp);
    VH_NEW(pk->direct, pk->n_comp);
    VH_NEW(pk->about, pk->n_comp);
    if (vh_shift_counts(pk->family, &pk->shape) > 0)
        VH_NEW(pk->seen_shift, vh_cells(pk->n_comp, vh_shift_counts(pk->family, &pk->shape)));
    *out = vh_take(pk);
    return VHEM_OK;
}

/* Copies the chain of HMM k and sets the pointers to its components. */
static void take_chain(const vh_h3m *h3m, const vh_hmm *h, int k, vh_packed *pk)
{
    memcpy(pk->pi + pk->state0[k], h->pi, sizeof *h->pi * (size_t)h->S);
    memcpy(pk->A + pk->trans0[k], h->A, sizeof *h->A * vh_cells(h->S, h->S));
    for (int q = 0; q < h->S * h->M; q++) {
        double *par[VH_MAX_PARAM];
        vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
        for (int p = 0; p < h3m->family->n_param; p++)
            pk->par[(size_t)(pk->comp0[k] + q) * VH_MAX_PARAM + (size_t)p] = par[p];
    }
}

/* Records which columns each HMM lacks; allocates nothing if none does. */
static vhem_status note_lacking(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, vh_packed *pk)
{
    bool any = false;
    for (int e = 0; !any && e < pk->K; e++)
        for (int k = 0; !any && k < pk->d; k++)
            any = vh_hmm_lacks(h3m, &h3m->hmm[index ? index[e] : e], k);
    if (!any)
        return VHEM_OK;
    VH_NEW(pk->lacks, vh_cells(pk->K, pk->d));
    for (int e = 0; e < pk->K; e++)
        for (int k = 0; k < pk->d; k++)
            pk->lacks[vh_ij(e, pk->d, k)] = vh_hmm_lacks(h3m, &h3m->hmm[index ? index[e] : e], k);
    return VHEM_OK;
}

vhem_status vh_pack_base(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, int64_t K,
                         const double *origin, const double *scale, vh_packed **out)
{
    VH_OWN(vh_packed) *pk = NULL;

    VH_TRY(pack_shape(ctx, h3m, index, K, origin, scale, &pk));
    VH_NEW(pk->c, pk->n_comp);
    VH_NEW(pk->mean, vh_cells(pk->n_comp, pk->n_stat));
    VH_TRY(note_lacking(ctx, h3m, index, pk));
    for (int k = 0; k < pk->K; k++) {
        const vh_hmm *h = &h3m->hmm[index ? index[k] : k];
        take_chain(h3m, h, k, pk);
        memcpy(pk->c + pk->comp0[k], vh_hmm_c(h), sizeof *pk->c * (size_t)(h->S * h->M));
        for (int r = pk->comp0[k]; r < pk->comp0[k + 1]; r++)
            pk->family->stats_of_component(&pk->x, pk->par + (size_t)r * VH_MAX_PARAM,
                                           pk->mean + vh_row(r, pk->n_stat));
    }
    *out = vh_take(pk);
    return VHEM_OK;
}

vhem_status vh_pack_update(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *index, vh_packed *pk)
{
    VH_AUTOFREE double *work = NULL;

    VH_NEW(work, vh_emission_room(pk->family, &pk->shape));
    pk->n_direct = 0;
    if (pk->seen_shift)
        memset(pk->seen_shift, 0,
               sizeof *pk->seen_shift * vh_cells(pk->n_comp, vh_shift_counts(pk->family, &pk->shape)));
    for (int k = 0; k < pk->K; k++) {
        const vh_hmm *h = &h3m->hmm[index ? index[k] : k];
        take_chain(h3m, h, k, pk);
        for (int q = 0; q < h->S * h->M; q++) {
            int r = pk->comp0[k] + q;
            double *theta = pk->theta + vh_row(r, pk->n_stat), c = vh_hmm_c(h)[q];
            const double *const *par = pk->par + (size_t)r * VH_MAX_PARAM;
            pk->log_c[r] = c > 0 ? log(c) : VH_NEVER;
            double loss = pk->family->natural(&pk->x, par, theta, work);
            if (loss < 0 && c == 0) { /* singular, but unused */
                memset(theta, 0, sizeof *theta * (size_t)pk->n_stat);
                loss = 0;
            }
            pk->at_fault = loss >= 0 ? -1 : index ? index[k] : k;
            VH_CHECK(loss >= 0, VHEM_ENUMERIC,
                     "the %s of state %d, component %d is singular; a floor (" VH_OPT("cov_floor") ") helps",
                     pk->family->location ? "covariance" : "distribution", q / h->M, q % h->M);
            pk->direct[r] = !(loss <= MAX_LOSS);
            pk->n_direct += pk->direct[r];
            theta[0] += pk->log_c[r];
            pk->about[r] = pk->x;
            if (pk->direct[r] && pk->family->location && pk->family->location->mean_first)
                pk->about[r].origin = par[0];
        }
    }
    return VHEM_OK;
}

void vh_pack_free(vh_packed *pk)
{
    if (!pk)
        return;
    free(pk->S);
    free(pk->M);
    free(pk->state0);
    free(pk->comp0);
    free(pk->trans0);
    free(pk->pi);
    free(pk->A);
    free(pk->c);
    free(pk->mean);
    free(pk->lacks);
    free(pk->theta);
    free(pk->log_c);
    free(pk->seen_shift);
    free(pk->par);
    free(pk->direct);
    free(pk->about);
    free((void *)pk->x.origin);
    free(pk);
}

/* Shift of columns k .. k+n-1: the sum over observed columns; whole: a single shift if any is observed. */
static double shift_of_cells(const double *shift, const double *y, int k, int n, bool whole)
{
    double sum = 0;
    for (int i = k; i < k + n; i++)
        if (!isnan(y[i]) && whole)
            return shift[k];
        else if (!isnan(y[i]))
            sum += shift[i];
    return sum;
}

double vh_pack_seen_shift(const vh_packed *pk, int r, const double *y)
{
    const vh_layout *layout = pk->shape.layout;
    double sum = 0;

    if (!pk->seen_shift)
        return 0;
    const double *shift = pk->seen_shift + vh_row(r, vh_shift_counts(pk->family, &pk->shape));
    if (!vh_param_is_channels(&pk->family->param[0]))
        return shift_of_cells(shift, y, 0, pk->d, pk->family->seen == VH_SEEN_FRAMES);
    for (int c = 0; c < layout->n_channel; c++) {
        const vh_channel *ch = &layout->channel[c];
        sum +=
            shift_of_cells(shift, y, ch->column, ch->shape.d, ch->family->with_gaps->seen == VH_SEEN_FRAMES);
    }
    return sum;
}

double vh_pack_shift(const vh_packed *pk, int r, const vh_packed *base, int i)
{
    int n = pk->seen_shift ? vh_shift_counts(pk->family, &pk->shape) : 0;
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += base->lacks && base->lacks[vh_ij(i, pk->d, k)] ? 0 : pk->seen_shift[vh_ij(r, n, k)];
    return sum;
}

void vh_table_stats(const vh_packed *pk, const double *y, int64_t n, double *T)
{
    pk->family->stats_of_obs(&pk->x, y, n, T);
}

void vh_table_product(const vh_packed *pk, int lo, int hi, int n, const double *T, double *G, size_t ld)
{
    const double *theta = pk->theta + vh_row(lo, pk->n_stat);
    (pk->sparse ? vh_gemm_nt_sparse : vh_gemm_nt)(hi - lo, n, pk->n_stat, theta, T, G + (size_t)lo * ld, ld);
}

void vh_table_look_up(const vh_packed *pk, int lo, int hi, const double *y, int64_t n, double *G, size_t ld)
{
    for (int64_t t = 0; t < n; t++) {
        int at = pk->family->hot(y + t * pk->d);
        for (int r = lo; r < hi; r++) {
            const double *theta = pk->theta + vh_row(r, pk->n_stat);
            G[(size_t)r * ld + (size_t)t] = theta[0] + (at > 0 ? theta[at] : 0);
        }
    }
}

void vh_table_add_up(const vh_packed *pk, int lo, int hi, const vh_known_frames *frames, const double *W,
                     size_t ld, double *sum)
{
    for (int64_t t = 0; t < frames->n; t++) {
        int at = pk->family->hot(frames->y + t * pk->d);
        for (int r = lo; r < hi; r++) {
            double *to = sum + vh_row(r, pk->n_stat), w = W[(size_t)r * ld + (size_t)t];
            to[0] += w;
            if (at > 0)
                to[at] += w;
        }
    }
}

vhem_status vh_table_direct(vhem_ctx *ctx, const vh_packed *pk, int lo, int hi, const vh_known_frames *frames,
                            double *G, size_t ld, double *work)
{
    const vh_emission *f = pk->family;
    for (int r = lo; pk->n_direct && r < hi; r++) {
        if (!pk->direct[r])
            continue;
        double *row = G + (size_t)r * ld;
        const double *const *par = pk->par + vh_row(r, VH_MAX_PARAM);
        if (f->log_density_known)
            f->log_density_known(&pk->shape, par, frames, row, work);
        else if (!f->log_density(&pk->shape, par, frames->y, frames->n, row, work))
            return vh_fail(ctx, VHEM_ENUMERIC,
                           "a %s became singular; a floor (" VH_OPT("cov_floor") ") helps",
                           f->location ? "covariance" : "distribution");
        for (int64_t t = 0; t < frames->n; t++)
            row[t] += pk->log_c[r] + vh_pack_seen_shift(pk, r, frames->y + t * pk->d);
    }
    return VHEM_OK;
}
