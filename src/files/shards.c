/* SPDX-License-Identifier: BSD-3-Clause */
/* shards.c - see shards.h.
 *
 *   1. opening      2. reading      3. writing */
#include "files/shards.h"

#include "core/alloc.h"
#include "core/atomic_file.h"
#include "core/atomic_dir.h"
#include "parallel/map.h"
#include "files/json.h"
#include "emission/layout.h"
#include "os/path.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum {
    VERSION = 1,
    PIECE = 16 * VH_SHARD_CHUNK, /* HMMs that a thread reads at a time */
};

void vh_shards_free(vh_shards *set)
{
    if (!set)
        return;
    for (int f = 0; f < set->n; f++)
        vh_shard_free(set->shard[f]);
    free(set->shard);
    free(set->path);
    free(set);
}

/* Path of a file in a folder; on failure NULL, with an error message. */
static char *join_path(vhem_ctx *ctx, const char *folder, const char *name)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    size_t size = n + strlen(name) + 2;
    char *path = vh_alloc(ctx, size, 1);
    if (path)
        snprintf(path, size, "%.*s/%s", (int)n, folder, name);
    return path;
}

bool vh_shards_is_folder(const char *path)
{
    VH_AUTOFREE char *manifest = vh_path_is_folder(path) ? join_path(NULL, path, VH_MANIFEST) : NULL;
    vh_entry there;
    return manifest && vh_path_look(manifest, &there) && there.kind == VH_IS_FILE;
}

int vh_shards_loose(const char *path)
{
    int found = 0;
    bool others = false;
    vh_folder *folder = vh_folder_open(path);

    for (const char *name; folder && (name = vh_folder_next(folder));) {
        int is = vh_ends_with(name, ".h5") ? VH_LOOSE_H5 : vh_ends_with(name, ".json") ? VH_LOOSE_JSON : 0;
        others |= !is && name[0] != '.';
        found |= is;
    }
    vh_folder_close(folder);
    return others ? 0 : found;
}

/* ---- 1. opening ---------------------------------------------------------------------------------------- */

vhem_status vh_shards_add(vhem_ctx *ctx, vh_shards *set, vh_shard *shard)
{
    const vh_h3m *head = set->n ? set->shard[0]->head : shard->head;
    char why[256];

    set->shard[set->n++] = shard;
    VH_CHECK(shard->head->family == head->family && shard->head->d == head->d, VHEM_EFORMAT,
             "%s: it holds %s of dimension %d, the first file %s of dimension %d", shard->path,
             shard->head->family->name, shard->head->d, head->family->name, head->d);
    VH_CHECK(!*vh_layout_differs(&shard->head->shape, &head->shape, why, sizeof why), VHEM_EFORMAT,
             "%s: it does not suit the first file: %s", shard->path, why);
    set->bytes += shard->bytes;
    set->K += shard->K;
    for (int g = 0; g < shard->n_shape; g++) {
        set->S = shard->shape[g].S > set->S ? shard->shape[g].S : set->S;
        set->M = shard->shape[g].M > set->M ? shard->shape[g].M : set->M;
        set->S_least = vh_least(set->S_least, shard->shape[g].S);
        set->M_least = vh_least(set->M_least, shard->shape[g].M);
    }
    return VHEM_OK;
}

vhem_status vh_shards_check_weights(vhem_ctx *ctx, const vh_shards *set)
{
    double sum = 0;
    for (int f = 0; f < set->n; f++)
        sum += set->shard[f]->omega_sum / set->shard[f]->scale;
    VH_CHECK(fabs(sum - 1) <= VH_SUM_TOLERANCE, VHEM_EFORMAT, "%s: omega sums to %.10g, must be 1", set->path,
             sum);
    return VHEM_OK;
}

vhem_status vh_shards_of(vhem_ctx *ctx, vh_shard *shard, vh_shards **out)
{
    VH_OWN(vh_shards) *set = NULL;
    VH_OWN(vh_shard) *own = shard;

    VH_NEW(set, 1);
    VH_NEW(set->shard, 1);
    VH_DUP(set->path, shard->path);
    VH_TRY(vh_shards_add(ctx, set, vh_take(own)));
    VH_TRY(vh_shards_check_weights(ctx, set));
    *out = vh_take(set);
    return VHEM_OK;
}

