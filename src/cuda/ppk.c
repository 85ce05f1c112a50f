/* SPDX-License-Identifier: BSD-3-Clause */
/* ppk.c - the probability product kernel on a GPU: whole jobs of HMMs with diagonal Gaussians.
 *
 *   1. sets: HMMs of one shape in runs, as rows and as lanes, in one block of memory
 *   2. parts      3. jobs
 *
 * With log w = lambda log c + (1 - lambda)/2 log |Sigma| the product of two components is
 *   log w_a + log w_b - log |Sigma_a + Sigma_b| / 2 - lambda/2 (quadratic form) + a constant.
 * The CPU driver handles other families, chains of more than LONGEST steps, and sets whose products leave the
 * range of a double. */
#include "cuda/ppk.h"

#include "cuda/device.h"
#include "cuda/gpu.h"
#include "cuda/arena.h"
#include "cuda/buffer.h"
#include "distance/ppk_pair.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/parallel.h"
#include "math/logsum.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define LOG_4PI     2.5310242469692907930
#define TINY_POWER  1e-280                /* powers of nonzero transitions below this go to the CPU */
#define TABLE_BYTES ((double)(512 << 20)) /* most bytes of component tables at a time */
#define TABLE_SHARE 0.1                   /* the same, as a share of the free memory */
#define STRIP_BYTES \
    ((size_t)4 << 20) /* of the result: one row block is computed while the previous one is fetched */

/* Chains that never settle take every step, and a running kernel cannot be stopped. */
enum { SLOTS = 32768, LONGEST = 4096 };
enum { SOME = 256 }; /* HMMs per thread and item */

typedef struct {             /* extreme values of a set */
    double high, low, reach; /* largest and smallest variance, largest mean */
    double least;            /* smallest power of a nonzero probability */
    int components;          /* largest number in an HMM */
} extremes;

typedef struct {
    const vh_packed *pk;
    int n;
    vh_cuda_run *run; /* [n] */
    char *memory;     /* on the device */
    extremes x;
} set;

typedef struct {  /* of the result */
    double *out;  /* on the device */
    char *pinned; /* pinned, for copies several times as fast */
    size_t out_bytes, pinned_bytes;
} row_block;

typedef struct {
    vh_product p;
    set a, b; /* b.memory NULL: the same as a */
    int block;
    double constant, *inverse; /* [d]  1 / scale, a power of two: differences of means stay exact */
    pthread_mutex_t lock;      /* one part at a time */
    double most;               /* most bytes of the table */
    double *table, *work;
    size_t table_bytes, work_bytes;
    row_block row_block[VH_DEVICE_GETS];
    int *not_finite;
} opened_sets;

VH_OWNED(opened_sets, vh_cuda_product_close)

/* ---- 1. sets ------------------------------------------------------------------------------------------- */

/* Finds the runs of a set and lays out its memory: the rows, then, from *rows bytes on, the lanes. */
static vhem_status find_runs(vhem_ctx *ctx, set *s, size_t d, size_t *rows, size_t *all)
{
    const vh_packed *pk = s->pk;

    VH_NEW(s->run, pk->K);
    for (int i = 0; i < pk->K; i++) {
        vh_cuda_run *r = &s->run[s->n > 0 ? s->n - 1 : 0];
        if (s->n == 0 || r->S != pk->S[i] || r->M != pk->M[i])
            s->run[s->n++] = (vh_cuda_run){ .first = i, .S = pk->S[i], .M = pk->M[i] };
        s->run[s->n - 1].n++;
    }
    *rows = 0;
    for (int q = 0; q < s->n; q++) {
        vh_cuda_run *r = &s->run[q];
        size_t n = (size_t)r->n, S = (size_t)r->S, C = S * (size_t)r->M;
        s->x.components = s->x.components > r->S * r->M ? s->x.components : r->S * r->M;
        VH_PLACE(*rows, r->row_par, n * C * 2 * d);
        VH_PLACE(*rows, r->row_log_w, n * C);
        VH_PLACE(*rows, r->row_pi, n * S);
        VH_PLACE(*rows, r->row_A, n * S * S);
    }
    *all = *rows;
    for (int q = 0; q < s->n; q++) {
        vh_cuda_run *r = &s->run[q];
        size_t n = (size_t)r->n, S = (size_t)r->S, C = S * (size_t)r->M;
        VH_PLACE(*all, r->lane_par, n * C * 2 * d);
        VH_PLACE(*all, r->lane_log_w, n * C);
        VH_PLACE(*all, r->lane_pi, n * S);
        VH_PLACE(*all, r->lane_A, n * S * S);
    }
    return VHEM_OK;
}

