/* SPDX-License-Identifier: BSD-3-Clause */
/* shard.c - see shard.h: reads the description of a file through the HDF5 library. */
#include "files/shard.h"

#include "core/alloc.h"
#include "files/hmm_file.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { MAX_RANK = 5 };

void vh_shard_free(vh_shard *s)
{
    if (!s)
        return;
    vh_h3m_free(s->head);
    for (int64_t k = 0; s->label && k < s->n_label; k++)
        free(s->label[k]);
    free(s->label);
    free(s->set);
    free(s->before);
    free(s->extras);
    free(s->shape);
    free(s->of);
    free(s->row);
    free(s->check);
    free(s->path);
    free(s);
}

/* ---- arrays of the file -------------------------------------------------------------------------------- */

static hid_t memory_type(vh_shard_type type)
{
    return type == VH_SHARD_REAL     ? H5T_NATIVE_DOUBLE
           : type == VH_SHARD_INT    ? H5T_NATIVE_INT
           : type == VH_SHARD_OFFSET ? H5T_NATIVE_UINT64
                                     : H5T_NATIVE_UINT8;
}

static void shape_text(int rank, const hsize_t *n, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "%s", rank < 1 ? "a single value" : "");
    for (int k = 0; k < rank && at < size; k++)
        at += (size_t)snprintf(text + at, size - at, "%s%llu", k ? " x " : "", (unsigned long long)n[k]);
}

/* Finds the offset of an array that is contiguous and has the type used in memory; else -1. */
static vhem_status locate(vhem_ctx *ctx, hid_t set, size_t limit, hsize_t rows, vh_shard_array *a)
{
    VH_CLEANUP(vh_h5_release) hid_t type = H5Dget_type(set), how = H5Dget_create_plist(set);
    haddr_t at = H5Dget_offset(set);

    a->at = -1;
    if (H5Pget_layout(how) == H5D_CONTIGUOUS && H5Pget_external_count(how) == 0
        && H5Tequal(type, memory_type(a->type)) > 0) {
        VH_CHECK(at != HADDR_UNDEF && at <= limit && (double)rows * (double)a->size <= (double)(limit - at),
                 VHEM_EFORMAT, "%s does not fit into the file: it is damaged or cut short", a->name);
        a->at = (int64_t)at;
    }
    return VHEM_OK;
}

/* Size of a row of an array of shape n [rank].  A small file can claim a huge array of fill values, but
 * compression gains at most a factor of about 1000; computed in double, since the product may overflow any
 * integer type. */
static vhem_status row_size(vhem_ctx *ctx, size_t limit, int rank, const hsize_t *n, vh_shard_array *a)
{
    size_t one = H5Tget_size(memory_type(a->type));
    double row = (double)one;
    char shape[128];

    for (int k = 1; k < rank; k++)
        row *= (double)n[k];
    shape_text(rank, n, shape, sizeof shape);
    VH_CHECK(fmax(1, (double)n[0]) * row / 1024 <= (double)limit, VHEM_EFORMAT,
             "%s is %s numbers, more than the file can hold: it is damaged", a->name, shape);
    a->size = one;
    for (int k = 1; k < rank; k++)
        a->size *= (size_t)n[k];
    return VHEM_OK;
}

/* Finds an array by name and checks that its shape is n [rank]; n[0] = 0: any length, returned in n[0]. */
static vhem_status find_array(vhem_ctx *ctx, hid_t file, size_t limit, int rank, hsize_t *n,
                              vh_shard_array *a)
{
    hsize_t is[H5S_MAX_RANK] = { 0 };
    char found[128], must[128];
    VH_CLEANUP(vh_h5_release) hid_t set = -1, space = -1, type = -1;

    VH_TRY(vh_h5_open_inside(ctx, file, a->name, &set));
    space = H5Dget_space(set);
    type = H5Dget_type(set);
    VH_CHECK(H5Tget_class(type) == H5T_FLOAT || H5Tget_class(type) == H5T_INTEGER, VHEM_EFORMAT,
             "%s does not hold numbers", a->name);
    int is_rank = H5Sget_simple_extent_dims(space, is, NULL);
    bool same = is_rank == rank;
    if (same && n[0] == 0)
        n[0] = is[0];
    for (int k = 0; same && k < rank; k++)
        same = is[k] == n[k];
    shape_text(is_rank, is, found, sizeof found);
    shape_text(rank, n, must, sizeof must);
    VH_CHECK(same, VHEM_EFORMAT, "%s has shape %s, must be %s", a->name, found, must);
    VH_TRY(row_size(ctx, limit, rank, n, a));
    return locate(ctx, set, limit, n[0], a);
}

