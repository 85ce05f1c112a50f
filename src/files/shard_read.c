/* SPDX-License-Identifier: BSD-3-Clause */
/* shard_read.c - reads HMMs from a file of arrays, a chunk at a time: bytes, checksum, HMMs, in this order.
 *
 * Each array is contiguous in the file, so rows are read with pread: no lock, from any thread.  Other
 * layouts, which other programs may write, go through the HDF5 library, one thread at a time. */
#include "core/alloc.h"
#include "os/fd.h"
#include "core/array2.h"
#include "core/hdf5_errors.h"
#include "files/json.h"
#include "hmm/validate_batch.h"
#include "files/shard.h"

#include <errno.h>
#include <string.h>

typedef struct {           /* the rows of a chunk, as stored in the file */
    int64_t number, first; /* index of the chunk; index of its first HMM in the file */
    int n, n_array;
    double *omega;    /* [n] */
    double **array;   /* [n_shape][n_array]  rows of each shape in this chunk */
    uint64_t *offset; /* [n+1]  NULL: no names, or not requested */
    char *bytes;
    int *code; /* [n] */
    double *block;
} chunk_rows;

static int64_t row_of(const vh_shard *s, int64_t chunk, int g)
{
    int64_t first = chunk * VH_SHARD_CHUNK;
    return s->row ? s->row[chunk * s->n_shape + g] : first < s->K ? first : s->K;
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

static vhem_status read_bytes(vhem_ctx *ctx, int fd, const vh_shard_array *a, int64_t at, size_t n, void *out)
{
    int64_t got = vh_fd_read(fd, out, n, at);
    VH_CHECK(got >= 0, VHEM_EIO, "%s cannot be read: %s", a->name, strerror(errno));
    VH_CHECK(got == (int64_t)n, VHEM_EFORMAT, "%s ends at byte %lld: the file is cut short", a->name,
             (long long)(at + got));
    return VHEM_OK;
}

static vhem_status read_block_of(vhem_ctx *ctx, const char *path, const vh_shard_array *a, hsize_t first,
                                 hsize_t n, void *out)
{
    hsize_t dims[H5S_MAX_RANK], start[H5S_MAX_RANK] = { first };
    hid_t type = a->type == VH_SHARD_REAL     ? H5T_NATIVE_DOUBLE
                 : a->type == VH_SHARD_INT    ? H5T_NATIVE_INT
                 : a->type == VH_SHARD_OFFSET ? H5T_NATIVE_UINT64
                                              : H5T_NATIVE_UINT8;
    VH_CLEANUP(vh_h5_release) hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    VH_CLEANUP(vh_h5_release) hid_t set = -1, space = -1, memory = -1;

    VH_CHECK(file >= 0, VHEM_EFORMAT, "%s cannot be read: the file cannot be opened as HDF5", a->name);
    VH_TRY(vh_h5_open_inside(ctx, file, a->name, &set));
    space = H5Dget_space(set);
    int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    dims[0] = n;
    memory = rank > 0 ? H5Screate_simple(rank, dims, NULL) : -1;
    bool ok = memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, dims, NULL) >= 0
              && H5Dread(set, type, memory, space, H5P_DEFAULT, out) >= 0;
    VH_CHECK(ok, VHEM_EFORMAT, "%s cannot be read: the file is cut short or damaged", a->name);
    return VHEM_OK;
}

static vhem_status read_shard_rows(vhem_ctx *ctx, const vh_shard *s, int fd, const vh_shard_array *a,
                                   int64_t first, int64_t n, void *out)
{
    vhem_status st = VHEM_OK;
    if (n == 0)
        return VHEM_OK;
    if (a->at >= 0)
        return read_bytes(ctx, fd, a, a->at + first * (int64_t)a->size, (size_t)n * a->size, out);
#pragma omp critical(vh_hdf5)
    H5E_BEGIN_TRY
    {
        st = read_block_of(ctx, s->path, a, (hsize_t)first, (hsize_t)n, out);
    }
    H5E_END_TRY
    if (st != VHEM_OK)
        vh_h5_end_quietly();
    return st;
}

/* ---- a chunk ------------------------------------------------------------------------------------------- */

static void free_rows(chunk_rows *r)
{
    free(r->block);
    free(r->array);
    free(r->offset);
    free(r->bytes);
    free(r->code);
}