typedef struct {  /* rows of a run being filled */
    size_t first; /* first HMM of the run */
    double *par, *log_w, *pi, *A;
    const opened_sets *job; /* the target job */
    const vh_packed *pk;    /* the source HMMs */
    const double *self;
    int64_t n;
    extremes x; /* over all of them */
} run_rows;

/* Fills component q of the set, which belongs to this run. */
static void fill_component(const opened_sets *job, const vh_packed *pk, double self, size_t q,
                           const run_rows *to, extremes *x)
{
    size_t d = (size_t)pk->d, at = q - (size_t)pk->comp0[to->first]; /* the same in every HMM of a run */
    double *par = to->par + at * 2 * d;
    double c = pk->c[q], log_det = -2 * self - (double)d * LOG_4PI;
    const double *const *from = pk->par + q * VH_MAX_PARAM;
    for (size_t k = 0; k < d; k++) { /* unused components become unit Gaussians */
        double mu = c > 0 ? from[0][k] * job->inverse[k] : 0;
        double v = c > 0 ? from[1][k] * job->inverse[k] * job->inverse[k] : 1;
        par[2 * k] = mu;
        par[2 * k + 1] = v;
        x->high = fmax(x->high, v);
        x->low = fmin(x->low, v);
        x->reach = fmax(x->reach, fabs(mu));
    }
    to->log_w[at] = c > 0 ? job->p.lambda * log(c) + (1 - job->p.lambda) / 2 * log_det : VH_NEVER;
}

static void fill_chain(double lambda, const double *from, size_t n, double *to, extremes *x)
{
    for (size_t e = 0; e < n; e++) {
        double power = lambda == 0.5 ? sqrt(from[e]) : lambda == 1 ? from[e] : pow(from[e], lambda);
        to[e] = power;
        if (from[e] > 0)
            x->least = fmin(x->least, power);
    }
}

/* Fills HMM i of a run; returns its extreme values. */
static extremes fill_hmm(const opened_sets *job, const vh_packed *pk, const double *self, const run_rows *to,
                         size_t i)
{
    extremes x = { .low = INFINITY, .least = 1 };
    size_t k = to->first + i, S = (size_t)pk->S[k];
    for (int q = pk->comp0[k]; q < pk->comp0[k + 1]; q++)
        fill_component(job, pk, self[q], (size_t)q, to, &x);
    fill_chain(job->p.lambda, pk->pi + pk->state0[k], S, to->pi + i * S, &x);
    fill_chain(job->p.lambda, pk->A + pk->trans0[k], S * S, to->A + i * S * S, &x);
    return x;
}

static void widen(extremes *all, const extremes *x)
{
    all->high = fmax(all->high, x->high);
    all->reach = fmax(all->reach, x->reach);
    all->low = fmin(all->low, x->low);
    all->least = fmin(all->least, x->least);
}

static void fill_some(void *arg, int64_t item, int worker)
{
    run_rows *to = arg;
    extremes own = { .low = INFINITY, .least = 1 };
    (void)worker;
    for (int64_t i = item * SOME; i < to->n && i < (item + 1) * SOME; i++) {
        const extremes x = fill_hmm(to->job, to->pk, to->self, to, (size_t)i);
        widen(&own, &x);
    }
#pragma omp critical(vh_cuda_extremes)
    widen(&to->x, &own);
}

