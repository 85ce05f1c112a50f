/* SPDX-License-Identifier: BSD-3-Clause */
/* dtm.c - storage of dynamic textures: shapes, copies, views, validation, comparison, and their files.
 * Parameters are stored unchanged.
 *
 *   1. storage                       3. validate and compare
 *   2. from views, and as views      4. files */
#include "dtm/dtm.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/linalg.h"
#include "hmm/hmm_set.h"
#include "files/hmm_file.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define TOLERANCE 1e-6 /* for sums of weights, and for symmetry */
#define NEGATIVE  1e-8 /* allowed negative eigenvalue of a covariance, as a share of the largest */

/* ---- 1. storage ---------------------------------------------------------------------------------------- */

void vh_dt_arrays(const vh_dt *dt, int n, int d, vh_named_array array[VH_DT_ARRAYS])
{
    const vh_named_array all[VH_DT_ARRAYS] = {
        { "A", 2, { { "n", n }, { "n", n } }, dt->A, false },
        { "Q", 2, { { "n", n }, { "n", n } }, dt->Q, false },
        { "mu", 1, { { "n", n } }, dt->mu, false },
        { "Sigma", 2, { { "n", n }, { "n", n } }, dt->Sigma, false },
        { "C", 2, { { "d", d }, { "n", n } }, dt->C, false },
        { "ybar", 1, { { "d", d } }, dt->ybar, false },
        { "R", 1, { { "d", d } }, dt->R, false },
    };
    memcpy(array, all, sizeof all);
}

vhem_status vh_dtm_new(vhem_ctx *ctx, int d, int64_t K, vh_dtm **out)
{
    VH_OWN(vh_dtm) *dtm = NULL;

    VH_CHECK(d >= 1, VHEM_EINVAL, "d is %d, must be at least 1", d);
    VH_CHECK(K >= 1, VHEM_EINVAL, "there are %lld textures, must be at least 1", (long long)K);
    VH_NEW(dtm, 1);
    dtm->d = d;
    VH_NEW(dtm->omega, K);
    VH_NEW(dtm->dt, K);
    dtm->K = K; /* last: vh_dtm_free uses dt[0 .. K-1] */
    for (int64_t i = 0; i < K; i++)
        dtm->omega[i] = 1.0 / K;
    *out = vh_take(dtm);
    return VHEM_OK;
}

vhem_status vh_dt_shape(vhem_ctx *ctx, int d, int n, vh_dt *dt)
{
    double *block = NULL, all = 3.0 * n * n + n + (double)d * n + 2.0 * d;
    size_t nn = vh_cells(n, n);

    VH_CHECK(n >= 1, VHEM_EINVAL, "n is %d, must be at least 1", n);
    VH_CHECK(all <= INT_MAX, VHEM_EINVAL, "n = %d, d = %d make %.3g numbers, must be at most %d", n, d, all,
             INT_MAX);
    VH_NEW(block, (size_t)all);
    free(dt->A);
    dt->n = n;
    dt->size = (size_t)all;
    dt->A = block;
    dt->Q = dt->A + nn;
    dt->Sigma = dt->Q + nn;
    dt->mu = dt->Sigma + nn;
    dt->C = dt->mu + n;
    dt->ybar = dt->C + vh_row(d, n);
    dt->R = dt->ybar + d;
    return VHEM_OK;
}

void vh_dt_copy(vh_dt *dst, const vh_dt *src)
{
    assert(dst->n == src->n && dst->size == src->size);
    memcpy(dst->A, src->A, src->size * sizeof *src->A);
}

/* frees the contents, not dt itself */
static void free_texture(vh_dt *dt)
{
    free(dt->name);
    free(dt->label);
    free(dt->extra);
    free(dt->A);
}

void vh_dtm_free(vh_dtm *dtm)
{
    if (!dtm)
        return;
    for (int64_t i = 0; i < dtm->K; i++)
        free_texture(&dtm->dt[i]);
    free(dtm->dt);
    free(dtm->omega);
    free(dtm->extra);
    free(dtm->provenance);
    free(dtm);
}

