/* SPDX-License-Identifier: BSD-3-Clause */
/* dtw.c - see dtw.h.
 *
 *   1. coordinates  2. sequences  3. a diagonal  4. a pair  5. the table
 *
 * With x_0 .. x_S-1 the shorter sequence of a pair and y_0 .. y_L-1 the longer, cell (i, j) is the cheapest
 * path that pairs their first frames, at its beginning, and frames x_i and y_j, at its end:
 *
 *   C(i, j) = |x_i - y_j|^2 + min{ C(i-1, j), C(i, j-1), C(i-1, j-1) }         D = C(S-1, L-1)
 *
 * within a band (Sakoe and Chiba 1978) about the straight line from corner to corner,
 *
 *   |i - c_j| <= window S,   c_j = floor{ (j+1) S / (L+1) },
 *
 * which for equal lengths is |i - j| <= window L.  As j grows, c_j grows by 0 or 1, so there is a path in
 * every band.  Cells of a diagonal i + j = k do not depend on each other: they are computed together, in
 * vector units.  For that x is reversed: from cell to cell, both frames are then the next in memory.  Of two
 * sequences of one length either may be x: the same bits come out. */
#include "distance/dtw.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/order.h"
#include "parallel/map.h"
#include "parallel/ranks.h"

#include <assert.h>
#include <math.h>

/* Cells are computed in multiples of TOGETHER, so that there is no remainder; arrays have room for as many
 * more, which are not used. */
enum { TOGETHER = 4 };
/* Coordinates whose squares are added in one loop: more need too many registers. */
enum { FUSED = 3 };
enum { POLL = 1024 }; /* diagonals between two looks at the stop flag */
#define INLINE static inline __attribute__((always_inline))

typedef struct { /* a number of each frame that is compared */
    int column;
    enum { LINE, COSINE, SINE } kind;
    double middle, half; /* LINE: of the range of the column, which becomes -1 .. 1 */
    double mean, scale;  /* of these: their mean, 1 / deviation; 0 and 1 for angles */
    double unrelated;    /* average squared difference of two frames */
} coordinate;

typedef struct {
    const vhem_data *data;
    double window;
    int frames;
    const bool *circular;
    int64_t N;
    int64_t step;      /* every step-th frame is used */
    int E;             /* coordinates */
    coordinate *e;     /* [E] */
    double unrelated;  /* average cost of two frames */
    vh_ranked *order;  /* [N]  index in the data of each sequence, shortest first */
    int64_t *T;        /* [N]  frames used, in this order */
    bool *gaps;        /* [N]  misses some values */
    double **y, **has; /* [N]  [E][T] numbers, 0 where missing; 1 where they are known, 0 where missing */
    double *store;     /* all of these */
    double *D;         /* the upper triangle, by rows: N-1 numbers, N-2, .. 1 */
} warping;

static void warping_free(warping *w)
{
    free(w->e);
    free(w->order);
    free(w->T);
    free(w->gaps);
    free(w->y);
    free(w->has);
    free(w->store);
    free(w->D);
}

/* ---- 1. coordinates ------------------------------------------------------------------------------------ */

/* The range of each column; lo > hi if all its values are missing. */
static void find_ranges(const vhem_data *data, double *lo, double *hi)
{
    for (int k = 0; k < data->d; k++) {
        lo[k] = INFINITY;
        hi[k] = -INFINITY;
    }
    for (int64_t n = 0; n < data->N; n++) {
        const double *y = vh_data_frames(data, n);
        for (int64_t t = 0; t < vh_data_length(data, n); t++)
            for (int k = 0; k < data->d; k++, y++) {
                lo[k] = *y < lo[k] ? *y : lo[k];
                hi[k] = *y > hi[k] ? *y : hi[k];
            }
        vh_data_passed(data, n);
    }
}

