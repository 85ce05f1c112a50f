/* SPDX-License-Identifier: BSD-3-Clause */
/* partial.c - see partial.h, and "many machines" in vhem.h. */
#include "distributed/partial.h"

#include "core/array2.h"
#include "core/object.h"
#include "parallel/serialize.h"
#include "vhem/distributed.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static const char mark[] = "vhempar1";

/* ---- one partial --------------------------------------------------------------------------------------- */

/* Copies the sizes of the centres and computes the offsets of each in a block. */
static vhem_status make_sizes(vhem_ctx *ctx, const vh_packed *from, vh_packed *pk)
{
    int K = from ? from->K : 0;
    VH_NEW(pk->S, K);
    VH_NEW(pk->M, K);
    VH_NEW(pk->state0, K + 1);
    VH_NEW(pk->comp0, K + 1);
    VH_NEW(pk->trans0, K + 1);
    for (int j = 0; j < K; j++) {
        pk->S[j] = from->S[j];
        pk->M[j] = from->M[j];
        pk->state0[j + 1] = pk->state0[j] + pk->S[j];
        pk->comp0[j + 1] = pk->comp0[j] + pk->S[j] * pk->M[j];
        pk->trans0[j + 1] = pk->trans0[j] + vh_row(pk->S[j], pk->S[j]);
    }
    pk->K = K;
    pk->n_stat = from ? from->n_stat : 0;
    pk->n_state = pk->state0[K];
    pk->n_comp = pk->comp0[K];
    pk->n_trans = pk->trans0[K];
    return VHEM_OK;
}

static void free_rows(vh_partial_rows *r)
{
    free(r->L);
    free(r->z);
    free(r->label);
}

static void clear_partial(void *object)
{
    vhem_partial *p = object;
    vh_tree_sum_free(p->sum);
    for (size_t k = 0; k < p->n_rows; k++)
        free_rows(&p->rows[k]);
    free(p->rows);
    free(p->sizes.S);
    free(p->sizes.M);
    free(p->sizes.state0);
    free(p->sizes.comp0);
    free(p->sizes.trans0);
}

vhem_status vh_partial_new(vhem_ctx *ctx, int64_t task, size_t size, const vh_packed *pk, bool statistics,
                           vhem_partial **out)
{
    VH_OWN(vhem_partial) *p = NULL;

    VH_NEW_OBJECT(p, clear_partial);
    VH_TRY(make_sizes(ctx, pk, &p->sizes));
    p->task = task;
    p->step = (vh_reduce_step){ .reduced = &p->sizes, .statistics = statistics };
    const vh_reduce_sums sums = vh_reduce_sums_at(&p->sizes, NULL);
    p->size = p->sizes.K == 0 ? size : statistics ? sums.size : sums.head;
    VH_TRY(vh_tree_sum_new(ctx, p->size, p->sizes.K > 0 ? vh_reduce_sums_merge : NULL, &p->step, &p->sum));
    *out = vh_take(p);
    return VHEM_OK;
}

bool vh_partial_is(const vhem_partial *p, int64_t task, size_t size, const vh_packed *pk, bool statistics)
{
    int Kr = pk ? pk->K : 0;
    size_t n = sizeof(int) * (size_t)Kr;
    if (p->task != task || p->sizes.K != Kr)
        return false;
    if (Kr == 0)
        return p->size == size;
    return p->sizes.n_stat == pk->n_stat && p->step.statistics == statistics
           && memcmp(p->sizes.S, pk->S, n) == 0 && memcmp(p->sizes.M, pk->M, n) == 0;
}

vhem_status vh_partial_add_rows(vhem_ctx *ctx, vhem_partial *p, const vh_partial_rows *like,
                                vh_partial_rows **out)
{
    VH_CLEANUP(free_rows) vh_partial_rows r = { .first = like->first, .n = like->n };
    size_t cells = vh_cells(like->n, p->sizes.K);

    if (like->L)
        VH_NEW(r.L, cells);
    if (like->z)
        VH_NEW(r.z, cells);
    if (like->label)
        VH_NEW(r.label, like->n);
    VH_TRY(vh_grow(ctx, &p->rows, &p->cap, p->n_rows + 1, sizeof *p->rows));
    p->rows[p->n_rows] = r;
    *out = &p->rows[p->n_rows++];
    r = (vh_partial_rows){ 0 };
    return VHEM_OK;
}

