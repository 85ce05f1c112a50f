/* SPDX-License-Identifier: BSD-3-Clause */
/* shard_save.c - writes a model file as arrays, the format of shard.h.
 *
 *   1. shapes        3. names, labels, unknown keys
 *   2. numbers       4. the file
 *
 * Checksums: the one for the numbers of a chunk covers its rows of omega, of `of` if present, and of each
 * array of each shape, in file order; the one for its texts covers offsets and bytes of names, then label
 * codes. */
#include "core/alloc.h"
#include "files/json.h"
#include "files/shard.h"

#include <string.h>

typedef struct {
    vhem_ctx *ctx;
    const vh_h3m *h3m;
    const vh_shard_place *place;
    int64_t n_chunk;
    int n_shape, *of; /* [K] */
    struct {
        int S, M, n;
    } * shape;
    uint64_t *check; /* [2][n_chunk] */
} writing;

static void free_writing(writing *w)
{
    free(w->check);
    free(w->of);
    free(w->shape);
}

/* ---- 1. shapes ----------------------------------------------------------------------------------------- */

/* Lists shapes in order of first appearance; there are few, so a search from the last one found is short. */
static vhem_status find_shapes(vhem_ctx *ctx, writing *w)
{
    size_t cap = 0;
    int g = 0;

    VH_NEW(w->of, w->h3m->K);
    for (int64_t i = 0; i < w->h3m->K; i++) {
        const vh_hmm *h = &w->h3m->hmm[i];
        if (g >= w->n_shape || w->shape[g].S != h->S || w->shape[g].M != h->M)
            for (g = 0; g < w->n_shape && (w->shape[g].S != h->S || w->shape[g].M != h->M);)
                g++;
        if (g == w->n_shape) {
            VH_TRY(vh_grow(ctx, &w->shape, &cap, (size_t)g + 1, sizeof *w->shape));
            w->shape[g].S = h->S;
            w->shape[g].M = h->M;
            w->shape[g].n = 0;
            w->n_shape++;
        }
        w->of[i] = g;
        w->shape[g].n++;
    }
    return VHEM_OK;
}

/* ---- 2. numbers ---------------------------------------------------------------------------------------- */

/* Adds rows of `size` bytes of the HMMs of shape g (-1: all) to the checksums of their chunks. */
static void check_rows(writing *w, int kind, int g, size_t size, const void *rows)
{
    const char *at = rows;
    int64_t K = w->h3m->K;
    for (int64_t c = 0; c < w->n_chunk; c++) {
        int n = 0;
        int64_t end = (c + 1) * VH_SHARD_CHUNK < K ? (c + 1) * VH_SHARD_CHUNK : K;
        for (int64_t i = c * VH_SHARD_CHUNK; i < end; i++)
            n += g < 0 || w->of[i] == g;
        uint64_t *check = &w->check[kind * w->n_chunk + c];
        *check = vh_hash_chain(*check, at, (size_t)n * size);
        at += (size_t)n * size;
    }
}

/* Array a of an HMM: 0 pi, 1 A, 2 c, then the parameters of the family. */
static const double *array_of(const vh_h3m *h3m, const vh_hmm *h, int a)
{
    return a == 0 ? h->pi : a == 1 ? h->A : a == 2 ? vh_hmm_c(h) : vh_hmm_param(h3m, h, a - 3);
}

static bool put_array(writing *w, const vh_h5_writer *to, hid_t group, int g, int a)
{
    vhem_ctx *ctx = w->ctx;
    const vh_h3m *h3m = w->h3m;
    hsize_t S = (hsize_t)w->shape[g].S, M = (hsize_t)w->shape[g].M, size = 1;
    const vh_param *param = a < 3 ? NULL : &h3m->family->param[a - 3];
    const char *name = a == 0 ? "pi" : a == 1 ? "A" : a == 2 ? "c" : param->name;
    hsize_t n[5] = { (hsize_t)w->shape[g].n, S, a == 1 ? S : M };
    int rank = a == 0 ? 2 : a < 3 ? 3 : 3 + param->rank;
    double *x = NULL, *at;

    for (int k = 0; param && k < param->rank; k++)
        n[3 + k] = (hsize_t)vh_param_extent(param, k, &h3m->shape);
    for (int k = 1; k < rank; k++)
        size *= n[k];
    x = at = vh_alloc(ctx, n[0], size * sizeof *x);
    if (!x)
        return false;
    for (int64_t i = 0; i < h3m->K; i++)
        if (w->of[i] == g) {
            memcpy(at, array_of(h3m, &h3m->hmm[i], a), size * sizeof *x);
            at += size;
        }
    check_rows(w, 0, g, size * sizeof *x, x);
    bool ok = vh_h5_put_array(to, group, name, H5T_IEEE_F64LE, rank, n, x);
    free(x);
    return ok;
}

