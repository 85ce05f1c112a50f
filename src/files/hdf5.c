/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5.c - see hdf5.h.
 *
 *   1. the library: its error output, its identifiers      3. reading
 *   2. writing
 *
 * Files use the 1.8 layout or later, whose metadata has checksums, so damage is detected.  Small arrays are
 * stored in their object header, under the same checksum and without a seek. */
#include "files/hdf5.h"

#include "core/alloc.h"
#include "os/fd.h"
#include "core/atomic_file.h"
#include "core/hdf5_errors.h"
#include "os/path.h"
#include "os/stream.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define COMPACT_BYTES 32768      /* object headers hold up to 64 KiB */
#define IMAGE_STEP    (1u << 18) /* growth of a file in memory */

/* ---- 1. the library ------------------------------------------------------------------------------------ */

bool vh_h5_drop(hid_t id)
{
    return id < 0 || H5Idec_ref(id) >= 0;
}

/* ---- 2. writing ---------------------------------------------------------------------------------------- */

static bool put_number(const vh_h5_writer *w, hid_t at, const char *name, hid_t file_type, hid_t type,
                       const void *value)
{
    hid_t a = H5Acreate2(at, name, file_type, w->scalar, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = a >= 0 && H5Awrite(a, type, value) >= 0;
    ok &= vh_h5_drop(a);
    return ok;
}

bool vh_h5_put_int(const vh_h5_writer *w, hid_t at, const char *name, int value)
{
    return put_number(w, at, name, H5T_STD_I32LE, H5T_NATIVE_INT, &value);
}

bool vh_h5_put_int64(const vh_h5_writer *w, hid_t at, const char *name, int64_t value)
{
    return put_number(w, at, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

bool vh_h5_put_real(const vh_h5_writer *w, hid_t at, const char *name, double value)
{
    return put_number(w, at, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

/* Fixed-length UTF-8 strings, which unlike variable-length ones are stored in place, not in a heap. */
hid_t vh_h5_text_type(size_t length)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && H5Tset_size(type, length ? length : 1) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0
        && H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0)
        return type;
    vh_h5_drop(type);
    return -1;
}

bool vh_h5_put_text(const vh_h5_writer *w, hid_t at, const char *name, const char *text)
{
    if (!text || !*text)
        return true;
    hid_t type = vh_h5_text_type(strlen(text));
    hid_t a = type < 0 ? -1 : H5Acreate2(at, name, type, w->scalar, H5P_DEFAULT, H5P_DEFAULT);
    bool ok = a >= 0 && H5Awrite(a, type, text) >= 0;
    ok &= vh_h5_drop(a);
    vh_h5_drop(type);
    return ok;
}

bool vh_h5_put_long_text(const vh_h5_writer *w, hid_t at, const char *name, const char *text)
{
    if (!text)
        return true;
    hid_t type = vh_h5_text_type(strlen(text));
    hid_t set =
        type < 0 ? -1 : H5Dcreate2(at, name, type, w->scalar, H5P_DEFAULT, w->contiguous, H5P_DEFAULT);
    bool ok = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    ok &= vh_h5_drop(set);
    vh_h5_drop(type);
    return ok;
}

bool vh_h5_put_numbers(const vh_h5_writer *w, hid_t at, const char *name, int rank, const int64_t *n,
                       const double *x)
{
    hsize_t dims[VH_MAX_RANK] = { 0 }, all = 1;
    for (int k = 0; k < rank; k++)
        all *= dims[k] = (hsize_t)n[k];
    hid_t space = H5Screate_simple(rank, dims, NULL);
    hid_t how = all * sizeof *x <= COMPACT_BYTES ? w->compact : w->contiguous;
    hid_t set = space < 0 ? -1 : H5Dcreate2(at, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    bool ok = set >= 0 && H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0;
    ok &= vh_h5_drop(set);
    vh_h5_drop(space);
    return ok;
}

bool vh_h5_put_array(const vh_h5_writer *w, hid_t at, const char *name, hid_t type, int rank,
                     const hsize_t *n, const void *x)
{
    hid_t space = H5Screate_simple(rank, n, NULL);
    hid_t set = H5Dcreate2(at, name, type, space, H5P_DEFAULT, w->contiguous, H5P_DEFAULT);
    bool ok = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0;
    ok &= vh_h5_drop(set);
    ok &= vh_h5_drop(space);
    return ok;
}

hid_t vh_h5_put_group(const vh_h5_writer *w, hid_t at, const char *name)
{
    return H5Gcreate2(at, name, H5P_DEFAULT, w->group, H5P_DEFAULT);
}

/* Creation properties of files, groups or datasets, without times: equal models give equal bytes. */
static hid_t timeless(hid_t class)
{
    hid_t how = H5Pcreate(class);
    if (how >= 0 && H5Pset_obj_track_times(how, false) >= 0)
        return how;
    vh_h5_drop(how);
    return -1;
}

/* The library never writes to disk: in 1.10, a file that could not be closed because the disk was full
 * crashes the process at exit.  So the file is built in memory, and its bytes are taken over when it is
 * closed. (H5Fget_file_image would be shorter, but leaves a superblock with a wrong checksum.) */
typedef struct {
    unsigned char *bytes;
    size_t size; /* of the buffer; the file may be shorter */
} image;

static void free_image(image *im)
{
    free(im->bytes);
}

static void *image_malloc(size_t size, H5FD_file_image_op_t op, void *arg)
{
    (void)op;
    ((image *)arg)->size = size;
    return malloc(size);
}

static void *image_realloc(void *p, size_t size, H5FD_file_image_op_t op, void *arg)
{
    (void)op;
    ((image *)arg)->size = size;
    return realloc(p, size);
}

static herr_t image_free(void *p, H5FD_file_image_op_t op, void *arg)
{
    if (op == H5FD_FILE_IMAGE_OP_FILE_CLOSE)
        ((image *)arg)->bytes = p;
    else
        free(p);
    return 0;
}

static void *image_arg_copy(void *arg)
{
    return arg;
}

static herr_t image_arg_free(void *arg)
{
    (void)arg;
    return 0;
}

/* End of the file from its superblock (versions 2 and 3): 8 bytes at offset 28, little-endian. */
static size_t image_end(const image *im)
{
    uint64_t end = 0;
    for (int k = 7; im->bytes && im->size >= 48 && k >= 0; k--)
        end = end << 8 | im->bytes[28 + k];
    return end <= im->size ? (size_t)end : 0;
}

/* Access properties of a file that stays in memory; -1: failed, and the disk would be used instead. */
static hid_t in_memory(image *im)
{
    H5FD_file_image_callbacks_t calls = { .image_malloc = image_malloc,
                                          .image_realloc = image_realloc,
                                          .image_free = image_free,
                                          .udata_copy = image_arg_copy,
                                          .udata_free = image_arg_free,
                                          .udata = im };
    hid_t how = H5Pcreate(H5P_FILE_ACCESS);
    if (how >= 0 && H5Pset_libver_bounds(how, H5F_LIBVER_V18, H5F_LIBVER_LATEST) >= 0
        && H5Pset_fapl_core(how, IMAGE_STEP, false) >= 0 && H5Pset_file_image_callbacks(how, &calls) >= 0)
        return how;
    vh_h5_drop(how);
    return -1;
}

/* Builds the file in memory; the caller frees im->bytes in any case.  Its name must differ from any file and
 * from images in other threads: HDF5 takes equal names for the same file and refuses to create it again. */
static vhem_status make_image(vhem_ctx *ctx, vh_h5_put *put, const void *what, image *im)
{
    hid_t access_how = in_memory(im), file_how = timeless(H5P_FILE_CREATE);
    vh_h5_writer w = { .file = -1,
                       .scalar = H5Screate(H5S_SCALAR),
                       .group = timeless(H5P_GROUP_CREATE),
                       .compact = timeless(H5P_DATASET_CREATE),
                       .contiguous = timeless(H5P_DATASET_CREATE) };
    char name[64];

    snprintf(name, sizeof name, "/dev/null/vhem-%p", (void *)im);
    if (access_how >= 0 && file_how >= 0 && w.scalar >= 0 && w.group >= 0 && w.contiguous >= 0
        && w.compact >= 0 && H5Pset_layout(w.compact, H5D_COMPACT) >= 0)
        w.file = H5Fcreate(name, H5F_ACC_TRUNC, file_how, access_how);
    bool ok = w.file >= 0 && put(&w, what);
    ok = w.file >= 0 && H5Fclose(w.file) >= 0 && ok;
    vh_h5_drop(w.contiguous);
    vh_h5_drop(w.compact);
    vh_h5_drop(w.group);
    vh_h5_drop(w.scalar);
    vh_h5_drop(file_how);
    vh_h5_drop(access_how);
    im->size = image_end(im);
    if (!ok || im->size == 0)
        return vh_fail(ctx, VHEM_ENOMEM, "out of memory: could not build the HDF5 file");
    return VHEM_OK;
}

vhem_status vh_h5_save(vhem_ctx *ctx, const char *path, vh_h5_put *put, const void *what)
{
    VH_CLEANUP(free_image) image im = { NULL, 0 };
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file out = { 0 };
    vh_h5_watch watch;

    vh_h5_watch_begin(&watch);
    vhem_status st = vh_error_in(ctx, make_image(ctx, put, what, &im), path);
    VH_TRY(vh_h5_watch_end(ctx, &watch, path, st));
    VH_TRY(vh_atomic_file_open(ctx, path, &out));
    errno = 0;
    fwrite(im.bytes, 1, im.size, out.f); /* errors are reported by the commit */
    return vh_atomic_file_commit(ctx, &out);
}

/* ---- 3. reading ---------------------------------------------------------------------------------------- */

vhem_status vh_h5_inside(vhem_ctx *ctx, hid_t at, const char *name, hid_t set)
{
    const char *elsewhere = vh_h5_elsewhere(at, name, set);
    return elsewhere ? vh_fail(ctx, VHEM_EFORMAT, "%s is not read: %s", name, elsewhere) : VHEM_OK;
}

vhem_status vh_h5_open_inside(vhem_ctx *ctx, hid_t at, const char *path, hid_t *out)
{
    char group[64];

    /* Top down: a query about a name in a linked group would follow the link. */
    for (const char *end = strchr(path, '/'); end; end = strchr(end + 1, '/')) {
        assert((size_t)(end - path) < sizeof group);
        snprintf(group, sizeof group, "%.*s", (int)(end - path), path);
        VH_TRY(vh_h5_inside(ctx, at, group, -1));
    }
    VH_TRY(vh_h5_inside(ctx, at, path, -1));
    VH_CLEANUP(vh_h5_release) hid_t set = H5Dopen2(at, path, H5P_DEFAULT);
    VH_CHECK(set >= 0, VHEM_EFORMAT, "%s is missing or damaged", path);
    VH_TRY(vh_h5_inside(ctx, -1, path, set));
    *out = set;
    set = -1;
    return VHEM_OK;
}

static const char *shape_text(int rank, const hsize_t *n, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "%s", rank == 0 ? "a single value" : "");
    for (int k = 0; k < rank && at < size; k++)
        at += (size_t)snprintf(text + at, size - at, "%s%llu", k ? " x " : "", (unsigned long long)n[k]);
    return text;
}

static const char *wanted_text(const vh_named_array *want, char *text, size_t size)
{
    size_t at = 0;
    for (int k = 0; k < want->rank && at < size; k++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", k ? " x " : "", want->dim[k].name);
    for (int k = 0; k < want->rank && at < size; k++)
        at += (size_t)snprintf(text + at, size - at, "%s%lld", k ? " x " : " = ", (long long)want->dim[k].n);
    return text;
}

/* Reads the shape of a numeric dataset into n [H5S_MAX_RANK]. */
static vhem_status get_shape(vhem_ctx *ctx, hid_t set, const char *name, int *rank, hsize_t *n)
{
    VH_CLEANUP(vh_h5_release) hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    H5T_class_t class = H5Tget_class(type);

    VH_CHECK(class == H5T_FLOAT || class == H5T_INTEGER, VHEM_EFORMAT, "%s does not hold numbers", name);
    *rank = H5Sget_simple_extent_dims(space, n, NULL);
    VH_CHECK(*rank >= 0, VHEM_EFORMAT, "%s has no shape", name);
    return VHEM_OK;
}

vhem_status vh_h5_numbers(vhem_ctx *ctx, hid_t at, const vh_named_array *want, double *out)
{
    const char *name = want->name;
    hsize_t n[H5S_MAX_RANK];
    int found = 0;
    char is[128], must[128];

    VH_TRY(vh_h5_inside(ctx, at, name, -1));
    VH_CLEANUP(vh_h5_release) hid_t set = H5Dopen2(at, name, H5P_DEFAULT);
    VH_CHECK(set >= 0, VHEM_EFORMAT, "%s is missing or damaged", name);
    VH_TRY(vh_h5_inside(ctx, -1, name, set));
    VH_TRY(get_shape(ctx, set, name, &found, n));
    bool same = found == want->rank;
    for (int k = 0; same && k < want->rank; k++)
        same = n[k] == (hsize_t)want->dim[k].n;
    VH_CHECK(same, VHEM_EFORMAT, "%s has shape %s, must be %s", name, shape_text(found, n, is, sizeof is),
             wanted_text(want, must, sizeof must));
    VH_CHECK(!out || H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0, VHEM_EFORMAT,
             "%s cannot be read: the file is damaged", name);
    return VHEM_OK;
}

vhem_status vh_h5_real(vhem_ctx *ctx, hid_t at, const char *name, double *out)
{
    VH_CLEANUP(vh_h5_release)
    hid_t a = H5Aopen(at, name, H5P_DEFAULT), space = H5Aget_space(a), type = H5Aget_type(a);
    H5T_class_t class = H5Tget_class(type);

    VH_CHECK(a >= 0, VHEM_EFORMAT, "%s is missing", name);
    VH_CHECK(H5Sget_simple_extent_npoints(space) == 1 && (class == H5T_INTEGER || class == H5T_FLOAT)
                 && H5Aread(a, H5T_NATIVE_DOUBLE, out) >= 0,
             VHEM_EFORMAT, "%s is not a single number", name);
    return VHEM_OK;
}

vhem_status vh_h5_count(vhem_ctx *ctx, hid_t at, const char *name, int *out)
{
    double x = 0;
    VH_TRY(vh_h5_real(ctx, at, name, &x));
    VH_CHECK(x == floor(x) && x >= 1 && x <= INT_MAX, VHEM_EFORMAT,
             "%s is %.12g, must be a whole number from 1 to %d", name, x, INT_MAX);
    *out = (int)x;
    return VHEM_OK;
}

typedef herr_t read_string(hid_t from, hid_t type, void *out);

static herr_t read_attribute(hid_t from, hid_t type, void *out)
{
    return H5Aread(from, type, out);
}

static herr_t read_dataset(hid_t from, hid_t type, void *out)
{
    return H5Dread(from, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
}

static vhem_status set_text(vhem_ctx *ctx, char **slot, const char *text)
{
    char *copy = NULL;
    VH_DUP(copy, text);
    free(*slot);
    *slot = copy;
    return VHEM_OK;
}

static void free_heap(char **heap)
{
    H5free_memory(*heap);
}

/* Reads one string of fixed or variable length into *slot. */
static vhem_status copy_string(vhem_ctx *ctx, hid_t from, hid_t type, hid_t space, read_string *read,
                               const char *name, size_t limit, char **slot)
{
    VH_AUTOFREE char *text = NULL;
    VH_CLEANUP(free_heap) char *heap = NULL;
    size_t size = H5Tget_size(type);

    VH_CHECK(H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1, VHEM_EFORMAT,
             "%s is not text", name);
    if (H5Tis_variable_str(type) > 0) {
        hid_t memory = H5Tcopy(type);
        bool ok = read(from, memory, &heap) >= 0;
        vh_h5_drop(memory);
        VH_CHECK(ok, VHEM_EFORMAT, "%s cannot be read: the file is damaged", name);
        VH_TRY(set_text(ctx, slot, heap ? heap : ""));
    } else {
        VH_CHECK(size <= limit, VHEM_EFORMAT, "%s is longer than the file: it is damaged", name);
        VH_NEW(text, size + 1);
        VH_CHECK(read(from, type, text) >= 0, VHEM_EFORMAT, "%s cannot be read: the file is damaged", name);
        VH_TRY(set_text(ctx, slot, text));
    }
    return VHEM_OK;
}

/* An error must not pass for absence: existing data would be dropped silently. */
static vhem_status cannot_tell(vhem_ctx *ctx, const char *name)
{
    return vh_fail(ctx, VHEM_EFORMAT, "%s cannot be looked up: the file is damaged, or memory is short",
                   name);
}

vhem_status vh_h5_text(vhem_ctx *ctx, hid_t at, const char *name, size_t limit, char **slot)
{
    htri_t there = H5Aexists(at, name);
    if (there <= 0)
        return there == 0 ? VHEM_OK : cannot_tell(ctx, name);
    hid_t a = H5Aopen(at, name, H5P_DEFAULT), type = H5Aget_type(a), space = H5Aget_space(a);
    vhem_status st = copy_string(ctx, a, type, space, read_attribute, name, limit, slot);
    vh_h5_drop(space);
    vh_h5_drop(type);
    vh_h5_drop(a);
    return st;
}

vhem_status vh_h5_long_text(vhem_ctx *ctx, hid_t at, const char *name, size_t limit, char **slot)
{
    htri_t there = H5Lexists(at, name, H5P_DEFAULT);
    if (there <= 0)
        return there == 0 ? VHEM_OK : cannot_tell(ctx, name);
    vhem_status st = vh_h5_inside(ctx, at, name, -1);
    if (st != VHEM_OK)
        return st;
    hid_t set = H5Dopen2(at, name, H5P_DEFAULT), type = H5Dget_type(set), space = H5Dget_space(set);
    st = vh_h5_inside(ctx, -1, name, set);
    if (st == VHEM_OK)
        st = copy_string(ctx, set, type, space, read_dataset, name, limit, slot);
    vh_h5_drop(space);
    vh_h5_drop(type);
    vh_h5_drop(set);
    return st;
}

vhem_status vh_h5_head(vhem_ctx *ctx, hid_t file, size_t limit, const char *format, int newest, int *out)
{
    VH_AUTOFREE char *found = NULL;
    int version = 0;

    VH_TRY(vh_h5_text(ctx, file, "format", limit, &found));
    VH_CHECK(found, VHEM_EFORMAT, "format is missing, must be '%s'", format);
    VH_CHECK(strcmp(found, format) == 0, VHEM_EFORMAT, "format is '%.80s', must be '%s'", found, format);
    VH_TRY(vh_h5_count(ctx, file, "version", &version));
    VH_CHECK(version <= newest, VHEM_EFORMAT, "version %d of the format, this program reads up to %d",
             version, newest);
    if (out)
        *out = version;
    return VHEM_OK;
}

vhem_status vh_h5_models(vhem_ctx *ctx, hid_t file, const char *name, const char *what, size_t limit,
                         hid_t *group, int64_t *K)
{
    H5G_info_t info = { .nlinks = 0 };

    VH_TRY(vh_h5_inside(ctx, file, name, -1));
    *group = H5Gopen2(file, name, H5P_DEFAULT);
    VH_CHECK(*group >= 0 && H5Gget_info(*group, &info) >= 0, VHEM_EFORMAT, "%s is missing or damaged", name);
    VH_CHECK(info.nlinks >= 1 && info.nlinks <= limit, VHEM_EFORMAT, "there are %llu %s, must be 1 to %zu",
             (unsigned long long)info.nlinks, what, limit);
    *K = (int64_t)info.nlinks;
    return VHEM_OK;
}

vhem_status vh_h5_omega(vhem_ctx *ctx, hid_t file, int64_t K, double *omega)
{
    if (K == 1 && H5Lexists(file, "omega", H5P_DEFAULT) == 0)
        return VHEM_OK;
    const vh_named_array all = { .name = "omega", .rank = 1, .dim = { { "K", K } } };
    return vh_h5_numbers(ctx, file, &all, omega);
}

/* Explains why the library rejects the file: most often it is truncated. */
static vhem_status explain_refusal(vhem_ctx *ctx, const char *path, int64_t size)
{
    image head = { calloc(1, 48), 48 };
    FILE *f = vh_file_open(path, "rb");
    bool ours = f && head.bytes && fread(head.bytes, 1, head.size, f) == head.size
                && memcmp(head.bytes, "\x89HDF\r\n\x1a\n", 8) == 0 && head.bytes[8] >= 2;
    head.size = SIZE_MAX;
    int64_t end = ours ? (int64_t)image_end(&head) : 0;
    if (f)
        fclose(f);
    free(head.bytes);
    if (end > size)
        return vh_fail(ctx, VHEM_EFORMAT, "the file is cut short: it has %lld bytes of %lld", (long long)size,
                       (long long)end);
    return vh_fail(ctx, VHEM_EFORMAT, "not an HDF5 file, or a damaged one");
}

static vhem_status read_file(vhem_ctx *ctx, const char *path, vh_h5_get *get, void *out)
{
    vh_entry there;

    VH_CHECK(vh_path_look(path, &there), VHEM_EIO, "cannot read: %s", strerror(errno));
    VH_CHECK(there.kind != VH_IS_FOLDER, VHEM_EIO, "cannot read: it is a directory");
    VH_CHECK(vh_path_readable(path), VHEM_EIO, "cannot read: %s", strerror(errno));
    VH_CHECK(there.size > 0, VHEM_EFORMAT, "the file is empty, must be a model file");
    VH_CLEANUP(vh_h5_release) hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        VH_TRY(explain_refusal(ctx, path, there.size));
    return get(ctx, file, (size_t)there.size, path, out);
}

vhem_status vh_h5_load(vhem_ctx *ctx, const char *path, vh_h5_get *get, void *out)
{
    vh_h5_watch watch;

    vh_h5_watch_begin(&watch);
    vhem_status st = vh_error_in(ctx, read_file(ctx, path, get, out), path);
    st = vh_h5_watch_end(ctx, &watch, path, st);
    return st == VHEM_EINVAL ? VHEM_EFORMAT : st; /* invalid values came from the file */
}