static vhem_status choose_coordinates(vhem_ctx *ctx, warping *w)
{
    VH_AUTOFREE double *lo = NULL, *hi = NULL;
    int d = w->data->d;

    VH_NEW(lo, d);
    VH_NEW(hi, d);
    VH_NEW(w->e, 2 * (size_t)d);
    find_ranges(w->data, lo, hi);
    for (int k = 0; k < d; k++) {
        double middle = lo[k] / 2 + hi[k] / 2, half = hi[k] / 2 - lo[k] / 2;
        bool varies = half > 1e-14 * fabs(middle); /* by more than rounding errors */
        bool circular = w->circular && w->circular[k];
        coordinate c = { .column = k, .middle = middle, .half = half, .scale = 1 };
        for (int part = 0; varies && part < 1 + circular; part++) {
            c.kind = !circular ? LINE : part == 0 ? COSINE : SINE;
            w->e[w->E++] = c;
        }
    }
    return VHEM_OK;
}

INLINE double number_of(const coordinate *c, double y)
{
    double x = c->kind == LINE ? (y - c->middle) / c->half : c->kind == COSINE ? cos(y) : sin(y);
    return (x - c->mean) * c->scale;
}

/* part [N]: sums over the frames of each sequence of the number, or of its square.  Returns how many frames
 * have it. */
static int64_t add_by_sequence(const vhem_data *data, const coordinate *c, bool squared, double *part)
{
    int64_t seen = 0;
    for (int64_t n = 0; n < data->N; n++) {
        const double *y = vh_data_frames(data, n) + c->column;
        part[n] = 0;
        for (int64_t t = 0; t < vh_data_length(data, n); t++) {
            double x = isnan(y[t * data->d]) ? 0 : number_of(c, y[t * data->d]);
            seen += !isnan(y[t * data->d]);
            part[n] += isnan(y[t * data->d]) ? 0 : squared ? x * x : x;
        }
        vh_data_passed(data, n);
    }
    return seen;
}

/* The mean over all frames, bit-identical for any order of the sequences. */
static double mean_of(const vhem_data *data, const coordinate *c, bool squared, double *part)
{
    int64_t seen = add_by_sequence(data, c, squared, part);
    double sum = 0;
    vh_sort((size_t)data->N, part);
    for (int64_t n = 0; n < data->N; n++)
        sum += part[n];
    return sum / (double)seen;
}

/* Finds mean and deviation of each coordinate. */
static vhem_status standardise(vhem_ctx *ctx, warping *w)
{
    VH_AUTOFREE double *part = NULL;

    VH_NEW(part, w->N);
    for (coordinate *c = w->e; c < w->e + w->E; c++) {
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped before sequences were compared");
        c->mean = mean_of(w->data, c, false, part);
        double variance = mean_of(w->data, c, true, part);
        c->unrelated = c->kind == LINE ? 2 : 2 * variance;
        c->mean = c->kind == LINE ? c->mean : 0;
        c->scale = c->kind == LINE ? 1 / sqrt(variance) : 1;
        w->unrelated += c->unrelated;
    }
    return VHEM_OK;
}

/* ---- 2. sequences -------------------------------------------------------------------------------------- */

/* Sorts the sequences by length: cells of a row are compared with sequences that are at least as long. */
static vhem_status sort_sequences(vhem_ctx *ctx, warping *w)
{
    const vhem_data *data = w->data;
    w->step = data->start[w->N] / (w->N * w->frames);
    w->step = w->step > 1 ? w->step : 1;
    VH_NEW(w->order, w->N);
    VH_NEW(w->T, w->N);
    for (int64_t n = 0; n < w->N; n++)
        w->order[n] = (vh_ranked){ (double)vh_data_length(data, n), n };
    vh_rank_ascending((size_t)w->N, w->order);
    for (int64_t n = 0; n < w->N; n++)
        w->T[n] = (vh_data_length(data, w->order[n].i) + w->step - 1) / w->step;
    return VHEM_OK;
}

