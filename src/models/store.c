/* SPDX-License-Identifier: BSD-3-Clause */
/* store.c - see store.h.  JSON lines: a head, then one {"key": "...", "sum": "...", "model": {a model file}}
 * per line; sum is a checksum of key and model text.
 *
 * A song with ten tags is requested ten times, so models also stay in memory, first come, first served, until
 * their lines reach CACHE bytes. */
#include "models/store.h"

#include "os/stream.h"
#include "core/alloc.h"
#include "os/fd.h"
#include "core/atomic_file.h"
#include "core/text.h"
#include "core/names.h"
#include "files/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char head[] = "{\"format\": \"vhem-store\", \"version\": 1}\n";
static const char lead[] = "{\"key\": \"", sum_lead[] = "\", \"sum\": \"", model_lead[] = "\", \"model\": ";
#define CACHE ((size_t)512 << 20)
enum { KEY = sizeof((vh_key *)0)->text - 1, HEAD = sizeof head - 1, LEAD = sizeof lead - 1 };
enum {
    SUM = LEAD + KEY + sizeof sum_lead - 1,
    MODEL = SUM + KEY + sizeof model_lead - 1
}; /* offsets of the values */

typedef struct {         /* of a model */
    int64_t at;          /* offset in the file */
    size_t size;         /* 0: its line is damaged */
    vhem_models *models; /* in memory, or NULL */
    bool good;           /* its line was verified or written in this run */
} stored_at;

struct vh_store {
    char *path;
    int fd; /* -1: in memory only */
    int64_t end;
    size_t cached; /* total length of lines whose models are also in memory */
    vh_names keys;
    stored_at *place; /* [keys.n] */
    size_t cap;
};

/* ---- opening ------------------------------------------------------------------------------------------- */

static vhem_status remember(vhem_ctx *ctx, vh_store *s, const char *key, stored_at where)
{
    int64_t index;
    bool is_new;

    VH_TRY(vh_names_put(ctx, &s->keys, key, KEY, &index, &is_new));
    VH_TRY(vh_grow(ctx, &s->place, &s->cap, (size_t)s->keys.n, sizeof *s->place));
    if (!is_new && s->place[index].models) { /* the same model again: keep the first, which may be in use */
        vh_object_free(where.models);
        where.models = s->place[index].models;
    }
    s->place[index] = where; /* the later record wins: the first was damaged */
    return VHEM_OK;
}

static bool is_record(const char *line, ssize_t n)
{
    return n > LEAD + KEY + 1 && memcmp(line, lead, LEAD) == 0
           && strspn(line + LEAD, "0123456789abcdef") == KEY && line[LEAD + KEY] == '"';
}

/* Checksum of a key and a model, n bytes of text. */
static vhem_status sum_of(vhem_ctx *ctx, const char *key, const char *text, size_t n, vh_key *out)
{
    VH_OWN(vh_hash) *hash = NULL;

    VH_TRY(vh_hash_new(ctx, &hash));
    vh_hash_bytes(hash, key, KEY);
    vh_hash_bytes(hash, text, n);
    vh_hash_key(hash, out);
    return VHEM_OK;
}

/* Verifies the checksum of a line, n bytes including its end; an edited model no longer matches its key. */
static vhem_status check_sum(vhem_ctx *ctx, const char *line, size_t n)
{
    vh_key sum;

    VH_CHECK(n > MODEL + 2 && memcmp(line + LEAD + KEY, sum_lead, sizeof sum_lead - 1) == 0
                 && memcmp(line + SUM + KEY, model_lead, sizeof model_lead - 1) == 0,
             VHEM_EFORMAT, "it has no checksum");
    VH_TRY(sum_of(ctx, line + LEAD, line + MODEL, n - MODEL - 2, &sum));
    VH_CHECK(memcmp(line + SUM, sum.text, KEY) == 0, VHEM_EFORMAT, "its checksum does not agree");
    return VHEM_OK;
}

/* Indexes all records.  An unterminated last line was left by a killed run and is cut off. */
static vhem_status scan(vhem_ctx *ctx, vh_store *s, FILE *f)
{
    VH_AUTOFREE char *line = NULL;
    size_t cap = 0;
    int64_t n = vh_file_line(f, &line, &cap);

    bool begun = n > 0 && n < HEAD && memcmp(line, head, (size_t)n) == 0; /* killed while creating the file */
    VH_CHECK(n <= 0 || begun || strcmp(line, head) == 0, VHEM_EFORMAT,
             "%s: not a store of models, or of a newer version: it does not begin with %.*s", s->path,
             HEAD - 1, head);
    for (s->end = n == HEAD ? HEAD : 0; s->end > 0 && (n = vh_file_line(f, &line, &cap)) > 0; s->end += n) {
        if (line[n - 1] != '\n')
            break;
        if (is_record(line, n))
            VH_TRY(remember(ctx, s, line + LEAD, (stored_at){ s->end, (size_t)n, NULL, false }));
        else
            vh_log(ctx, VHEM_LOG_WARN, "%s: a damaged line at byte %lld is skipped", s->path,
                   (long long)s->end);
    }
    VH_CHECK(feof(f), VHEM_EIO, "%s: cannot read: %s", s->path, strerror(errno)); /* also if out of memory */
    VH_CHECK(vh_fd_cut(s->fd, s->end), VHEM_EIO, "%s: cannot write: %s", s->path, strerror(errno));
    return VHEM_OK;
}