vhem_status vh_dtm_subset(vhem_ctx *ctx, const vh_dtm *dtm, const int64_t *index, int64_t K, vh_dtm **out)
{
    VH_OWN(vh_dtm) *sub = NULL;
    double sum = 0;

    VH_TRY(vh_dtm_new(ctx, dtm->d, K, &sub));
    for (int64_t k = 0; k < K; k++)
        sum += dtm->omega[index ? index[k] : k];
    for (int64_t k = 0; k < K; k++) {
        int64_t i = index ? index[k] : k;
        const vh_dt *from = &dtm->dt[i];
        VH_TRY(vh_dt_shape(ctx, dtm->d, from->n, &sub->dt[k]));
        vh_dt_copy(&sub->dt[k], from);
        VH_TRY(vh_h3m_set_text(ctx, &sub->dt[k].name, from->name));
        VH_TRY(vh_h3m_set_text(ctx, &sub->dt[k].label, from->label));
        sub->omega[k] = sum > 0 ? dtm->omega[i] / sum : 1.0 / K;
    }
    *out = vh_take(sub);
    return VHEM_OK;
}

/* ---- 2. from views, and as views ----------------------------------------------------------------------- */

static vhem_status copy_view(vhem_ctx *ctx, vh_dtm *dtm, int64_t i, const vhem_dt_view *v)
{
    vh_dt *dt = &dtm->dt[i];
    const double *from[VH_DT_ARRAYS] = { v->A, v->Q, v->mu, v->Sigma, v->C, v->ybar, v->R };
    vh_named_array array[VH_DT_ARRAYS];

    VH_CHECK(v->d == 0 || v->d == dtm->d, VHEM_EINVAL, "d is %d, must be %d as for all", v->d, dtm->d);
    VH_TRY(vh_dt_shape(ctx, dtm->d, v->n, dt));
    VH_TRY(vh_h3m_set_text(ctx, &dt->name, vh_model_text(v->name)));
    VH_TRY(vh_h3m_set_text(ctx, &dt->label, vh_model_text(v->label)));
    dtm->omega[i] = v->omega;
    vh_dt_arrays(dt, v->n, dtm->d, array);
    for (int k = 0; k < VH_DT_ARRAYS; k++) {
        size_t size = (size_t)array[k].dim[0].n * (array[k].rank == 2 ? (size_t)array[k].dim[1].n : 1);
        VH_CHECK(from[k], VHEM_EINVAL, "%s is not given", array[k].name);
        memcpy(array[k].at, from[k], size * sizeof *from[k]);
    }
    return VHEM_OK;
}

vhem_status vh_dtm_from_views(vhem_ctx *ctx, int d, int64_t K, const vhem_dt_view *dt, vh_dtm **out)
{
    VH_OWN(vh_dtm) *dtm = NULL;

    VH_TRY(vh_dtm_new(ctx, d, K, &dtm));
    for (int64_t i = 0; i < K; i++)
        VH_TRY(vh_dtm_error_in(ctx, copy_view(ctx, dtm, i, &dt[i]), dtm, i));
    VH_TRY(vh_dtm_validate(ctx, dtm));
    *out = vh_take(dtm);
    return VHEM_OK;
}

vhem_status vh_dtm_view(const vh_dtm *dtm, int64_t i, vhem_dt_view *out)
{
    if (i < 0 || i >= dtm->K)
        return VHEM_EINVAL;
    const vh_dt *dt = &dtm->dt[i];
    *out = (vhem_dt_view){ .n = dt->n,
                           .d = dtm->d,
                           .name = dt->name ? dt->name : "",
                           .label = dt->label ? dt->label : "",
                           .omega = dtm->omega[i],
                           .A = dt->A,
                           .Q = dt->Q,
                           .mu = dt->mu,
                           .Sigma = dt->Sigma,
                           .C = dt->C,
                           .ybar = dt->ybar,
                           .R = dt->R };
    return VHEM_OK;
}

/* ---- 3. validate and compare --------------------------------------------------------------------------- */

void vh_dtm_prefix(vhem_ctx *ctx, const vh_dtm *dtm, int64_t i)
{
    vh_model_prefix(ctx, "texture", i, dtm->dt[i].name);
}

vhem_status vh_dtm_error_in(vhem_ctx *ctx, vhem_status st, const vh_dtm *dtm, int64_t i)
{
    if (st != VHEM_OK)
        vh_dtm_prefix(ctx, dtm, i);
    return st;
}