/* Fills y and has [E][T] of sequence n. */
static void fill_sequence(warping *w, int64_t n)
{
    int d = w->data->d;
    const double *frames = vh_data_frames(w->data, w->order[n].i);
    for (int e = 0; e < w->E; e++)
        for (int64_t t = 0; t < w->T[n]; t++) {
            double y = frames[t * w->step * d + w->e[e].column];
            bool known = !isnan(y);
            w->y[n][vh_ij(e, w->T[n], t)] = known ? number_of(&w->e[e], y) : 0;
            w->gaps[n] |= !known;
            if (w->has[n])
                w->has[n][vh_ij(e, w->T[n], t)] = known;
        }
    vh_data_release(w->data, &w->order[n].i, 1);
}

static vhem_status fill_sequences(vhem_ctx *ctx, warping *w, bool with_gaps)
{
    size_t frames = 0, fields = (size_t)w->E * (with_gaps ? 2 : 1);

    for (int64_t n = 0; n < w->N; n++)
        frames += (size_t)w->T[n];
    VH_NEW(w->gaps, w->N);
    VH_NEW(w->y, w->N);
    VH_NEW(w->has, w->N);
    VH_NEW(w->store, frames * fields + TOGETHER);
    double *at = w->store;
    for (int64_t n = 0; n < w->N; n++) {
        w->y[n] = at;
        w->has[n] = with_gaps ? at + vh_cells(w->E, w->T[n]) : NULL;
        at += fields * (size_t)w->T[n];
    }
    for (int64_t n = 0; n < w->N; n++)
        fill_sequence(w, n);
    return VHEM_OK;
}

static vhem_status warping_open(vhem_ctx *ctx, warping *w)
{
    int64_t n_missing = 0;

    VH_TRY(vh_data_suits(ctx, w->data, NULL, 0, NULL, NULL, &n_missing)); /* rejects infinity */
    VH_TRY(choose_coordinates(ctx, w));
    VH_TRY(standardise(ctx, w));
    VH_TRY(sort_sequences(ctx, w));
    VH_TRY(fill_sequences(ctx, w, n_missing > 0));
    VH_NEW(w->D, vh_cells(w->N, w->N - 1) / 2);
    return VHEM_OK;
}

/* ---- 3. a diagonal ------------------------------------------------------------------------------------- */

typedef struct { /* a sequence that is compared with longer ones, and n cells of a diagonal */
    const warping *w;
    double *x, *x_has;  /* [E][S]  its numbers, reversed in time; as in y and has */
    int64_t S, L;       /* lengths */
    int64_t *centre;    /* [L]  of the band */
    double *cells;      /* memory of */
    double *cell[3];    /* [-1 .. L]  cells of this diagonal and the two before it, by j */
    double *cost, *has; /* [L]  of their frames; with gaps, how much of that is known */
    int64_t n, lo;      /* the cells are j = lo .. lo+n-1 */
    int64_t from_x;     /* frame of x at lo */
    int64_t b;          /* the other sequence */
} comparison;

/* Adds the least of three cells to what the frames cost: coordinates first .. first+m-1 and, if begun,
 * c->cost, which has the others.  m and begun are constants. */
INLINE void step(const comparison *c, int first, int m, bool begun)
{
    int64_t S = c->S, L = c->L, n = c->n;
    const double *restrict x = c->x + vh_ij(first, S, c->from_x);
    const double *restrict y = c->w->y[c->b] + vh_ij(first, L, c->lo);
    const double *restrict last = c->cell[1] + c->lo, *restrict earlier = c->cell[2] + c->lo - 1;
    const double *restrict cost = c->cost;
    double *restrict cell = c->cell[0] + c->lo;
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        double left = last[j - 1], right = last[j], across = earlier[j], sum = begun ? cost[j] : 0;
        double least = left < right ? left : right;
        least = across < least ? across : least;
        for (int e = 0; e < m; e++) {
            double apart = x[e * S + j] - y[e * L + j];
            sum += apart * apart;
        }
        cell[j] = sum + least;
    }
}

/* Adds the squares of FUSED coordinates to c->cost. */
static void add_squares(const comparison *c, int first)
{
    int64_t S = c->S, L = c->L, n = c->n;
    const double *restrict x = c->x + vh_ij(first, S, c->from_x);
    const double *restrict y = c->w->y[c->b] + vh_ij(first, L, c->lo);
    double *restrict cost = c->cost;
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        double sum = cost[j];
        for (int e = 0; e < FUSED; e++) {
            double apart = x[e * S + j] - y[e * L + j];
            sum += apart * apart;
        }
        cost[j] = sum;
    }
}