/* Reads a whole number of the manifest; of: the file it describes, NULL: all of them. */
static vhem_status get_count(vhem_ctx *ctx, const char *folder, json_t *object, const char *of,
                             const char *key, int64_t *out)
{
    const json_t *value = json_object_get(object, key);
    VH_AUTOFREE char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) : NULL;

    VH_CHECK(json_is_integer(value) && json_integer_value(value) >= 0, VHEM_EFORMAT,
             "%s/%s: %s%s%s is %.40s, must be a whole number of 0 or more", folder, VH_MANIFEST, key,
             of ? " of " : "", of ? of : "", text ? text : "missing");
    *out = json_integer_value(value);
    return VHEM_OK;
}

/* Opens and checks the file of entry f of the manifest. */
static vhem_status open_entry(vhem_ctx *ctx, const char *folder, json_t *entry, int f, vh_shards *set)
{
    vhem_status st = VHEM_OK;
    const char *name = json_string_value(json_object_get(entry, "file")),
               *check = json_string_value(json_object_get(entry, "check"));
    int64_t first = -1, n = -1;
    VH_OWN(vh_shard) *shard = NULL;
    VH_AUTOFREE char *path = NULL;
    vh_key key;

    VH_CHECK(name && *name && !strchr(name, '/'), VHEM_EFORMAT,
             "%s/%s: entry %d of files does not name a file of the folder", folder, VH_MANIFEST, f);
    VH_TRY(get_count(ctx, folder, entry, name, "first", &first));
    VH_TRY(get_count(ctx, folder, entry, name, "n", &n));
    VH_CHECK(first == set->K && n > 0, VHEM_EFORMAT,
             "%s/%s: %s begins with HMM %lld and has %lld, must begin with HMM %lld", folder, VH_MANIFEST,
             name, (long long)first, (long long)n, (long long)set->K);
    path = join_path(ctx, folder, name);
    VH_CHECK(path, VHEM_ENOMEM, "out of memory");
    VH_TRY(vh_shard_open(ctx, path, false, &shard));
    VH_CHECK(shard->K == n && shard->first == first, VHEM_EFORMAT,
             "%s: it holds HMMs %lld to %lld, the manifest says %lld to %lld", path, (long long)shard->first,
             (long long)(shard->first + shard->K - 1), (long long)first, (long long)(first + n - 1));
    VH_TRY(vh_shard_key(ctx, shard, &key));
    VH_CHECK(check && strcmp(key.text, check) == 0, VHEM_EFORMAT,
             "%s: its checksum is %s, the manifest says %s: it is not the file that was written there", path,
             key.text, check ? check : "none");
    st = vh_shards_add(ctx, set, shard);
    shard = NULL;
    return st;
}

static vhem_status read_manifest(vhem_ctx *ctx, const char *path, json_t **out)
{
    vhem_status st = VHEM_OK;
    VH_OWN(json_t) *root = NULL;
    VH_AUTOFREE char *text = NULL;
    size_t size;

    VH_TRY(vh_read_all(ctx, path, &text, &size));
    st = vh_json_parse(ctx, text, size, &root);
    const char *format = json_string_value(json_object_get(root, "format"));
    if (st == VHEM_OK && (!format || strcmp(format, "vhem-shards") != 0))
        st = vh_fail(ctx, VHEM_EFORMAT, "format is '%.80s', must be 'vhem-shards'", format ? format : "");
    if (st == VHEM_OK)
        st = vh_json_version(ctx, root, VERSION);
    if (st == VHEM_OK && json_array_size(json_object_get(root, "files")) == 0)
        st = vh_fail(ctx, VHEM_EFORMAT, "files is missing or empty");
    if (st != VHEM_OK)
        vh_error_prefix(ctx, path);
    VH_TRY(st);
    *out = vh_take(root);
    return VHEM_OK;
}

vhem_status vh_shards_open(vhem_ctx *ctx, const char *path, vh_shards **out)
{
    VH_OWN(vh_shards) *set = NULL;
    VH_OWN(json_t) *root = NULL;
    VH_AUTOFREE char *manifest = join_path(ctx, path, VH_MANIFEST);

    VH_CHECK(manifest, VHEM_ENOMEM, "out of memory");
    VH_TRY(read_manifest(ctx, manifest, &root));
    json_t *files = json_object_get(root, "files");
    int64_t K = 0;
    VH_TRY(get_count(ctx, path, root, NULL, "K", &K));
    VH_NEW(set, 1);
    VH_DUP(set->path, path);
    VH_NEW(set->shard, json_array_size(files));
    for (size_t f = 0; f < json_array_size(files); f++)
        VH_TRY(open_entry(ctx, path, json_array_get(files, f), (int)f, set));
    VH_CHECK(set->K == K, VHEM_EFORMAT, "%s: K is %lld, but the files hold %lld HMMs", manifest, (long long)K,
             (long long)set->K);
    VH_TRY(vh_shards_check_weights(ctx, set));
    *out = vh_take(set);
    return VHEM_OK;
}