static vhem_status check_sum(vhem_ctx *ctx, const vh_shard *s, const chunk_rows *r, int kind, uint64_t is)
{
    uint64_t must = s->check ? s->check[kind * s->n_chunk + r->number] : is;
    VH_CHECK(is == must, VHEM_EFORMAT, "the checksum of its %s is %016llx, must be %016llx: it is damaged",
             kind ? "names and labels" : "numbers", (unsigned long long)is, (unsigned long long)must);
    return VHEM_OK;
}

static vhem_status read_shard_numbers(vhem_ctx *ctx, const vh_shard *s, int fd, chunk_rows *r)
{
    size_t size = (size_t)r->n * sizeof(double);
    uint64_t sum = 0;

    for (int g = 0; g < s->n_shape; g++)
        for (int a = 0; a < r->n_array; a++)
            size +=
                (size_t)(row_of(s, r->number + 1, g) - row_of(s, r->number, g)) * s->shape[g].array[a].size;
    VH_NEW(r->array, s->n_shape * r->n_array);
    r->block = malloc(size);
    VH_CHECK(r->block, VHEM_ENOMEM, "out of memory: %zu bytes for a chunk of HMMs", size);
    double *at = r->omega = r->block;
    VH_TRY(read_shard_rows(ctx, s, fd, &s->omega, r->first, r->n, at));
    sum = vh_hash_chain(sum, at, (size_t)r->n * sizeof *at);
    if (s->of)
        sum = vh_hash_chain(sum, s->of + r->first, (size_t)r->n * sizeof *s->of);
    at += r->n;
    for (int g = 0; g < s->n_shape; g++)
        for (int a = 0; a < r->n_array; a++) {
            const vh_shard_array *array = &s->shape[g].array[a];
            int64_t first = row_of(s, r->number, g), n = row_of(s, r->number + 1, g) - first;
            if (array->size == 0) /* absent: the slots are already zero */
                continue;
            VH_TRY(read_shard_rows(ctx, s, fd, array, first, n, at));
            sum = vh_hash_chain(sum, at, (size_t)n * array->size);
            r->array[g * r->n_array + a] = at;
            at += (size_t)n * array->size / sizeof *at;
        }
    return check_sum(ctx, s, r, 0, sum);
}

static vhem_status read_names(vhem_ctx *ctx, const vh_shard *s, int fd, chunk_rows *r, uint64_t *sum)
{
    VH_NEW(r->offset, r->n + 1);
    VH_TRY(read_shard_rows(ctx, s, fd, &s->name_offset, r->first, r->n + 1, r->offset));
    for (int i = 0; i < r->n; i++)
        VH_CHECK(r->offset[i] <= r->offset[i + 1] && r->offset[i + 1] <= s->n_bytes, VHEM_EFORMAT,
                 "name/offset[%lld] is %llu, there are %llu bytes", (long long)(r->first + i + 1),
                 (unsigned long long)r->offset[i + 1], (unsigned long long)s->n_bytes);
    uint64_t first = r->offset[0], n = r->offset[r->n] - first;
    VH_NEW(r->bytes, n + 1);
    VH_TRY(read_shard_rows(ctx, s, fd, &s->name_bytes, (int64_t)first, (int64_t)n, r->bytes));
    *sum = vh_hash_chain(*sum, r->offset, (size_t)(r->n + 1) * sizeof *r->offset);
    *sum = vh_hash_chain(*sum, r->bytes, n);
    return VHEM_OK;
}

static vhem_status read_shard_texts(vhem_ctx *ctx, const vh_shard *s, int fd, chunk_rows *r)
{
    uint64_t sum = 0;

    if (s->name_offset.size)
        VH_TRY(read_names(ctx, s, fd, r, &sum));
    if (s->code.size) {
        VH_NEW(r->code, r->n);
        VH_TRY(read_shard_rows(ctx, s, fd, &s->code, r->first, r->n, r->code));
        for (int i = 0; i < r->n; i++)
            VH_CHECK(r->code[i] >= -1 && r->code[i] < s->n_label, VHEM_EFORMAT,
                     "label/code[%lld] is %d, there are %lld labels", (long long)(r->first + i), r->code[i],
                     (long long)s->n_label);
        sum = vh_hash_chain(sum, r->code, (size_t)r->n * sizeof *r->code);
    }
    return check_sum(ctx, s, r, 1, sum);
}