static bool put_shapes(writing *w, const vh_h5_writer *to)
{
    hsize_t K = (hsize_t)w->h3m->K, n[] = { (hsize_t)w->n_shape, 2 };
    int *table = vh_alloc(w->ctx, 2 * n[0], sizeof *table);
    bool ok = table != NULL;

    for (int g = 0; ok && g < w->n_shape; g++) {
        table[2 * g] = w->shape[g].S;
        table[2 * g + 1] = w->shape[g].M;
    }
    ok = ok && vh_h5_put_array(to, to->file, "shape", H5T_STD_I32LE, 2, n, table);
    if (ok && w->n_shape > 1) {
        check_rows(w, 0, -1, sizeof *w->of, w->of);
        ok = vh_h5_put_array(to, to->file, "of", H5T_STD_I32LE, 1, &K, w->of);
    }
    for (int g = 0; ok && g < w->n_shape; g++) {
        char name[32];
        snprintf(name, sizeof name, "S%dM%d", w->shape[g].S, w->shape[g].M);
        hid_t group = vh_h5_put_group(to, to->file, name);
        for (int a = 0; ok && a < 3 + w->h3m->family->n_param; a++)
            ok = group >= 0 && put_array(w, to, group, g, a);
        vh_h5_drop(group);
    }
    free(table);
    return ok;
}

/* ---- 3. texts ------------------------------------------------------------------------------------------ */

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* Adds the names of each chunk to its checksum: offsets, one more than names, then bytes. */
static void check_names(writing *w, const uint64_t *offset, const char *bytes)
{
    int64_t K = w->h3m->K;
    for (int64_t c = 0; c < w->n_chunk; c++) {
        int64_t a = c * VH_SHARD_CHUNK, b = a + VH_SHARD_CHUNK < K ? a + VH_SHARD_CHUNK : K;
        uint64_t *check = &w->check[w->n_chunk + c];
        *check = vh_hash_chain(*check, offset + a, (size_t)(b - a + 1) * sizeof *offset);
        *check = vh_hash_chain(*check, bytes + offset[a], offset[b] - offset[a]);
    }
}