/* ---- 2. reading ---------------------------------------------------------------------------------------- */

/* Index of the file that holds this HMM. */
static int file_of(const vh_shards *set, int64_t number)
{
    int lo = 0, hi = set->n - 1;
    while (lo < hi) {
        int mid = (lo + hi + 1) / 2;
        if (set->shard[mid]->first <= number)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

/* How many of the HMMs number .. end-1 are in the file. */
static int64_t count_in(const vh_shard *s, int64_t number, int64_t end)
{
    int64_t last = s->first + s->K;
    return (end < last ? end : last) - number;
}

typedef struct { /* a range of HMMs being read */
    const vh_shards *set;
    int64_t first, n; /* in the set; HMM first is stored as HMM 0 of h3m */
    bool texts;
    vh_h3m *h3m;
} shard_range;

static vhem_status read_piece(vhem_ctx *ctx, void *arg, int64_t piece, int worker)
{
    vhem_status st = VHEM_OK;
    const shard_range *r = arg;
    int64_t end = r->first + r->n, to = r->first + (piece + 1) * PIECE;

    (void)worker;
    end = to < end ? to : end;
    for (int64_t i = r->first + piece * PIECE; i < end;) {
        const vh_shard *s = r->set->shard[file_of(r->set, i)];
        int64_t m = count_in(s, i, end);
        st = vh_shard_read(ctx, s, i - s->first, m, r->texts, r->h3m, i - r->first);
        if (st != VHEM_OK)
            vh_error_prefix(ctx, s->path);
        VH_TRY(st);
        i += m;
    }
    return st;
}

vhem_status vh_shards_read(vhem_ctx *ctx, const vh_shards *set, int64_t first, int64_t n, bool texts,
                           vh_h3m **out)
{
    VH_OWN(vh_h3m) *h3m = NULL;
    shard_range r = { set, first, n, texts, NULL };
    const vh_work pieces = {
        .n = (n + PIECE - 1) / PIECE, .finishes = true, .late = true, .run = read_piece, .arg = &r
    };

    VH_TRY(vh_shard_slots(ctx, set->shard[0], n, &h3m));
    r.h3m = h3m;
    vhem_status st = vh_map(ctx, &pieces, NULL);
    VH_CHECK(st != VHEM_ESTOPPED, st, "stopped while HMMs were read");
    VH_TRY(st);
    *out = vh_take(h3m);
    return VHEM_OK;
}

void vh_shards_shape(const vh_shards *set, int64_t number, int *S, int *M)
{
    const vh_shard *s = set->shard[file_of(set, number)];
    const vh_shard_shape *shape = &s->shape[s->of ? s->of[number - s->first] : 0];
    *S = shape->S;
    *M = shape->M;
}

void vh_shards_expect(const vh_shards *set, int64_t first, int64_t n)
{
    int64_t end = first + n < set->K ? first + n : set->K;
    for (int64_t i = first; i < end;) {
        const vh_shard *s = set->shard[file_of(set, i)];
        int64_t m = count_in(s, i, end);
        vh_shard_expect(s, i - s->first, m);
        i += m;
    }
}

/* ---- 3. writing ---------------------------------------------------------------------------------------- */

/* Number of the first HMM of file f of n: whole chunks if there are enough. */
static int64_t first_of(int64_t K, int n, int f)
{
    int64_t unit = K / VH_SHARD_CHUNK >= n ? VH_SHARD_CHUNK : 1, units = (K + unit - 1) / unit;
    int64_t at = (units / n * f + units % n * f / n) * unit;
    return at < K ? at : K;
}

typedef struct { /* the set written so far */
    json_t *files;
    vh_key set, before; /* keys: the first shard; all shards */
} written;

/* Writes HMMs first .. of K, those of file f. */
static vhem_status save_file(vhem_ctx *ctx, const vh_h3m *h3m, int64_t first, int64_t K, const char *folder,
                             int f, written *w)
{
    VH_OWN(vh_shard) *shard = NULL;
    char name[32];
    VH_AUTOFREE char *path = NULL;
    vh_key key;

    snprintf(name, sizeof name, "%05d.h5", f);
    path = join_path(ctx, folder, name);
    VH_CHECK(path, VHEM_ENOMEM, "out of memory");
    VH_TRY(vh_shard_save(
        ctx, h3m, &(vh_shard_place){ first, K, f ? w->set.text : NULL, f ? w->before.text : NULL }, path));
    VH_TRY(vh_shard_open(ctx, path, false, &shard));
    VH_TRY(vh_shard_key(ctx, shard, &key));
    json_t *entry = json_pack("{s:s, s:I, s:I, s:s}", "file", name, "first", (json_int_t)first, "n",
                              (json_int_t)h3m->K, "check", key.text);
    VH_CHECK(entry && json_array_append_new(w->files, entry) == 0, VHEM_ENOMEM,
             "out of memory: could not make the manifest");
    if (f == 0)
        w->set = key;
    return vh_shard_chain(ctx, f ? w->before.text : NULL, key.text, &w->before);
}

static vhem_status save_manifest(vhem_ctx *ctx, const char *folder, int64_t K, json_t *files)
{
    VH_OWN(json_t) *root = json_pack("{s:s, s:i, s:I, s:O}", "format", "vhem-shards", "version", VERSION, "K",
                                     (json_int_t)K, "files", files);
    VH_AUTOFREE char *path = join_path(ctx, folder, VH_MANIFEST);
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file out = { 0 };

    VH_CHECK(root && path, VHEM_ENOMEM, "out of memory");
    VH_TRY(vh_atomic_file_open(ctx, path, &out));
    VH_CHECK(json_dumpf(root, out.f, JSON_INDENT(1)) == 0 || ferror(out.f), VHEM_ENOMEM,
             "out of memory: could not write the manifest");
    return vh_atomic_file_end(ctx, VHEM_OK, &out);
}

/* True for "00012.h5", the manifest, or the temporary name of either (core/atomic_file.c). */
static bool is_ours(const char *name)
{
    size_t digits = strspn(name, "0123456789"), n = strlen(VH_MANIFEST);
    const char *end = digits >= 5 && strncmp(name + digits, ".h5", 3) == 0 ? name + digits + 3
                      : strncmp(name, VH_MANIFEST, n) == 0                 ? name + n
                                                                           : NULL;
    return end && (*end == 0 || strncmp(end, ".vhem-tmp-", 10) == 0);
}

vhem_status vh_shards_save(vhem_ctx *ctx, int64_t K, vh_read_hmms *read, const void *arg, int n,
                           const char *path)
{
    VH_OWN(json_t) *files = json_array();
    VH_CLEANUP(vh_atomic_dir_end) vh_atomic_dir folder = { 0 };
    written w = { .files = files };

    VH_CHECK(w.files, VHEM_ENOMEM, "out of memory");
    VH_CHECK(n >= 1 && n <= K, VHEM_EINVAL, "%d shards are asked for, must be 1 to %lld, one HMM each", n,
             (long long)K);
    VH_CHECK(!vh_path_exists(path), VHEM_EIO, "%s: cannot write: it already exists", path);
    VH_TRY(vh_atomic_dir_begin(ctx, path, is_ours, &folder));
    for (int f = 0; f < n; f++) {
        VH_OWN(vh_h3m) *h3m = NULL;
        int64_t first = first_of(K, n, f), end = first_of(K, n, f + 1);
        VH_TRY(read(ctx, arg, first, end - first, &h3m));
        VH_TRY(save_file(ctx, h3m, first, K, folder.tmp, f, &w));
        vh_progress(ctx, "write", f + 1, n);
    }
    VH_TRY(save_manifest(ctx, folder.tmp, K, w.files));
    return vh_atomic_dir_commit(ctx, &folder);
}

vhem_status vh_shards_fingerprint(vhem_ctx *ctx, const vh_shards *set, int64_t *out)
{
    uint64_t h = 0;
    for (int k = 0; set && k < set->n; k++) {
        vh_key key;
        VH_TRY(vh_shard_key(ctx, set->shard[k], &key));
        h = vh_hash_chain(h, key.text, sizeof key.text);
    }
    *out = (int64_t)(set ? h | 1 : 0);
    return VHEM_OK;
}