/* Fills the diagonal; the coordinates before first are in c->cost. */
INLINE void step_last(const comparison *c, int first, bool begun)
{
    switch (c->w->E - first) {
    case 1: step(c, first, 1, begun); break;
    case 2: step(c, first, 2, begun); break;
    default: step(c, first, FUSED, begun);
    }
}

static void step_complete(const comparison *c)
{
    int first = 0;
    if (c->w->E <= FUSED) {
        step_last(c, 0, false);
        return;
    }
    memset(c->cost, 0, sizeof *c->cost * (size_t)c->n);
    for (; c->w->E - first > FUSED; first += FUSED)
        add_squares(c, first);
    step_last(c, first, true);
}

/* The cost of coordinates that both frames have, scaled up to that of all; that of unrelated frames if there
 * are none. */
static void cost_with_gaps(const comparison *c)
{
    int64_t n = c->n;
    double *restrict cost = c->cost, *restrict has = c->has, all = c->w->unrelated;
    memset(cost, 0, sizeof *cost * (size_t)n);
    memset(has, 0, sizeof *has * (size_t)n);
    for (int e = 0; e < c->w->E; e++) {
        size_t in_x = vh_ij(e, c->S, c->from_x), in_y = vh_ij(e, c->L, c->lo);
        const double *restrict x = c->x + in_x, *restrict x_has = c->x_has + in_x;
        const double *restrict y = c->w->y[c->b] + in_y, *restrict y_has = c->w->has[c->b] + in_y;
        double unrelated = c->w->e[e].unrelated;
#pragma omp simd
        for (int64_t j = 0; j < n; j++) {
            double apart = x[j] - y[j], both = x_has[j] * y_has[j];
            cost[j] += both * (apart * apart);
            has[j] += both * unrelated;
        }
    }
#pragma omp simd
    for (int64_t j = 0; j < n; j++) {
        double up = all / (has[j] > 0 ? has[j] : INFINITY);
        cost[j] = cost[j] * up + (up > 0 ? 0 : all);
    }
}

static void step_with_gaps(const comparison *c)
{
    cost_with_gaps(c);
    step(c, 0, 0, true);
}

/* ---- 4. a pair ----------------------------------------------------------------------------------------- */

static void comparison_free(comparison *c)
{
    free(c->cells);
    free(c->x);
    free(c->centre);
    free(c->cost);
    free(c->has);
}

/* Prepares to compare sequence a with longer ones. */
static vhem_status comparison_open(vhem_ctx *ctx, const warping *w, int64_t a, comparison *c)
{
    int64_t S = w->T[a], longest = w->T[w->N - 1], room = longest + 2 + TOGETHER;
    size_t size = vh_cells(w->E, S);

    VH_NEW(c->x, 2 * size + TOGETHER);
    VH_NEW(c->centre, longest);
    VH_NEW(c->cost, longest + TOGETHER);
    VH_NEW(c->has, longest + TOGETHER);
    VH_NEW(c->cells, 3 * room);
    for (int k = 0; k < 3; k++)
        c->cell[k] = c->cells + vh_ij(k, room, 1);
    c->w = w;
    c->S = S;
    c->x_has = c->x + size;
    for (int e = 0; e < w->E; e++)
        for (int64_t t = 0; t < S; t++) {
            size_t to = vh_ij(e, S, t), from = vh_ij(e, S, S - 1 - t);
            c->x[to] = w->y[a][from];
            c->x_has[to] = w->has[a] ? w->has[a][from] : 1;
        }
    return VHEM_OK;
}

/* Turns to sequence b. */
static void turn_to(comparison *c, int64_t b)
{
    int64_t L = c->w->T[b];
    c->b = b;
    for (int64_t j = 0; L != c->L && j < L; j++) /* else the band is that of the sequence before */
        c->centre[j] = (j + 1) * c->S / (L + 1);
    c->L = L;
    /* The cells before (0, 0): every path begins with a step from the one across. */
    c->cell[1][-1] = c->cell[1][0] = INFINITY;
    c->cell[2][-1] = 0;
}