static void fill_run(vhem_ctx *ctx, const opened_sets *job, set *s, const double *self, const vh_cuda_run *r,
                     char *host)
{
    run_rows to = { .first = (size_t)r->first,
                    .par = vh_place_in(host, NULL, r->row_par),
                    .log_w = vh_place_in(host, NULL, r->row_log_w),
                    .pi = vh_place_in(host, NULL, r->row_pi),
                    .A = vh_place_in(host, NULL, r->row_A),
                    .job = job,
                    .pk = s->pk,
                    .self = self,
                    .n = r->n,
                    .x = s->x };
    vh_parallel(ctx, &(vh_loop){ (to.n + SOME - 1) / SOME, job->p.workers->n, true, fill_some, &to });
    s->x = to.x;
}

static void move_run(vh_cuda_run *r, char *to)
{
    double **all[] = { &r->row_par, &r->lane_par, &r->row_log_w, &r->lane_log_w,
                       &r->row_pi,  &r->lane_pi,  &r->row_A,     &r->lane_A };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        *all[k] = vh_place_in(to, NULL, *all[k]);
}

/* Computes the lanes of a run from its rows, both on the device. */
static const char *transpose_run(const vh_cuda_run *r, size_t d)
{
    size_t S = (size_t)r->S, C = S * (size_t)r->M;
    const char *why = vh_cuda_product_transpose(r->row_par, r->lane_par, r->n, C * 2 * d);
    if (!why)
        why = vh_cuda_product_transpose(r->row_log_w, r->lane_log_w, r->n, C);
    if (!why)
        why = vh_cuda_product_transpose(r->row_pi, r->lane_pi, r->n, S);
    return why ? why : vh_cuda_product_transpose(r->row_A, r->lane_A, r->n, S * S);
}

static vhem_status load_set(vhem_ctx *ctx, const opened_sets *job, const vh_packed *pk, const double *self,
                            set *s)
{
    size_t rows, all;
    VH_AUTOFREE char *host = NULL;

    s->pk = pk;
    s->x = (extremes){ .low = INFINITY, .least = 1 };
    VH_TRY(find_runs(ctx, s, (size_t)pk->d, &rows, &all));
    VH_NEW(host, rows);
    for (int q = 0; q < s->n; q++)
        fill_run(ctx, job, s, self, &s->run[q], host);
    VH_DEVICE(vh_device_new(all, &s->memory));
    VH_DEVICE(vh_device_put(s->memory, host, rows));
    for (int q = 0; q < s->n; q++) {
        move_run(&s->run[q], s->memory);
        VH_DEVICE(transpose_run(&s->run[q], (size_t)pk->d));
    }
    return VHEM_OK;
}

/* Number of dimensions that can share one division with den and num = den (sum of squares) in range; 0 if
 * none, if a power is too small, or if an HMM is too large. */
static int choose_block(const extremes *a, const extremes *b, int d)
{
    double high = log2(fmax(1, a->high + b->high)), low = log2(fmin(1, a->low + b->low));
    double square = 2 * log2(fmax(1, a->reach + b->reach)) - low + log2(d);
    int block = VH_CUDA_PRODUCT_BLOCK;
    if (!(fmin(a->least, b->least) > TINY_POWER)
        || fmax(a->components, b->components) > VH_CUDA_PRODUCT_COMPONENTS)
        return 0;
    while (block > 0 && !(block * high + square < 1000 && block * low > -1000))
        block--;
    int parts = block > 0 ? (d + block - 1) / block : 1;
    return block > 0 ? (d + parts - 1) / parts : 0;
}

/* ---- 2. parts ------------------------------------------------------------------------------------------ */