static void copy_rows(const vh_partial_rows *from, size_t Kr, size_t at, const vh_partial_rows *to)
{
    size_t n = (size_t)from->n;
    if (from->L && to->L)
        memcpy(to->L + at * Kr, from->L, sizeof *to->L * n * Kr);
    if (from->z && to->z)
        memcpy(to->z + at * Kr, from->z, sizeof *to->z * n * Kr);
    if (from->label && to->label)
        memcpy(to->label + at, from->label, sizeof *to->label * n);
}

vhem_status vh_partial_close(vhem_ctx *ctx, vhem_partial *p, int64_t chunks, double *total,
                             const vh_partial_rows *tables)
{
    int64_t rows = 0;
    VH_TRY(vh_tree_sum_close(ctx, p->sum, chunks, total));
    for (size_t k = 0; k < p->n_rows; k++) {
        const vh_partial_rows *r = &p->rows[k];
        VH_CHECK(r->first >= 0 && r->n <= tables->n && r->first <= tables->n - r->n, VHEM_EFORMAT,
                 "a partial sum has %lld rows from %lld on, of a table of %lld", (long long)r->n,
                 (long long)r->first, (long long)tables->n);
        copy_rows(r, (size_t)p->sizes.K, (size_t)r->first, tables);
        rows += r->n;
    }
    VH_CHECK(rows == tables->n, VHEM_EFORMAT, "the partial sums have %lld rows of a table of %lld",
             (long long)rows, (long long)tables->n);
    return VHEM_OK;
}

vhem_status vhem_partial_merge(vhem_ctx *ctx, vhem_partial *into, const vhem_partial *from)
{
    VH_ENTER(into, from);
    const vh_sum_node *node;

    VH_CHECK(vh_partial_is(into, from->task, from->size, &from->sizes, from->step.statistics), VHEM_EINVAL,
             "partial sums of different tasks cannot be merged");
    int64_t n = vh_tree_sum_nodes(from->sum, &node);
    for (int64_t k = 0; k < n; k++)
        VH_TRY(vh_tree_sum_put(ctx, into->sum, node[k].level, node[k].index, node[k].block));
    for (size_t k = 0; k < from->n_rows; k++) {
        vh_partial_rows *r;
        VH_TRY(vh_partial_add_rows(ctx, into, &from->rows[k], &r));
        copy_rows(&from->rows[k], (size_t)into->sizes.K, 0, r);
    }
    return VHEM_OK;
}

/* ---- serialization ------------------------------------------------------------------------------------- */

static void walk_rows(vhem_ctx *ctx, vh_serial *w, size_t Kr, vh_partial_rows *r)
{
    size_t n = (size_t)r->n;
    vh_serial_reals(ctx, w, r->L, r->L ? n * Kr : 0);
    vh_serial_reals(ctx, w, r->z, r->z ? n * Kr : 0);
    vh_serial_bytes(ctx, w, r->label, r->label ? n * sizeof *r->label : 0);
}

static void write_partial(vhem_ctx *ctx, const vhem_partial *p, vh_serial *w)
{
    const vh_sum_node *node;
    int64_t task = p->task, size = (int64_t)p->size, n = vh_tree_sum_nodes(p->sum, &node),
            n_rows = (int64_t)p->n_rows;
    int Kr = p->sizes.K, n_stat = p->sizes.n_stat, statistics = p->step.statistics;

    vh_serial_begin(ctx, w, mark);
    vh_serial_int64(ctx, w, &task);
    vh_serial_int64(ctx, w, &size);
    vh_serial_int(ctx, w, &Kr);
    vh_serial_int(ctx, w, &n_stat);
    vh_serial_int(ctx, w, &statistics);
    vh_serial_bytes(ctx, w, p->sizes.S, sizeof *p->sizes.S * (size_t)Kr);
    vh_serial_bytes(ctx, w, p->sizes.M, sizeof *p->sizes.M * (size_t)Kr);
    vh_serial_int64(ctx, w, &n);
    for (int64_t k = 0; k < n; k++) {
        vh_sum_node x = node[k];
        vh_serial_int(ctx, w, &x.level);
        vh_serial_int64(ctx, w, &x.index);
        vh_serial_reals(ctx, w, x.block, p->size);
    }
    vh_serial_int64(ctx, w, &n_rows);
    for (size_t k = 0; k < p->n_rows; k++) {
        vh_partial_rows r = p->rows[k];
        int has = (r.L ? 1 : 0) | (r.z ? 2 : 0) | (r.label ? 4 : 0);
        vh_serial_int64(ctx, w, &r.first);
        vh_serial_int64(ctx, w, &r.n);
        vh_serial_int(ctx, w, &has);
        walk_rows(ctx, w, (size_t)Kr, &r);
    }
    vh_serial_end(ctx, w);
}

