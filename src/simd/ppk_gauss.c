/* SPDX-License-Identifier: BSD-3-Clause */
/* ppk_gauss.c - see ppk.h: products of Gaussians for the product kernel between HMMs.
 *
 * Diagonal, with v = v_a + v_b and u = mu_a - mu_b per dimension: sum u^2 / v is kept as one fraction num /
 * den over several dimensions, with den = prod v,
 *   num := num v + u^2 den,   den := den v
 * six operations per dimension and one division per block.  den also gives the determinant: mantissas are
 * multiplied and exponents added, which leaves one log per pair.  The caller chooses the block size to keep
 * everything in the range of a double.
 *
 * Full: Sigma_a + Sigma_b = L D L' in 4 x 4 tiles, with u as an additional row of W = L D; the quadratic form
 * is then sum w_k^2 / D_k.  d^3 / 6 multiply-adds per pair. */
#include "simd/ppk.h"

#include "core/array2.h"

#include <string.h>

enum { ROWS = VH_PRODUCT_ROWS, T = 4 };
#define UNROLL _Pragma("GCC unroll 8")

typedef struct { /* a product of many numbers: mantissa in [1, 2^n) and exponent */
    vec mantissa;
    vec_bits exponent;
    int n;
} wide;

/* w *= x for normal x > 0; x <= 0 makes the log wrong, which the caller must detect. */
VEC_INLINE
void wide_multiply(wide *w, vec x)
{
    const unsigned long long one = 0x3ff0000000000000, fraction = 0x000fffffffffffff;
    w->mantissa *= (vec)(((vec_bits)x & fraction) | one);
    w->exponent += (vec_bits)x >> 52;
    w->n++;
}

VEC_INLINE
vec wide_log(const wide *w)
{
    /* the sum of exponents as a double, through the low bits of VEC_ROUND */
    vec e = (vec)(w->exponent + 0x4338000000000000) - VEC_ROUND;
    return vec_log(w->mantissa) + (e - 1023.0 * w->n) * 6.93147180559945309417e-01;
}

/* ROWS components of a against component b of the group. */
VEC_INLINE
void diag_rows(const vh_product_table *t, const double *restrict a, const vec *restrict b, vec *quad,
               wide *det)
{
    const int d = t->d;
    for (int r = 0; r < ROWS; r++) {
        quad[r] = (vec){ 0 };
        det[r] = (wide){ .mantissa = vec_all(1) };
    }
    for (int k0 = 0; k0 < d; k0 += t->block) {
        const int end = k0 + t->block < d ? k0 + t->block : d;
        vec num[ROWS], den[ROWS];
        UNROLL
        for (int r = 0; r < ROWS; r++) {
            vec u = b[2 * k0] - a[r * 2 * d + 2 * k0];
            num[r] = u * u;
            den[r] = b[2 * k0 + 1] + a[r * 2 * d + 2 * k0 + 1];
        }
        for (int k = k0 + 1; k < end; k++) {
            vec mu = b[2 * k], v_b = b[2 * k + 1];
            UNROLL
            for (int r = 0; r < ROWS; r++) {
                vec u = mu - a[r * 2 * d + 2 * k], v = v_b + a[r * 2 * d + 2 * k + 1];
                num[r] = num[r] * v + (u * den[r]) * u;
                den[r] *= v;
            }
        }
        UNROLL
        for (int r = 0; r < ROWS; r++) {
            quad[r] += num[r] / den[r];
            wide_multiply(&det[r], den[r]);
        }
    }
}

void VH_NAME(vh_product_diag)(vh_product_table *t)
{
    for (int q = 0; q < t->Cb; q++)
        for (int i = 0; i < t->n; i += ROWS) {
            vec quad[ROWS];
            wide det[ROWS];
            diag_rows(t, t->a + (size_t)i * 2 * (size_t)t->d, t->b + (size_t)q * 2 * (size_t)t->d, quad, det);
            UNROLL
            for (int r = 0; r < ROWS; r++)
                t->x[(i + r) * t->Cb + q] =
                    t->log_wa[i + r] + t->log_wb[q] - 0.5 * wide_log(&det[r]) - 0.5 * t->lambda * quad[r];
        }
}

/* ---- full ---------------------------------------------------------------------------------------------- */

/* d rounded up to whole tiles.  W and L are [n][n]; then u, as one more row of W, and the inverse of D. */
static int padded(int d)
{
    return (d + T - 1) / T * T;
}

size_t VH_NAME(vh_product_work)(int d)
{
    size_t n = (size_t)padded(d);
    return 2 * n * n + 2 * n;
}