/* Checks symmetry and that no eigenvalue is negative up to rounding.  work [n*n + n]. */
static vhem_status check_covariance(vhem_ctx *ctx, const char *name, int n, const double *S, double *work)
{
    double largest = 0, *w = work + vh_cells(n, n);

    for (int k = 0; k < n * n; k++)
        largest = fmax(largest, fabs(S[k]));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            VH_CHECK(fabs(S[i * n + j] - S[j * n + i]) <= TOLERANCE * largest, VHEM_EINVAL,
                     "%s[%d][%d] is %.10g and %s[%d][%d] is %.10g, a covariance is symmetric", name, i, j,
                     S[i * n + j], name, j, i, S[j * n + i]);
    memcpy(work, S, sizeof *S * vh_cells(n, n));
    VH_CHECK(vh_eigen(n, work, w), VHEM_ENUMERIC,
             "the eigenvalues of %s could not be found; perhaps memory is short", name);
    VH_CHECK(w[0] >= -NEGATIVE * largest, VHEM_EINVAL,
             "%s has the eigenvalue %.10g, a covariance has none below 0", name, w[0]);
    return VHEM_OK;
}

static vhem_status check_dt(vhem_ctx *ctx, const vh_dt *dt, int d, double *work)
{
    vh_named_array array[VH_DT_ARRAYS];

    vh_dt_arrays(dt, dt->n, d, array);
    for (int k = 0; k < VH_DT_ARRAYS; k++) {
        int size = (int)(array[k].dim[0].n * (array[k].rank == 2 ? array[k].dim[1].n : 1));
        for (int e = 0; e < size; e++)
            VH_CHECK(isfinite(array[k].at[e]), VHEM_EINVAL, "entry %d of %s is %g, must be a number", e,
                     array[k].name, array[k].at[e]);
    }
    for (int k = 0; k < d; k++)
        VH_CHECK(dt->R[k] > 0, VHEM_EINVAL, "R[%d] is %.10g, must be above 0", k, dt->R[k]);
    VH_TRY(check_covariance(ctx, "Q", dt->n, dt->Q, work));
    return check_covariance(ctx, "Sigma", dt->n, dt->Sigma, work);
}

vhem_status vh_dtm_validate(vhem_ctx *ctx, const vh_dtm *dtm)
{
    vhem_status st = VHEM_OK;
    VH_AUTOFREE double *work = NULL;
    double sum = 0;
    int n = 0;

    for (int64_t i = 0; i < dtm->K; i++) {
        VH_CHECK(dtm->omega[i] >= 0 && isfinite(dtm->omega[i]), VHEM_EINVAL,
                 "omega[%lld] is %.10g, must be a finite number of 0 or more", (long long)i, dtm->omega[i]);
        sum += dtm->omega[i];
        n = dtm->dt[i].n > n ? dtm->dt[i].n : n;
    }
    VH_CHECK(fabs(sum - 1) <= TOLERANCE, VHEM_EINVAL, "omega sums to %.10g, must be 1", sum);
    VH_NEW(work, vh_ij(n, n, n));
    for (int64_t i = 0; i < dtm->K; i++) {
        st = check_dt(ctx, &dtm->dt[i], dtm->d, work);
        if (st != VHEM_OK) {
            vh_dtm_prefix(ctx, dtm, i);
            return st;
        }
    }
    return st;
}

vhem_status vh_dtm_require_finite(vhem_ctx *ctx, const vh_dtm *dtm)
{
    for (int64_t i = 0; i < dtm->K; i++) {
        const vh_dt *dt = &dtm->dt[i];
        VH_CHECK(isfinite(dtm->omega[i]), VHEM_ENUMERIC, "omega[%lld] is %g, cannot be written", (long long)i,
                 dtm->omega[i]);
        for (size_t k = 0; k < dt->size; k++)
            VH_CHECK(isfinite(dt->A[k]), VHEM_ENUMERIC,
                     "texture %lld: one of its numbers is %g, cannot be written", (long long)i, dt->A[k]);
    }
    return VHEM_OK;
}

double vh_dtm_compare(const vh_dtm *a, const vh_dtm *b)
{
    if (a->d != b->d || a->K != b->K)
        return INFINITY;
    double worst = vh_model_difference(a->omega, b->omega, (size_t)a->K);
    for (int64_t i = 0; i < a->K; i++) {
        if (a->dt[i].n != b->dt[i].n)
            return INFINITY;
        worst = fmax(worst, vh_model_difference(a->dt[i].A, b->dt[i].A, a->dt[i].size));
    }
    return worst;
}

/* ---- 4. files ------------------------------------------------------------------------------------------ */

vhem_status vh_dtm_save(vhem_ctx *ctx, const vh_dtm *dtm, const char *path)
{
    return vh_model_is_hdf5(path) ? vh_dtm_save_hdf5(ctx, dtm, path) : vh_dtm_write_json(ctx, dtm, path);
}