static void hold_nothing(void *bytes)
{
    (void)bytes;
}

vhem_status vhem_partial_write(vhem_ctx *ctx, const vhem_partial *p, void **bytes, size_t *n)
{
    VH_ENTER(p, bytes, n);
    vh_serial w = { 0 };

    write_partial(ctx, p, &w);
    VH_AUTOFREE void *written = w.data;
    VH_TRY(w.st);
    void *out = vh_object_new(ctx, w.n, hold_nothing);
    VH_CHECK(out, VHEM_ENOMEM, "out of memory: no room for %zu bytes of partial sums", w.n);
    memcpy(out, w.data, w.n);
    *bytes = out;
    *n = w.n;
    return VHEM_OK;
}

/* Reads the sizes of the centres and checks them before anything is allocated. */
static vhem_status read_sizes(vhem_ctx *ctx, vh_serial *w, int64_t *size, vh_packed *pk, int *statistics,
                              int **sizes)
{
    int64_t most;

    vh_serial_int64(ctx, w, size);
    vh_serial_int(ctx, w, &pk->K);
    vh_serial_int(ctx, w, &pk->n_stat);
    vh_serial_int(ctx, w, statistics);
    most = (int64_t)vh_serial_left(w);
    vh_serial_check(ctx, w, "a block", *size, 1, most);
    vh_serial_check(ctx, w, "centres", pk->K, 0, most / (2 * (int64_t)sizeof(int)));
    vh_serial_check(ctx, w, "statistics", pk->n_stat, 0, most);
    VH_TRY(w->st);
    VH_NEW(*sizes, 2 * pk->K);
    vh_serial_bytes(ctx, w, *sizes, sizeof **sizes * 2 * (size_t)pk->K);
    int64_t states = 0, parts = 0;
    for (int j = 0; j < pk->K; j++) {
        int64_t S = (*sizes)[j], M = (*sizes)[pk->K + j];
        vh_serial_check(ctx, w, "states of a centre", S, 1, most);
        vh_serial_check(ctx, w, "components of a state", M, 1, INT_MAX / (S > 0 ? S : 1));
        VH_TRY(w->st);
        vh_serial_check(ctx, w, "states", states += S, 1, INT_MAX);
        vh_serial_check(ctx, w, "components", parts += S * M, 1, INT_MAX);
    }
    pk->S = *sizes;
    pk->M = *sizes + pk->K;
    return w->st;
}

/* Sums of an E-step are never NaN: models that would cause one are rejected earlier. */
static vhem_status check_block(vhem_ctx *ctx, const vhem_partial *p, const double *block)
{
    for (size_t k = 0; p->sizes.K > 0 && k < p->size; k++)
        VH_CHECK(!isnan(block[k]), VHEM_EFORMAT, "number %zu of a partial sum is not a number", k);
    return VHEM_OK;
}