static bool put_names(writing *w, const vh_h5_writer *to)
{
    int64_t K = w->h3m->K;
    hsize_t n = (hsize_t)K + 1, size = 0;
    uint64_t *offset = vh_alloc(w->ctx, n, sizeof *offset);
    bool ok = offset != NULL;
    char *bytes = NULL;

    for (int64_t i = 0; ok && i < K; i++) {
        size += strlen(text_of(w->h3m->hmm[i].name));
        offset[i + 1] = size;
    }
    if (ok && size > 0) {
        bytes = vh_alloc(w->ctx, size, 1);
        ok = bytes != NULL;
        for (int64_t i = 0; ok && i < K; i++)
            memcpy(bytes + offset[i], text_of(w->h3m->hmm[i].name), offset[i + 1] - offset[i]);
        hid_t group = ok ? vh_h5_put_group(to, to->file, "name") : -1;
        if (ok)
            check_names(w, offset, bytes);
        ok = group >= 0 && vh_h5_put_array(to, group, "offset", H5T_STD_U64LE, 1, &n, offset)
             && vh_h5_put_array(to, group, "bytes", H5T_STD_U8LE, 1, &size, bytes);
        vh_h5_drop(group);
    }
    free(offset);
    free(bytes);
    return ok;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Collects the distinct labels, sorted, in word [K]; returns their number; longest: bytes. */
static int64_t dictionary(const writing *w, const char **word, size_t *longest)
{
    int64_t n = 0, used = 0;
    for (int64_t i = 0; i < w->h3m->K; i++)
        if (*text_of(w->h3m->hmm[i].label))
            word[n++] = w->h3m->hmm[i].label;
    qsort(word, (size_t)n, sizeof *word, by_text);
    for (int64_t k = 0; k < n; k++)
        if (used == 0 || strcmp(word[used - 1], word[k]) != 0) {
            word[used++] = word[k];
            *longest = strlen(word[k]) > *longest ? strlen(word[k]) : *longest;
        }
    return used;
}

static bool put_labels(writing *w, const vh_h5_writer *to)
{
    hsize_t K = (hsize_t)w->h3m->K, n_word;
    size_t longest = 0;
    const char **word = vh_alloc(w->ctx, K, sizeof *word);
    int *code = vh_alloc(w->ctx, K, sizeof *code);
    char *bytes = NULL;
    bool ok = word && code;

    n_word = ok ? (hsize_t)dictionary(w, word, &longest) : 0;
    if (n_word > 0) {
        bytes = vh_alloc(w->ctx, n_word, longest);
        ok = bytes != NULL;
        for (size_t k = 0; ok && k < n_word; k++)
            memcpy(bytes + k * longest, word[k], strlen(word[k]));
        for (hsize_t i = 0; ok && i < K; i++) {
            const char *label = text_of(w->h3m->hmm[i].label);
            const char **at = *label ? bsearch(&label, word, n_word, sizeof *word, by_text) : NULL;
            code[i] = at ? (int)(at - word) : -1;
        }
        if (ok)
            check_rows(w, 1, -1, sizeof *code, code);
        hid_t group = vh_h5_put_group(to, to->file, "label"), type = vh_h5_text_type(longest);
        ok = ok && vh_h5_put_array(to, group, "dictionary", type, 1, &n_word, bytes)
             && vh_h5_put_array(to, group, "code", H5T_STD_I32LE, 1, &K, code);
        vh_h5_drop(type);
        vh_h5_drop(group);
    }
    free(word);
    free(code);
    free(bytes);
    return ok;
}

/* Writes the unknown keys of HMMs as one object, with members named by the index of the HMM. */
static bool put_extras(const writing *w, const vh_h5_writer *to)
{
    json_t *all = json_object();
    char *text = NULL, key[24];
    bool ok = all != NULL;

    for (int64_t i = 0; ok && i < w->h3m->K; i++)
        if (w->h3m->hmm[i].extra) {
            json_t *one = NULL;
            snprintf(key, sizeof key, "%lld", (long long)i);
            ok = vh_json_object(w->ctx, "extra", w->h3m->hmm[i].extra, &one) == VHEM_OK
                 && json_object_set_new(all, key, one) == 0;
        }
    if (ok && json_object_size(all) > 0)
        ok = vh_json_keep(w->ctx, all, &text) == VHEM_OK && vh_h5_put_long_text(to, to->file, "extras", text);
    json_decref(all);
    free(text);
    return ok;
}

/* ---- 4. the file --------------------------------------------------------------------------------------- */

static bool put_file(const vh_h5_writer *to, const void *what)
{
    writing *w = (writing *)what;
    const vh_h3m *h3m = w->h3m;
    hsize_t K = (hsize_t)h3m->K, n[] = { 2, (hsize_t)w->n_chunk };
    double sum = 0;

    for (int64_t i = 0; i < h3m->K; i++)
        sum += h3m->omega[i];
    check_rows(w, 0, -1, sizeof *h3m->omega, h3m->omega);
    return vh_model_put_head(to, h3m, VH_SHARD_VERSION) && vh_h5_put_int64(to, to->file, "K", h3m->K)
           && vh_h5_put_int64(to, to->file, "first", w->place->first)
           && vh_h5_put_int64(to, to->file, "all", w->place->all)
           && vh_h5_put_text(to, to->file, "set", w->place->set)
           && vh_h5_put_text(to, to->file, "before", w->place->before)
           && vh_h5_put_real(to, to->file, "omega_sum", sum)
           && vh_h5_put_array(to, to->file, "omega", H5T_IEEE_F64LE, 1, &K, h3m->omega) && put_shapes(w, to)
           && put_names(w, to) && put_labels(w, to) && put_extras(w, to)
           && vh_h5_put_array(to, to->file, "check", H5T_STD_U64LE, 2, n, w->check);
}

vhem_status vh_shard_save(vhem_ctx *ctx, const vh_h3m *h3m, const vh_shard_place *place, const char *path)
{
    VH_CLEANUP(free_writing) writing w = { .ctx = ctx, .h3m = h3m, .place = place };

    w.n_chunk = ((int64_t)h3m->K + VH_SHARD_CHUNK - 1) / VH_SHARD_CHUNK;
    VH_NEW(w.check, 2 * w.n_chunk);
    VH_TRY(find_shapes(ctx, &w));
    VH_TRY(vh_error_in(ctx, vh_h3m_require_finite(ctx, h3m), path));
    return vh_h5_save(ctx, path, put_file, &w);
}