/* Sets *out if the name, at most one group deep, exists.  An error is not absence. */
static vhem_status is_there(vhem_ctx *ctx, hid_t file, const char *path, bool *out)
{
    char group[64];
    const char *slash = strchr(path, '/');
    htri_t there = 1;

    if (slash) {
        snprintf(group, sizeof group, "%.*s", (int)(slash - path), path);
        VH_TRY(vh_h5_inside(ctx, file, group, -1));
        there = H5Lexists(file, group, H5P_DEFAULT);
    }
    if (there > 0)
        there = H5Lexists(file, path, H5P_DEFAULT);
    VH_CHECK(there >= 0, VHEM_EFORMAT, "%s cannot be looked up: the file is damaged, or memory is short",
             path);
    *out = there > 0;
    return VHEM_OK;
}

/* Reads all of an array whose shape has been checked. */
static vhem_status read_whole(vhem_ctx *ctx, hid_t file, const vh_shard_array *a, void *out)
{
    VH_CLEANUP(vh_h5_release) hid_t set = -1;
    VH_TRY(vh_h5_open_inside(ctx, file, a->name, &set));
    VH_CHECK(H5Dread(set, memory_type(a->type), H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0, VHEM_EFORMAT,
             "%s cannot be read: the file is damaged", a->name);
    return VHEM_OK;
}

/* ---- shapes -------------------------------------------------------------------------------------------- */

/* Finds array a of a shape: pi, A, c, then the parameters of the family.  An absent optional one keeps size
 * 0: all its numbers are 0. */
static vhem_status find_parameter(vhem_ctx *ctx, hid_t file, size_t limit, vh_shard *s, int g, int a)
{
    vh_shard_shape *shape = &s->shape[g];
    const vh_param *param = a < 3 ? NULL : &s->head->family->param[a - 3];
    const char *name = a == 0 ? "pi" : a == 1 ? "A" : a == 2 ? "c" : param->name;
    hsize_t n[MAX_RANK] = { (hsize_t)shape->n, (hsize_t)shape->S, (hsize_t)(a == 1 ? shape->S : shape->M) };
    vh_shard_array *array = &shape->array[a];

    for (int k = 0; param && k < param->rank; k++)
        n[3 + k] = (hsize_t)vh_param_extent(param, k, &s->head->shape);
    snprintf(array->name, sizeof array->name, "S%dM%d/%s", shape->S, shape->M, name);
    if (param && param->optional) {
        bool there = false;
        VH_TRY(is_there(ctx, file, array->name, &there));
        if (!there)
            return VHEM_OK;
    }
    VH_TRY(find_array(ctx, file, limit, a == 0 ? 2 : 3 + (param ? param->rank : 0), n, array));
    s->bytes += shape->n * (int64_t)array->size;
    return VHEM_OK;
}

static vhem_status find_shape(vhem_ctx *ctx, hid_t file, size_t limit, vh_shard *s, int g)
{
    vh_shard_shape *shape = &s->shape[g];

    VH_CHECK(shape->S >= 1 && shape->M >= 1, VHEM_EFORMAT, "shape %d is S = %d, M = %d, must be at least 1",
             g, shape->S, shape->M);
    for (int a = 0; a < 3 + s->head->family->n_param; a++)
        VH_TRY(find_parameter(ctx, file, limit, s, g, a));
    return VHEM_OK;
}

/* Counts the HMMs of each shape, in total and before each chunk. */
static vhem_status count_shapes(vhem_ctx *ctx, hid_t file, size_t limit, vh_shard *s)
{
    vh_shard_array a = { .name = "of", .type = VH_SHARD_INT };
    hsize_t n = (hsize_t)s->K;

    if (s->n_shape == 1) {
        s->shape[0].n = s->K;
        return VHEM_OK;
    }
    VH_TRY(find_array(ctx, file, limit, 1, &n, &a));
    VH_NEW(s->of, s->K);
    VH_NEW(s->row, (s->n_chunk + 1) * s->n_shape);
    VH_TRY(read_whole(ctx, file, &a, s->of));
    for (int64_t i = 0; i < s->K; i++) {
        VH_CHECK(s->of[i] >= 0 && s->of[i] < s->n_shape, VHEM_EFORMAT, "of[%lld] is %d, there are %d shapes",
                 (long long)i, s->of[i], s->n_shape);
        s->shape[s->of[i]].n++;
        if ((i + 1) % VH_SHARD_CHUNK == 0 || i + 1 == s->K)
            for (int g = 0; g < s->n_shape; g++)
                s->row[(i / VH_SHARD_CHUNK + 1) * s->n_shape + g] = s->shape[g].n;
    }
    return VHEM_OK;
}

static vhem_status find_shapes(vhem_ctx *ctx, hid_t file, size_t limit, vh_shard *s)
{
    vh_shard_array a = { .name = "shape", .type = VH_SHARD_INT };
    hsize_t n[] = { 0, 2 };
    VH_AUTOFREE int *table = NULL;

    VH_TRY(find_array(ctx, file, limit, 2, n, &a));
    VH_CHECK(n[0] >= 1 && n[0] <= (hsize_t)s->K, VHEM_EFORMAT, "there are %llu shapes, must be 1 to %lld",
             (unsigned long long)n[0], (long long)s->K);
    /* Each shape is a group of at least five arrays; without this check, K and the number of shapes could
     * demand K^2 numbers. */
    VH_CHECK(n[0] == 1 || n[0] <= limit / 512, VHEM_EFORMAT,
             "there are %llu shapes, more than the file can hold: it is damaged", (unsigned long long)n[0]);
    VH_NEW(table, 2 * n[0]);
    VH_NEW(s->shape, n[0]);
    s->n_shape = (int)n[0];
    VH_TRY(read_whole(ctx, file, &a, table));
    VH_TRY(count_shapes(ctx, file, limit, s));
    for (int g = 0; g < s->n_shape; g++) {
        s->shape[g].S = table[2 * g];
        s->shape[g].M = table[2 * g + 1];
        VH_TRY(find_shape(ctx, file, limit, s, g));
    }
    return VHEM_OK;
}

/* ---- texts and checksums ------------------------------------------------------------------------------- */

static vhem_status read_dictionary(vhem_ctx *ctx, hid_t file, size_t limit, vh_shard *s)
{
    VH_CLEANUP(vh_h5_release) hid_t set = -1, type = -1, space = -1;
    VH_AUTOFREE char *bytes = NULL;

    VH_TRY(vh_h5_open_inside(ctx, file, "label/dictionary", &set));
    type = H5Dget_type(set);
    space = H5Dget_space(set);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    size_t size = H5Tget_size(type);
    VH_CHECK(H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 && n > 0, VHEM_EFORMAT,
             "label/dictionary does not hold texts of fixed length");
    VH_CHECK((double)n * (double)size <= (double)limit, VHEM_EFORMAT,
             "label/dictionary is longer than the file: it is damaged");
    VH_NEW(bytes, (size_t)n * size);
    VH_NEW(s->label, n);
    s->n_label = n;
    VH_CHECK(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0, VHEM_EFORMAT,
             "label/dictionary cannot be read: the file is damaged");
    for (hssize_t k = 0; k < n; k++) {
        s->label[k] = vh_strndup(ctx, bytes + (size_t)k * size, strnlen(bytes + (size_t)k * size, size));
        VH_CHECK(s->label[k], VHEM_ENOMEM, "out of memory");
    }
    return VHEM_OK;
}

static vhem_status find_texts(vhem_ctx *ctx, hid_t file, size_t limit, vh_shard *s)
{
    vh_shard_array offset = { .name = "name/offset", .type = VH_SHARD_OFFSET },
                   bytes = { .name = "name/bytes", .type = VH_SHARD_BYTE },
                   code = { .name = "label/code", .type = VH_SHARD_INT };
    hsize_t n = (hsize_t)s->K + 1, n_bytes = 0, K = (hsize_t)s->K;
    bool there = false;

    VH_TRY(is_there(ctx, file, "name", &there));
    if (there) {
        VH_TRY(find_array(ctx, file, limit, 1, &n, &offset));
        VH_TRY(find_array(ctx, file, limit, 1, &n_bytes, &bytes));
        s->name_offset = offset;
        s->name_bytes = bytes;
        s->n_bytes = n_bytes;
    }
    VH_TRY(is_there(ctx, file, "label", &there));
    if (there) {
        VH_TRY(find_array(ctx, file, limit, 1, &K, &code));
        VH_TRY(read_dictionary(ctx, file, limit, s));
        s->code = code;
    }
    VH_TRY(vh_h5_long_text(ctx, file, "extras", limit, &s->extras));
    if (s->extras)
        VH_TRY(vh_model_check_object(ctx, "extras", s->extras));
    return VHEM_OK;
}

static vhem_status find_checks(vhem_ctx *ctx, hid_t file, size_t limit, vh_shard *s)
{
    vh_shard_array a = { .name = "check", .type = VH_SHARD_OFFSET };
    hsize_t n[] = { 2, (hsize_t)s->n_chunk };
    bool there = false;

    VH_TRY(is_there(ctx, file, "check", &there));
    if (!there)
        return VHEM_OK;
    VH_TRY(find_array(ctx, file, limit, 2, n, &a));
    VH_NEW(s->check, 2 * s->n_chunk);
    return read_whole(ctx, file, &a, s->check);
}

vhem_status vh_shard_key(vhem_ctx *ctx, const vh_shard *s, vh_key *out)
{
    VH_OWN(vh_hash) *hash = NULL;
    VH_TRY(vh_hash_new(ctx, &hash));
    vh_hash_text(hash, s->head->family->name);
    vh_hash_number(hash, s->head->d);
    vh_hash_number(hash, (double)s->K);
    vh_hash_number(hash, (double)s->at);
    vh_hash_number(hash, s->omega_sum);
    if (s->check)
        vh_hash_bytes(hash, s->check, 2 * sizeof *s->check * (size_t)s->n_chunk);
    for (int64_t k = 0; k < s->n_label; k++)
        vh_hash_text(hash, s->label[k]);
    vh_hash_text(hash, s->extras);
    vh_hash_key(hash, out);
    return VHEM_OK;
}

vhem_status vh_shard_chain(vhem_ctx *ctx, const char *before, const char *key, vh_key *out)
{
    VH_OWN(vh_hash) *hash = NULL;
    VH_TRY(vh_hash_new(ctx, &hash));
    vh_hash_text(hash, before);
    vh_hash_text(hash, key);
    vh_hash_key(hash, out);
    return VHEM_OK;
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static vhem_status has_attribute(vhem_ctx *ctx, hid_t file, const char *name, bool *out)
{
    htri_t there = H5Aexists(file, name);
    VH_CHECK(there >= 0, VHEM_EFORMAT, "%s cannot be looked up: the file is damaged, or memory is short",
             name);
    *out = there > 0;
    return VHEM_OK;
}

/* Reads an integer from `least` to 2^53, which a double holds exactly; *out is unchanged if it is absent. */
static vhem_status get_whole(vhem_ctx *ctx, hid_t file, const char *name, double least, int64_t *out)
{
    double x = 0;
    bool there = false;
    VH_TRY(has_attribute(ctx, file, name, &there));
    if (!there)
        return VHEM_OK;
    VH_TRY(vh_h5_real(ctx, file, name, &x));
    VH_CHECK(x == floor(x) && x >= least && x <= 0x1p53, VHEM_EFORMAT,
             "%s is %.12g, must be a whole number from %g to 2^53", name, x, least);
    *out = (int64_t)x;
    return VHEM_OK;
}

static vhem_status get_counts(vhem_ctx *ctx, hid_t file, bool whole, vh_shard *s)
{
    bool there = false;

    VH_TRY(get_whole(ctx, file, "K", 1, &s->K));
    VH_CHECK(s->K > 0, VHEM_EFORMAT, "K is missing");
    s->n_chunk = (s->K + VH_SHARD_CHUNK - 1) / VH_SHARD_CHUNK;
    s->all = s->K;
    VH_TRY(get_whole(ctx, file, "first", 0, &s->first));
    VH_TRY(get_whole(ctx, file, "all", 1, &s->all));
    s->omega_sum = 1;
    VH_TRY(has_attribute(ctx, file, "omega_sum", &there));
    if (there)
        VH_TRY(vh_h5_real(ctx, file, "omega_sum", &s->omega_sum));
    VH_CHECK(s->omega_sum >= 0 && isfinite(s->omega_sum), VHEM_EFORMAT,
             "omega_sum is %g, must be a finite number of 0 or more", s->omega_sum);
    s->scale = 1;
    if (whole && s->all != s->K) { /* one of several shards: its weights do not sum to 1 */
        VH_CHECK(s->omega_sum > 0, VHEM_EFORMAT, "no HMM has any weight: it is one of several shards");
        s->scale = s->omega_sum;
    }
    s->at = s->first;
    if (whole)
        s->first = 0;
    return VHEM_OK;
}

vhem_status vh_shard_describe(vhem_ctx *ctx, hid_t file, size_t limit, const char *path, bool whole,
                              vh_shard **out)
{
    VH_OWN(vh_shard) *s = NULL;

    VH_NEW(s, 1);
    VH_DUP(s->path, path);
    VH_TRY(vh_model_get_head(ctx, file, limit, 1, &s->head));
    VH_TRY(get_counts(ctx, file, whole, s));
    VH_TRY(vh_h5_text(ctx, file, "set", limit, &s->set));
    VH_TRY(vh_h5_text(ctx, file, "before", limit, &s->before));
    snprintf(s->omega.name, sizeof s->omega.name, "omega");
    VH_TRY(find_array(ctx, file, limit, 1, &(hsize_t){ (hsize_t)s->K }, &s->omega));
    VH_TRY(find_shapes(ctx, file, limit, s));
    VH_TRY(find_texts(ctx, file, limit, s));
    VH_TRY(find_checks(ctx, file, limit, s));
    *out = vh_take(s);
    return VHEM_OK;
}

typedef struct {
    bool whole;
    vh_shard **out;
} opening;

static vhem_status describe(vhem_ctx *ctx, hid_t file, size_t limit, const char *path, void *arg)
{
    const opening *o = arg;
    int version = 0;
    VH_TRY(vh_h5_head(ctx, file, limit, "vhem-h3m", VH_SHARD_VERSION, &version));
    VH_CHECK(version == VH_SHARD_VERSION, VHEM_EFORMAT, "version %d of the format, a shard has version %d",
             version, VH_SHARD_VERSION);
    return vh_shard_describe(ctx, file, limit, path, o->whole, o->out);
}

vhem_status vh_shard_open(vhem_ctx *ctx, const char *path, bool whole, vh_shard **out)
{
    opening o = { whole, out };
    return vh_h5_load(ctx, path, describe, &o);
}