static vhem_status write_all(vhem_ctx *ctx, vh_store *s, const char *text, size_t size)
{
    VH_CHECK(vh_fd_write(s->fd, text, size, s->end), VHEM_EIO, "%s: writing failed: %s", s->path,
             strerror(errno));
    s->end += (int64_t)size;
    return VHEM_OK;
}

static vhem_status open_file(vhem_ctx *ctx, vh_store *s, const char *path)
{
    VH_OWN(FILE) *f = NULL;

    s->fd = vh_fd_open(path, VH_FD_UPDATE);
    VH_CHECK(s->fd >= 0, VHEM_EIO, "%s: cannot open the store: %s", path, strerror(errno));
    vh_lock lock = vh_fd_lock(s->fd);
    VH_CHECK(lock == VH_LOCKED, VHEM_EIO, "%s: cannot use the store: %s", path,
             lock == VH_LOCK_TAKEN ? "another run is using it" : strerror(errno));
    f = vh_file_open(path, "r");
    VH_CHECK(f, VHEM_EIO, "%s: cannot read: %s", path, strerror(errno));
    return scan(ctx, s, f);
}

vhem_status vh_store_open(vhem_ctx *ctx, const char *path, vh_store **out)
{
    VH_OWN(vh_store) *s = NULL;

    VH_NEW(s, 1);
    s->fd = -1;
    VH_DUP(s->path, path ? path : "");
    if (path)
        VH_TRY(open_file(ctx, s, path));
    if (path && s->end == 0)
        VH_TRY(write_all(ctx, s, head, HEAD));
    *out = vh_take(s);
    return VHEM_OK;
}

vhem_status vh_store_close(vhem_ctx *ctx, vh_store *s)
{
    VH_OWN(vh_store) *own = s;
    VH_CHECK(s->fd < 0 || vh_fd_sync(s->fd), VHEM_EIO, "%s: writing failed: %s", s->path, strerror(errno));
    return VHEM_OK;
}

void vh_stored_free(vhem_models ***each)
{
    for (vhem_models **m = *each; m && *m; m++)
        vh_object_free(*m);
    free(*each);
}

const char *vh_store_path(const vh_store *s)
{
    return s->path;
}

void vh_store_free(vh_store *s)
{
    if (!s)
        return;
    vh_fd_close(&s->fd);
    for (int k = 0; s->place && k < s->keys.n; k++)
        vh_object_free(s->place[k].models);
    vh_names_free(&s->keys);
    free(s->place);
    free(s->path);
    free(s);
}

/* ---- models -------------------------------------------------------------------------------------------- */

static stored_at find_place(vh_store *s, const vh_key *key)
{
    stored_at found = { 0 };
#pragma omp critical(vh_store)
    {
        int64_t index = vh_names_find(&s->keys, key->text, KEY);
        if (index >= 0)
            found = s->place[index];
    }
    return found;
}

static vhem_status read_line(vhem_ctx *ctx, const vh_store *s, stored_at where, char **out)
{
    VH_AUTOFREE char *line = NULL;

    VH_NEW(line, where.size + 1);
    int64_t got = vh_fd_read(s->fd, line, where.size, where.at);
    VH_CHECK(got == (int64_t)where.size, VHEM_EIO, "%s: cannot read: %s", s->path,
             got >= 0 ? "the file has become shorter" : strerror(errno));
    *out = vh_take(line);
    return VHEM_OK;
}

/* Discards a damaged record; its model is fitted again. */
static void forget(vhem_ctx *ctx, vh_store *s, const vh_key *key)
{
    vh_log(ctx, VHEM_LOG_WARN, "%s: the record %s is damaged and will be fitted again: %s", s->path,
           key->text, ctx->error);
#pragma omp critical(vh_store)
    s->place[vh_names_find(&s->keys, key->text, KEY)].size = 0;
}

/* Copies everything that the file stores. */
static vhem_status copy_whole(vhem_ctx *ctx, const vhem_models *models, vhem_models **out)
{
    VH_OWN(vhem_models) *copy = NULL;

    VH_TRY(vh_models_subset(ctx, models, NULL, vh_models_size(models), &copy));
    if (models->h3m) {
        VH_TRY(vh_h3m_set_text(ctx, &copy->h3m->prior, models->h3m->prior));
        copy->h3m->lengths = models->h3m->lengths;
    }
    *out = vh_take(copy);
    return VHEM_OK;
}