/* Computes the cells lo .. hi of the diagonal, none if lo = hi + 1, and closes it at both ends.  Neither end
 * moves by more than one cell from a diagonal to the next, so nothing beyond is read. */
static void fill_diagonal(comparison *c, int64_t k, int64_t lo, int64_t hi, bool with_gaps)
{
    c->lo = lo;
    c->n = (hi - lo + TOGETHER) / TOGETHER * TOGETHER;
    c->from_x = c->S - 1 - k + lo;
    if (with_gaps)
        step_with_gaps(c);
    else
        step_complete(c);
    c->cell[0][lo - 1] = c->cell[0][hi + 1] = INFINITY;
    double *last = c->cell[0];
    c->cell[0] = c->cell[2];
    c->cell[2] = c->cell[1];
    c->cell[1] = last;
}

/* The band has the cells first .. last of diagonal k: as k grows, each grows by 0 or 1. */
static vhem_status warp(vhem_ctx *ctx, comparison *c, bool with_gaps, double *distance)
{
    int64_t S = c->S, L = c->L, wide = (int64_t)(c->w->window * (double)S);
    int64_t first = 0, last = -1;
    for (int64_t k = 0; k < S + L - 1; k++) {
        VH_CHECK(k % POLL != 0 || !vh_stopped(ctx), VHEM_ESTOPPED, "stopped while sequences were compared");
        first += k - first - c->centre[first] > wide;
        last += last + 1 < L && k - (last + 1) - c->centre[last + 1] >= -wide;
        fill_diagonal(c, k, first > k - S + 1 ? first : k - S + 1, last < k ? last : k, with_gaps);
    }
    *distance = c->cell[1][L - 1];
    return VHEM_OK;
}

/* ---- 5. the table -------------------------------------------------------------------------------------- */

static double *row_of(const warping *w, int64_t a)
{
    return w->D + vh_cells(a, 2 * w->N - a - 1) / 2;
}

static vhem_status fill_row(vhem_ctx *ctx, void *arg, int64_t a, int worker)
{
    const warping *w = arg;
    VH_CLEANUP(comparison_free) comparison c = { 0 };

    (void)worker;
    VH_TRY(comparison_open(ctx, w, a, &c));
    for (int64_t b = a + 1; b < w->N; b++) {
        turn_to(&c, b);
        VH_TRY(warp(ctx, &c, w->gaps[a] || w->gaps[b], &row_of(w, a)[b - a - 1]));
    }
    return VHEM_OK;
}

static vhem_status fill_table(vhem_ctx *ctx, const vhem_data *data, double window, int frames,
                              const bool *circular, double *D)
{
    VH_CLEANUP(warping_free)
    warping w = { .data = data, .window = window, .frames = frames, .circular = circular, .N = data->N };
    const vh_work rows = { .n = w.N, .what = "time warping", .run = fill_row, .arg = &w };

    assert(window >= 0 && window <= 1 && frames > 0);
    VH_TRY(warping_open(ctx, &w));
    if (w.E > 0) /* else all frames are equal */
        VH_TRY(vh_map(ctx, &rows, NULL));
    for (int64_t a = 0; a < w.N; a++) {
        int64_t i = w.order[a].i;
        D[vh_ij(i, w.N, i)] = 0;
        for (int64_t b = a + 1; b < w.N; b++)
            D[vh_ij(i, w.N, w.order[b].i)] = D[vh_ij(w.order[b].i, w.N, i)] = row_of(&w, a)[b - a - 1];
    }
    return VHEM_OK;
}

vhem_status vh_dtw(vhem_ctx *ctx, const vhem_data *data, double window, int frames, const bool *circular,
                   double *D)
{
    vh_ranks_leave(ctx); /* every process needs the whole table */
    return vh_ranks_join(ctx, fill_table(ctx, data, window, frames, circular, D));
}