/* Overlap of a run with HMMs first .. first+n-1, as indices within the run. */
static int overlap(const vh_cuda_run *r, int first, int n, int *from)
{
    int lo = r->first > first ? r->first : first,
        hi = r->first + r->n < first + n ? r->first + r->n : first + n;
    *from = lo - r->first;
    return hi - lo;
}

/* Number of HMMs of a at a time, for tables of `each` bytes each. */
static int rows_at_a_time(const opened_sets *job, const vh_cuda_run *a, int rows, double each)
{
    double most = fmin(fmin(job->most / each, VH_CUDA_PRODUCT_ROWS / (double)(a->S * a->M)),
                       fmin(VH_CUDA_PRODUCT_HMMS, rows));
    return most < 1 ? 1 : (int)most;
}

typedef struct { /* HMMs of run a against those of run b; a0 and b0 are indices within the runs */
    const vh_cuda_run *a, *b;
    int a0, na, b0, nb;
} run_block;

/* A block so narrow that a row of its tables fits; out is the result of the rectangle, on the device. */
static vhem_status run_columns(vhem_ctx *ctx, opened_sets *job, const run_block *k, const vh_rectangle *r,
                               double *out)
{
    const vh_cuda_run *a = k->a, *b = k->b;
    vh_cuda_product x = { .a = *a, .b = *b, .b0 = k->b0, .nb = k->nb, .upper = r->upper };
    double each = (double)(a->S * a->M) * (b->S * b->M) * k->nb * sizeof(double);
    int some = rows_at_a_time(job, a, k->na, each);
    double pairs = (double)some * k->nb;
    x.slots = ((pairs < SLOTS ? (int)pairs : SLOTS) + 127) / 128 * 128;
    VH_TRY(vh_cuda_room(ctx, (size_t)(some * each), &job->table_bytes, &job->table));
    VH_TRY(vh_cuda_room(ctx, vh_cuda_product_work(a->S, b->S) * (size_t)x.slots * sizeof(double),
                        &job->work_bytes, &job->work));
    x.d = job->p.a->d;
    x.tau = job->p.tau;
    x.block = job->block;
    x.lambda = job->p.lambda;
    x.constant = job->constant;
    x.table = job->table;
    x.work = job->work;
    x.width = (size_t)r->nb;
    x.not_finite = job->not_finite;
    for (int at = 0; at < k->na; at += some) {
        x.a0 = k->a0 + at;
        x.na = k->na - at < some ? k->na - at : some;
        x.out = out + (size_t)(a->first + x.a0 - r->a0) * x.width + (size_t)(b->first + x.b0 - r->b0);
        VH_DEVICE(vh_cuda_product_run(&x));
    }
    return VHEM_OK;
}

/* HMMs of run a against those of run b, as many columns at a time as the tables can hold. */
static vhem_status run_pair(vhem_ctx *ctx, opened_sets *job, const vh_cuda_run *a, const vh_cuda_run *b,
                            const vh_rectangle *r, double *out)
{
    run_block k = { .a = a, .b = b };
    k.na = overlap(a, r->a0, r->na, &k.a0);
    int columns = overlap(b, r->b0, r->nb, &k.b0), end = k.b0 + columns;
    if (k.na <= 0 || columns <= 0)
        return VHEM_OK;
    double most = job->most / ((double)(a->S * a->M) * (b->S * b->M) * sizeof(double));
    int some = most < 1 ? 1 : most < columns ? (int)most : columns;
    for (; k.b0 < end; k.b0 += some) {
        k.nb = end - k.b0 < some ? end - k.b0 : some;
        VH_TRY(run_columns(ctx, job, &k, r, out));
    }
    return VHEM_OK;
}

/* Recomputes by the reference the pairs without a finite result. */
static vhem_status by_reference(vhem_ctx *ctx, opened_sets *job, const vh_rectangle *r, double *log_k)
{
    for (int i = 0; i < r->na; i++)
        for (int j = 0; j < r->nb; j++) {
            double *out = &log_k[vh_ij(i, r->nb, j)];
            if (isnan(*out) && !(r->upper && r->a0 + i > r->b0 + j))
                VH_TRY(vh_ref_product_pair(ctx, &job->p, r->a0 + i, r->b0 + j, &job->p.workers->scratch[0],
                                           out));
        }
    return VHEM_OK;
}