/* ---- HMMs ---------------------------------------------------------------------------------------------- */

static vhem_status set_texts(vhem_ctx *ctx, const vh_shard *s, const chunk_rows *r, int i, vh_hmm *h)
{
    if (r->offset && r->offset[i + 1] > r->offset[i]) {
        h->name = vh_strndup(ctx, r->bytes + (r->offset[i] - r->offset[0]), r->offset[i + 1] - r->offset[i]);
        VH_CHECK(h->name, VHEM_ENOMEM, "out of memory");
    }
    if (r->code && r->code[i] >= 0)
        VH_TRY(vh_h3m_set_text(ctx, &h->label, s->label[r->code[i]]));
    return VHEM_OK;
}

/* Copies the rows of one HMM from the arrays into its block, which is all zero. */
static void copy_rows(const vh_shard *s, const chunk_rows *r, int g, int64_t row, double *block)
{
    for (int a = 0; a < r->n_array; a++) {
        size_t size = s->shape[g].array[a].size, n = size / sizeof *block;
        const double *from = r->array[g * r->n_array + a];
        if (size == 0) { /* absent */
            block += vh_cells(s->shape[g].S, s->shape[g].M)
                     * vh_param_size(s->head->family, a - 3, &s->head->shape);
            continue;
        }
        from += (size_t)row * n;
        for (size_t k = 0; k < n; k++)
            block[k] = from[k];
        block += n;
    }
}

/* Copies HMMs first .. first+n-1 of the chunk into the slots starting at `at`. */
static vhem_status unpack(vhem_ctx *ctx, const vh_shard *s, const chunk_rows *r, int first, int n,
                          vh_h3m *into, int64_t at)
{
    VH_AUTOFREE int64_t *next = NULL; /* [n_shape]  row of the next HMM of each shape */
    int S[VH_SHARD_CHUNK], M[VH_SHARD_CHUNK];

    VH_NEW(next, s->n_shape);
    for (int i = 0; i < n; i++) {
        int g = s->of ? s->of[r->first + first + i] : 0;
        S[i] = s->shape[g].S;
        M[i] = s->shape[g].M;
    }
    VH_TRY(vh_h3m_shape_many(ctx, into, at, n, S, M));
    for (int i = 0; i < first + n; i++) {
        int g = s->of ? s->of[r->first + i] : 0;
        int64_t row = next[g]++;
        if (i < first)
            continue;
        vh_hmm *h = &into->hmm[at];
        into->omega[at++] = r->omega[i] / s->scale;
        copy_rows(s, r, g, row, h->pi);
        if (r->offset || r->code)
            VH_TRY(set_texts(ctx, s, r, i, h));
    }
    return VHEM_OK;
}

/* True if all HMMs of the chunk pass the fast checks on arrays. */
static bool looks_valid(const vh_shard *s, const chunk_rows *r)
{
    bool fine = true;
    for (int g = 0; fine && g < s->n_shape; g++) {
        int64_t n = row_of(s, r->number + 1, g) - row_of(s, r->number, g);
        fine = vh_rows_valid(s->head->family, &s->head->shape, s->shape[g].S, s->shape[g].M, n,
                             r->array + g * r->n_array);
    }
    return fine;
}

static vhem_status read_chunk(vhem_ctx *ctx, const vh_shard *s, int fd, int64_t c, bool texts, chunk_rows *r)
{
    char who[96];

    r->number = c;
    r->first = c * VH_SHARD_CHUNK;
    r->n = (int)(s->K - r->first < VH_SHARD_CHUNK ? s->K - r->first : VH_SHARD_CHUNK);
    r->n_array = 3 + s->head->family->n_param;
    vhem_status st = read_shard_numbers(ctx, s, fd, r);
    if (st == VHEM_OK && texts)
        st = read_shard_texts(ctx, s, fd, r);
    if (st != VHEM_OK) {
        snprintf(who, sizeof who, "chunk %lld (HMMs %lld to %lld)", (long long)c,
                 (long long)(s->first + r->first), (long long)(s->first + r->first + r->n - 1));
        vh_error_prefix(ctx, who);
    }
    return st;
}