/* W = lower triangle of Sigma_a + Sigma_b, padded with ones on the diagonal, and u = mu_a - mu_b. */
static void fill_difference(int d, int n, const double *a, const vec *b, vec *restrict W, vec *restrict u)
{
    const double *at = a + d;
    const vec *from = b + d;
    for (int i = 0; i < n; i++) {
        vec *row = W + i * n;
        for (int j = 0; i < d && j <= i; j++)
            row[j] = *from++ + *at++;
        for (int j = 0; i >= d && j <= i; j++)
            row[j] = vec_all(j == i);
        u[i] = (vec){ 0 };
        if (i < d)
            u[i] = b[i] - a[i];
    }
}

/* W tile (i, j) -= W(i, k < j) L(j, k < j)', `rows` rows. */
VEC_INLINE
void subtract(int n, const int rows, int j, vec *restrict W, const vec *restrict L)
{
    vec sum[T][T];
    UNROLL
    for (int r = 0; r < rows; r++)
        UNROLL
    for (int c = 0; c < T; c++)
        sum[r][c] = W[r * n + j + c];
    for (int k = 0; k < j; k++)
        UNROLL
    for (int r = 0; r < rows; r++)
        UNROLL
    for (int c = 0; c < T; c++)
        sum[r][c] -= W[r * n + k] * L[(j + c) * n + k];
    UNROLL
    for (int r = 0; r < rows; r++)
        UNROLL
    for (int c = 0; c < T; c++)
        W[r * n + j + c] = sum[r][c];
}

/* Eliminates within the tile's own columns, then L = W / D (NULL: not needed). */
VEC_INLINE
void solve(int n, const int rows, int j, vec *restrict W, const vec *restrict L_j, vec *L,
           const vec *restrict inverse)
{
    UNROLL
    for (int r = 0; r < rows; r++)
        UNROLL
    for (int c = 0; c < T; c++) {
        vec w = W[r * n + j + c];
        for (int k = 0; k < c; k++)
            w -= W[r * n + j + k] * L_j[c * n + j + k];
        W[r * n + j + c] = w;
        if (L)
            L[r * n + j + c] = w * inverse[j + c];
    }
}

/* Column c of the diagonal tile: D_c is final; the entries below it enter the next column. */
static void diagonal_block(int n, int j, vec *restrict W, vec *restrict L, vec *restrict inverse, wide *det,
                           vec *least)
{
    for (int c = 0; c < T; c++) {
        for (int r = c; r < T; r++) {
            vec w = W[r * n + j + c];
            for (int k = 0; k < c; k++)
                w -= W[r * n + j + k] * L[c * n + j + k];
            W[r * n + j + c] = w;
        }
        vec D = W[c * n + j + c];
        *least = vec_min(D, *least);
        wide_multiply(det, D);
        inverse[j + c] = 1 / D;
        for (int r = c + 1; r < T; r++)
            L[r * n + j + c] = W[r * n + j + c] * inverse[j + c];
    }
}

/* One pair of components; NaN if some D is not positive. */
static vec full_pair(const vh_product_table *t, const double *a, const vec *b)
{
    const int n = padded(t->d);
    vec *W = t->work, *L = W + vh_cells(n, n), *u = L + vh_cells(n, n), *inverse = u + n;
    vec quad = { 0 }, least = vec_all(1);
    wide det = { .mantissa = vec_all(1) };
    fill_difference(t->d, n, a, b, W, u);
    for (int j = 0; j < n; j += T) {
        subtract(n, T, j, W + j * n, L);
        diagonal_block(n, j, W + j * n, L + j * n, inverse, &det, &least);
        for (int i = j + T; i < n; i += T) {
            subtract(n, T, j, W + i * n, L);
            solve(n, T, j, W + i * n, L + j * n, L + i * n, inverse);
        }
        subtract(n, 1, j, u, L);
        solve(n, 1, j, u, L + j * n, NULL, inverse);
        for (int c = j; c < j + T; c++)
            quad += u[c] * u[c] * inverse[c];
    }
    vec x = -0.5 * wide_log(&det) - 0.5 * t->lambda * quad;
    for (int l = 0; l < VH_LANES; l++)
        if (!(least[l] > 1e-290))
            x[l] = __builtin_nan("");
    return x;
}

void VH_NAME(vh_product_full)(vh_product_table *t)
{
    size_t size = (size_t)t->d + (size_t)t->d * (size_t)(t->d + 1) / 2;
    for (int i = 0; i < t->n; i++)
        for (int q = 0; q < t->Cb; q++)
            t->x[i * t->Cb + q] =
                t->log_wa[i] + t->log_wb[q] + full_pair(t, t->a + (size_t)i * size, t->b + (size_t)q * size);
}