/* Launches the kernels of a row block and then the copy of its results. */
static vhem_status start_row_block(vhem_ctx *ctx, opened_sets *job, int slot, const vh_rectangle *r)
{
    row_block *s = &job->row_block[slot];
    const set *b = job->b.memory ? &job->b : &job->a;
    size_t bytes = vh_cells(r->na, r->nb) * sizeof(double);

    VH_TRY(vh_cuda_room(ctx, bytes, &s->out_bytes, &s->out));
    VH_TRY(vh_cuda_pinned_room(ctx, bytes, &s->pinned_bytes, &s->pinned));
    VH_DEVICE(vh_device_zero(s->out, bytes));
    for (int p = 0; p < job->a.n; p++)
        for (int q = 0; q < b->n; q++)
            VH_TRY(run_pair(ctx, job, &job->a.run[p], &b->run[q], r, s->out));
    VH_DEVICE(vh_device_get_begin(slot, s->pinned, s->out, bytes));
    return VHEM_OK;
}

typedef struct { /* a copy of memory, done by several threads */
    const char *from;
    char *to;
    size_t bytes;
} copying;

enum { PIECE = 1 << 20 };

static void copy_piece(void *arg, int64_t piece, int worker)
{
    const copying *c = arg;
    size_t at = (size_t)piece * PIECE;
    (void)worker;
    memcpy(c->to + at, c->from + at, c->bytes - at < PIECE ? c->bytes - at : PIECE);
}

/* Waits for the results of a row block. */
static vhem_status take_row_block(vhem_ctx *ctx, opened_sets *job, int slot, size_t bytes, char *to)
{
    copying c = { job->row_block[slot].pinned, to, bytes };

    VH_DEVICE(vh_device_get_wait(slot));
    vh_parallel(
        ctx, &(vh_loop){ (int64_t)((bytes + PIECE - 1) / PIECE), job->p.workers->n, true, copy_piece, &c });
    return VHEM_OK;
}

/* Row block k of the rectangle, `some` rows each. */
static vh_rectangle row_block_of(const vh_rectangle *r, int k, int some)
{
    vh_rectangle s = *r;
    s.a0 = r->a0 + k * some;
    s.na = r->na - k * some < some ? r->na - k * some : some;
    return s;
}

static vhem_status each_row_block(vhem_ctx *ctx, opened_sets *job, const vh_rectangle *r, double *log_k)
{
    size_t width = (size_t)r->nb, most = STRIP_BYTES / sizeof *log_k / width;
    int some = most < 1 ? 1 : most > (size_t)r->na ? r->na : (int)most, n = (r->na + some - 1) / some;
    int not_finite = 0;

    VH_DEVICE(vh_device_enter());
    VH_DEVICE(vh_device_zero(job->not_finite, sizeof *job->not_finite));
    for (int k = 0; k <= n; k++) {
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped");
        if (k < n) {
            const vh_rectangle s = row_block_of(r, k, some);
            VH_TRY(start_row_block(ctx, job, k % VH_DEVICE_GETS, &s));
        }
        if (k > 0)
            VH_TRY(take_row_block(ctx, job, (k - 1) % VH_DEVICE_GETS,
                                  (size_t)row_block_of(r, k - 1, some).na * width * sizeof *log_k,
                                  (char *)(log_k + vh_row(k - 1, some) * width)));
    }
    VH_DEVICE(vh_device_get(&not_finite, job->not_finite, sizeof not_finite));
    if (not_finite)
        VH_TRY(by_reference(ctx, job, r, log_k));
    return VHEM_OK;
}