static vhem_status read_nodes(vhem_ctx *ctx, vh_serial *w, vhem_partial *p)
{
    VH_AUTOFREE double *block = NULL;
    int64_t n = 0;

    vh_serial_int64(ctx, w, &n);
    vh_serial_check(ctx, w, "nodes", n, 1, (int64_t)vh_serial_left(w));
    VH_NEW(block, p->size);
    for (int64_t k = 0; k < n && w->st == VHEM_OK; k++) {
        int level = 0;
        int64_t index = 0;
        vh_serial_int(ctx, w, &level);
        vh_serial_int64(ctx, w, &index);
        vh_serial_reals(ctx, w, block, p->size);
        VH_TRY(w->st);
        VH_TRY(check_block(ctx, p, block));
        VH_TRY(vh_tree_sum_put(ctx, p->sum, level, index, block));
    }
    return w->st;
}

static vhem_status check_labels(vhem_ctx *ctx, const vhem_partial *p, const vh_partial_rows *r)
{
    for (int64_t i = 0; r->label && i < r->n; i++)
        VH_CHECK(r->label[i] >= 0 && r->label[i] < p->sizes.K, VHEM_EFORMAT,
                 "a partial sum has cluster %d, must be from 0 to %d", r->label[i], p->sizes.K - 1);
    return VHEM_OK;
}

/* Bytes of a row of the tables present, at least one. */
static size_t row_size(const vhem_partial *p, int has)
{
    size_t cell = sizeof(double) * (size_t)p->sizes.K;
    size_t n = (has & 1 ? cell : 0) + (has & 2 ? cell : 0) + (has & 4 ? sizeof(int) : 0);
    return n > 0 ? n : 1;
}

static vhem_status read_partial_rows(vhem_ctx *ctx, vh_serial *w, vhem_partial *p)
{
    int64_t n = 0;

    vh_serial_int64(ctx, w, &n);
    vh_serial_check(ctx, w, "tables", n, 0,
                    p->sizes.K > 0 ? (int64_t)vh_serial_left(w) : 0); /* surveys have no tables */
    for (int64_t k = 0; k < n && w->st == VHEM_OK; k++) {
        vh_partial_rows like = { 0 }, *r;
        double some;
        int has = 0, any;
        vh_serial_int64(ctx, w, &like.first);
        vh_serial_int64(ctx, w, &like.n);
        vh_serial_int(ctx, w, &has);
        vh_serial_check(ctx, w, "tables", has, 1, 7);
        VH_TRY(w->st);
        vh_serial_check(ctx, w, "the first row", like.first, 0, INT64_MAX);
        vh_serial_check(ctx, w, "rows", like.n, 1, (int64_t)(vh_serial_left(w) / row_size(p, has)));
        VH_TRY(w->st);
        like.L = has & 1 ? &some : NULL;
        like.z = has & 2 ? &some : NULL;
        like.label = has & 4 ? &any : NULL;
        VH_TRY(vh_partial_add_rows(ctx, p, &like, &r));
        walk_rows(ctx, w, (size_t)p->sizes.K, r);
        VH_TRY(w->st);
        VH_TRY(check_labels(ctx, p, r));
    }
    return w->st;
}

vhem_status vhem_partial_read(vhem_ctx *ctx, const void *bytes, size_t n, vhem_partial **out)
{
    VH_ENTER(bytes, out);
    vh_serial w = { 0 };
    vh_packed pk = { 0 };
    int64_t task = 0, size = 0;
    int statistics = 0;
    VH_OWN(vhem_partial) *p = NULL;
    VH_AUTOFREE int *sizes = NULL;

    VH_TRY(vh_serial_open(ctx, bytes, n, mark, "a partial sum", &w));
    vh_serial_int64(ctx, &w, &task);
    VH_TRY(read_sizes(ctx, &w, &size, &pk, &statistics, &sizes));
    VH_TRY(vh_partial_new(ctx, task, (size_t)size, &pk, statistics != 0, &p));
    VH_CHECK(p->size == (size_t)size, VHEM_EFORMAT, "a partial sum has blocks of %zu numbers, must be %zu",
             (size_t)size, p->size);
    VH_TRY(read_nodes(ctx, &w, p));
    VH_TRY(read_partial_rows(ctx, &w, p));
    VH_CHECK(vh_serial_left(&w) == 0, VHEM_EFORMAT, "a partial sum of %zu bytes has %zu too many", n,
             vh_serial_left(&w));
    *out = vh_take(p);
    return VHEM_OK;
}