/* Sets the unknown keys of HMMs first .. first+n-1, which are few. */
static vhem_status set_extras(vhem_ctx *ctx, const vh_shard *s, int64_t first, int64_t n, vh_h3m *into,
                              int64_t at)
{
    VH_OWN(json_t) *all = NULL;
    json_t *one;
    const char *key;

    VH_TRY(vh_json_object(ctx, "extras", s->extras, &all));
    json_object_foreach(all, key, one)
    {
        int64_t i = strtoll(key, NULL, 10) - first;
        if (i >= 0 && i < n && json_is_object(one))
            VH_TRY(vh_json_keep(ctx, one, &into->hmm[at + i].extra));
    }
    return VHEM_OK;
}

static vhem_status read_run(vhem_ctx *ctx, const vh_shard *s, int64_t first, int64_t n, bool texts,
                            vh_h3m *into, int64_t at)
{
    VH_CLEANUP(vh_fd_close) int fd = vh_fd_open(s->path, VH_FD_READ);
    VH_CLEANUP(free_rows) chunk_rows r = { 0 };

    VH_CHECK(fd >= 0, VHEM_EIO, "cannot read: %s", strerror(errno));
    for (int64_t i = first; i < first + n;) {
        int64_t c = i / VH_SHARD_CHUNK;
        int skip = (int)(i - c * VH_SHARD_CHUNK);
        int64_t left = first + n - i, to = at + i - first;
        VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped while HMMs were read");
        VH_TRY(read_chunk(ctx, s, fd, c, texts, &r));
        int m = r.n - skip < left ? r.n - skip : (int)left;
        VH_TRY(unpack(ctx, s, &r, skip, m, into, to));
        if (!vh_rows_weights(into->omega + to, m) || !looks_valid(s, &r))
            VH_TRY(vh_h3m_check(ctx, into, to, m, s->first + i));
        free_rows(&r);
        r = (chunk_rows){ 0 };
        i += m;
    }
    if (texts && s->extras)
        VH_TRY(set_extras(ctx, s, first, n, into, at));
    return VHEM_OK;
}

vhem_status vh_shard_read(vhem_ctx *ctx, const vh_shard *s, int64_t first, int64_t n, bool texts,
                          vh_h3m *into, int64_t at)
{
    vhem_status st = read_run(ctx, s, first, n, texts, into, at);
    return st == VHEM_EINVAL ? VHEM_EFORMAT : st; /* invalid values came from the file */
}

vhem_status vh_shard_slots(vhem_ctx *ctx, const vh_shard *s, int64_t n, vh_h3m **out)
{
    const vh_h3m *head = s->head;
    VH_OWN(vh_h3m) *h3m = NULL;

    VH_TRY(vh_h3m_new(ctx, head->family, head->shape, n, &h3m));
    h3m->lengths = head->lengths;
    VH_TRY(vh_h3m_set_text(ctx, &h3m->prior, head->prior));
    VH_TRY(vh_h3m_set_text(ctx, &h3m->extra, head->extra));
    VH_TRY(vh_h3m_set_text(ctx, &h3m->provenance, head->provenance));
    *out = vh_take(h3m);
    return VHEM_OK;
}

vhem_status vh_shard_load(vhem_ctx *ctx, const vh_shard *s, vh_h3m **out)
{
    VH_OWN(vh_h3m) *h3m = NULL;

    VH_TRY(vh_shard_slots(ctx, s, s->K, &h3m));
    VH_TRY(vh_shard_read(ctx, s, 0, s->K, true, h3m, 0));
    VH_TRY(vh_h3m_check_omega(ctx, h3m));
    *out = vh_take(h3m);
    return VHEM_OK;
}

void vh_shard_expect(const vh_shard *s, int64_t first, int64_t n)
{
    int64_t chunk = first / VH_SHARD_CHUNK, last = (first + n - 1) / VH_SHARD_CHUNK;
    int fd = vh_fd_open(s->path, VH_FD_READ);

    for (int g = 0; fd >= 0 && g < s->n_shape; g++)
        for (int a = 0; a < 3 + s->head->family->n_param; a++) {
            const vh_shard_array *array = &s->shape[g].array[a];
            int64_t row = row_of(s, chunk, g),
                    end = row_of(s, last + 1 < s->n_chunk ? last + 1 : s->n_chunk, g);
            if (array->at >= 0 && end > row)
                vh_fd_expect(fd, array->at + row * (int64_t)array->size, (end - row) * (int64_t)array->size);
        }
    vh_fd_close(&fd);
}