/* Caches a copy for later requests; if out of memory, they read the line again. */
static void cache(vhem_ctx *ctx, vh_store *s, const vh_key *key, const vhem_models *models)
{
    vhem_models *copy = NULL;

    if (find_place(s, key).models || copy_whole(ctx, models, &copy) != VHEM_OK)
        return;
#pragma omp critical(vh_store)
    {
        stored_at *to = &s->place[vh_names_find(&s->keys, key->text, KEY)];
        if (!to->models && to->size <= CACHE - s->cached) {
            s->cached += to->size;
            to->models = vh_take(copy);
        }
    }
    vh_object_free(copy);
}

vhem_status vh_store_get(vhem_ctx *ctx, vh_store *s, const vh_key *key, vhem_models **out)
{
    vhem_status st = VHEM_OK;
    stored_at where = find_place(s, key);
    VH_AUTOFREE char *line = NULL;
    VH_OWN(json_t) *root = NULL;

    if (where.models)
        return copy_whole(ctx, where.models, out);
    if (where.size == 0)
        return VHEM_OK;
    VH_TRY(read_line(ctx, s, where, &line));
    st = check_sum(ctx, line, where.size);
    if (st == VHEM_OK)
        st = vh_json_parse(ctx, line, where.size - 1, &root);
    json_t *model = json_object_get(root, "model");
    if (st == VHEM_OK)
        st = model ? vh_models_from_json(ctx, model, NULL, out)
                   : vh_fail(ctx, VHEM_EFORMAT, "it has no model");
    if (st == VHEM_EFORMAT || st == VHEM_EINVAL) {
        forget(ctx, s, key);
        st = VHEM_OK;
    } else if (st == VHEM_OK) {
        cache(ctx, s, key, *out);
    }
    return st;
}

vhem_status vh_store_has(vhem_ctx *ctx, vh_store *s, const vh_key *key, bool *has)
{
    VH_OWN(vhem_models) *models = NULL;

    *has = find_place(s, key).good;
    if (*has)
        return VHEM_OK;
    VH_TRY(vh_store_get(ctx, s, key, &models)); /* detects damaged lines before fitting */
    *has = models != NULL;
#pragma omp critical(vh_store)
    if (*has)
        s->place[vh_names_find(&s->keys, key->text, KEY)].good = true;
    return VHEM_OK;
}

/* Prints a record on one line: in JSON text, line ends are only white space. */
static vhem_status print_record(vhem_ctx *ctx, const vh_key *key, const vhem_models *models, char **text,
                                size_t *size)
{
    vhem_status st = VHEM_OK;
    FILE *f = vh_memory_open(text, size);

    vh_key sum;
    VH_CHECK(f, VHEM_ENOMEM, "out of memory: no room for a record of the store");
    fprintf(f, "%s%s%s%s%s", lead, key->text, sum_lead, key->text, model_lead); /* placeholder for the sum */
    st = vh_models_print_json(ctx, models, f);
    fputs("}", f);
    vhem_status closed = vh_text_close(ctx, f, text, size);
    st = st == VHEM_OK ? closed : st;
    for (size_t k = 0; st == VHEM_OK && k < *size; k++)
        if ((*text)[k] == '\n')
            (*text)[k] = ' ';
    if (st == VHEM_OK)
        st = sum_of(ctx, key->text, *text + MODEL, *size - MODEL - 1, &sum);
    if (st == VHEM_OK)
        memcpy(*text + SUM, sum.text, KEY);
    return st;
}

/* Stores a copy in memory unless the key exists. */
static vhem_status keep(vhem_ctx *ctx, vh_store *s, const vh_key *key, const vhem_models *models)
{
    vhem_status st = VHEM_OK;
    VH_OWN(vhem_models) *copy = NULL;

    if (find_place(s, key).size > 0)
        return VHEM_OK;
    VH_TRY(copy_whole(ctx, models, &copy));
#pragma omp critical(vh_store)
    st = remember(ctx, s, key->text, (stored_at){ 0, 1, copy, true });
    VH_TRY(st);
    copy = NULL;
    return VHEM_OK;
}

vhem_status vh_store_put(vhem_ctx *ctx, vh_store *s, const vh_key *key, const vhem_models *models)
{
    vhem_status st = VHEM_OK;
    VH_AUTOFREE char *text = NULL;
    size_t size = 0;

    if (s->fd < 0)
        return keep(ctx, s, key, models);
    VH_TRY(print_record(ctx, key, models, &text, &size));
    text[size] = '\n'; /* replaces the NUL */
#pragma omp critical(vh_store)
    {
        stored_at where = { s->end, size + 1, NULL, true };
        st = write_all(ctx, s, text, size + 1);
        if (st == VHEM_OK)
            st = remember(ctx, s, key->text, where);
    }
    VH_TRY(st);
    cache(ctx, s, key, models);
    return VHEM_OK;
}