static vhem_status run_row_blocks(vhem_ctx *ctx, opened_sets *job, const vh_rectangle *r, double *log_k)
{
    vhem_status st = each_row_block(ctx, job, r, log_k);
    for (int k = 0; k < VH_DEVICE_GETS && st != VHEM_OK; k++)
        vh_device_get_wait(k); /* no copy may be in flight when the next part begins */
    return st;
}

vhem_status vh_cuda_product_part(vhem_ctx *ctx, void *state, const vh_rectangle *r, double *log_k)
{
    opened_sets *job = state;
    if (r->na == 0 || r->nb == 0)
        return VHEM_OK;
    pthread_mutex_lock(&job->lock);
    vhem_status st = run_row_blocks(ctx, job, r, log_k);
    pthread_mutex_unlock(&job->lock);
    return st;
}

/* ---- 3. jobs ------------------------------------------------------------------------------------------- */

static vhem_status open_sets(vhem_ctx *ctx, opened_sets *job)
{
    const vh_product *p = &job->p;
    int d = p->a->d;
    size_t unused, whole;
    double log_scale = 0;

    VH_DEVICE(vh_device_enter());
    VH_NEW(job->inverse, d);
    for (int k = 0; k < d; k++) {
        job->inverse[k] = scalbn(1.0, -ilogb(p->a->x.scale[k]));
        log_scale -= log(job->inverse[k]);
    }
    job->constant = 0.5 * d * ((1 - 2 * p->lambda) * VH_LOG_2PI - log(p->lambda)) - log_scale;
    VH_TRY(load_set(ctx, job, p->a, p->self_a, &job->a));
    if (p->a != p->b)
        VH_TRY(load_set(ctx, job, p->b, p->self_b, &job->b));
    job->block = choose_block(&job->a.x, p->a != p->b ? &job->b.x : &job->a.x, d);
    VH_DEVICE(vh_device_new(sizeof *job->not_finite, &job->not_finite));
    VH_DEVICE(vh_device_memory(&unused, &whole));
    job->most = fmin(TABLE_BYTES, TABLE_SHARE * (double)unused);
    return VHEM_OK;
}

static vhem_status open_sets_of(vhem_ctx *ctx, const vh_product *p, void **state)
{
    VH_OWN(opened_sets) *job = NULL;

    VH_NEW(job, 1);
    job->p = *p;
    pthread_mutex_init(&job->lock, NULL);
    VH_TRY(open_sets(ctx, job));
    if (job->block == 0)
        return VHEM_OK;
    vh_log(ctx, VHEM_LOG_INFO, "the kernel of %d and %d HMMs on the GPU, %s", p->a->K, p->b->K,
           vh_device_name());
    *state = vh_take(job);
    return VHEM_OK;
}

vhem_status vh_cuda_product_open(vhem_ctx *ctx, const vh_product *p, void **state)
{
    if (p->a->family->kernel != VH_KERNEL_GAUSSIAN_DIAG || p->tau > LONGEST
        || !vh_cuda_worth(ctx, (double)p->a->n_comp * p->b->n_comp * p->a->d / 2))
        return VHEM_OK;
    vhem_status st = open_sets_of(ctx, p, state);
    if (st != VHEM_EBACKEND)
        return st;
    vh_cuda_warn(ctx);
    return VHEM_OK;
}

void vh_cuda_product_close(void *state)
{
    opened_sets *job = state;
    if (!job)
        return;
    vh_device_free(job->a.memory);
    vh_device_free(job->b.memory);
    vh_device_free(job->table);
    vh_device_free(job->work);
    vh_device_free(job->not_finite);
    for (int k = 0; k < VH_DEVICE_GETS; k++) {
        vh_device_free(job->row_block[k].out);
        vh_device_free_pinned(job->row_block[k].pinned);
    }
    free(job->a.run);
    free(job->b.run);
    free(job->inverse);
    pthread_mutex_destroy(&job->lock);
    free(job);
}
