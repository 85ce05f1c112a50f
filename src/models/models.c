/* SPDX-License-Identifier: BSD-3-Clause */
/* models.c - see models.h.
 *
 *   1. creating and copying      3. files
 *   2. access */
#include "models/models.h"

#include "core/alloc.h"
#include "core/object.h"
#include "parallel/map.h"
#include "files/hmm_file.h"
#include "emission/layout.h"
#include "hmm/convert.h"
#include "files/json.h"
#include "hmm/missing_columns.h"
#include "files/posterior_json.h"
#include "prior/posterior_set.h"
#include "vhem.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- 1. creating and copying --------------------------------------------------------------------------- */

const char *vh_models_word(const vhem_models *m)
{
    return m->kind == VHEM_HMMS ? "HMM" : "texture";
}

static void free_blocks(vhem_models *m)
{
    for (int64_t b = 0; m->block && b * VH_SHARD_CHUNK < m->shards->K; b++)
        vh_h3m_free(m->block[b]);
    free(m->block);
    m->block = NULL;
}

static void clear_models(void *object)
{
    vhem_models *m = object;
    free_blocks(m);
    vh_h3m_free(m->sample);
    vh_shards_free(m->shards);
    vh_h3m_free(m->h3m);
    vh_dtm_free(m->dtm);
}

static vhem_status take_record(vhem_ctx *ctx, vhem_models from, vhem_models **out)
{
    VH_CLEANUP(clear_models) vhem_models own = from;
    vhem_models *m = NULL;

    VH_NEW_OBJECT(m, clear_models);
    *m = own;
    own = (vhem_models){ 0 };
    *out = m;
    return VHEM_OK;
}

vhem_status vh_models_take_hmms(vhem_ctx *ctx, vh_h3m *h3m, vhem_models **out)
{
    return take_record(ctx, vh_models_of_hmms(h3m), out);
}

vhem_status vh_models_take_textures(vhem_ctx *ctx, vh_dtm *dtm, vhem_models **out)
{
    return take_record(ctx, vh_models_of_textures(dtm), out);
}

vhem_status vh_models_take_shards(vhem_ctx *ctx, vh_shards *shards, vhem_models **out)
{
    VH_OWN(vhem_models) *m = NULL;

    VH_TRY(take_record(ctx, (vhem_models){ .kind = VHEM_HMMS, .shards = shards }, &m));
    if (shards->bytes <= VH_MODELS_EAGER)
        VH_TRY(vh_models_gather(ctx, m));
    *out = vh_take(m);
    return VHEM_OK;
}

static vhem_status check_count(vhem_ctx *ctx, int64_t K, const void *views, const char *what)
{
    VH_CHECK(K >= 0, VHEM_EINVAL, "there are %lld %s, must be 0 or more", (long long)K, what);
    VH_CHECK(views || K == 0, VHEM_EINVAL, "the %s are NULL", what);
    return VHEM_OK;
}

vhem_status vhem_models_new_hmms(vhem_ctx *ctx, const char *emission, int d, int64_t K,
                                 const vhem_hmm_view *hmm, vhem_models **out)
{
    VH_ENTER(emission, out);
    vh_h3m *h3m = NULL;

    VH_TRY(check_count(ctx, K, hmm, "HMMs"));
    VH_TRY(vh_h3m_from_views(ctx, emission, d, K, hmm, &h3m));
    return vh_models_take_hmms(ctx, h3m, out);
}

vhem_status vhem_models_new_textures(vhem_ctx *ctx, int d, int64_t K, const vhem_dt_view *dt,
                                     vhem_models **out)
{
    VH_ENTER(out);
    vh_dtm *dtm = NULL;

    VH_TRY(check_count(ctx, K, dt, "textures"));
    VH_TRY(vh_dtm_from_views(ctx, d, K, dt, &dtm));
    return vh_models_take_textures(ctx, dtm, out);
}

vhem_status vh_models_subset(vhem_ctx *ctx, const vhem_models *m, const int64_t *index, int64_t n,
                             vhem_models **out)
{
    vh_h3m *h3m = NULL;
    vh_dtm *dtm = NULL;

    if (m->h3m) {
        VH_TRY(vh_h3m_subset(ctx, m->h3m, index, n, &h3m));
        VH_TRY(vh_models_take_hmms(ctx, h3m, out));
    } else {
        VH_TRY(vh_dtm_subset(ctx, m->dtm, index, n, &dtm));
        if (!index && n == m->dtm->K) /* an exact copy: keep the weights to the last bit */
            memcpy(dtm->omega, m->dtm->omega, sizeof *dtm->omega * (size_t)n);
        VH_TRY(vh_models_take_textures(ctx, dtm, out));
    }
    return VHEM_OK;
}

vhem_status vh_models_with_weight(vhem_ctx *ctx, const vhem_models *m, vhem_models **out)
{
    const double *omega = vh_models_omega(m);
    VH_AUTOFREE int64_t *used = NULL;
    int64_t n = 0;

    VH_NEW(used, vh_models_size(m));
    for (int64_t j = 0; j < vh_models_size(m); j++)
        if (omega[j] > 0)
            used[n++] = j;
    VH_CHECK(n > 0, VHEM_ENUMERIC, "no %s has any weight", vh_models_word(m));
    return vh_models_subset(ctx, m, used, n, out);
}

static vhem_status pool_textures(vhem_ctx *ctx, const vhem_models *const *part, const double *share,
                                 int64_t n, vhem_models **out)
{
    vhem_status st = VHEM_OK;
    VH_OWN(vh_dtm) *all = NULL;
    int64_t K = 0;

    for (int64_t p = 0; p < n; p++) {
        const vh_dtm *dtm = part[p]->dtm;
        VH_CHECK(dtm->d == part[0]->dtm->d, VHEM_EINVAL,
                 "textures of dimension %d and of dimension %d cannot be pooled", part[0]->dtm->d, dtm->d);
        K += dtm->K;
    }
    VH_TRY(vh_dtm_new(ctx, part[0]->dtm->d, K, &all));
    K = 0;
    for (int64_t p = 0; p < n; p++)
        for (int64_t j = 0; j < part[p]->dtm->K; j++, K++) {
            const vh_dt *from = &part[p]->dtm->dt[j];
            VH_TRY(vh_dt_shape(ctx, all->d, from->n, &all->dt[K]));
            vh_dt_copy(&all->dt[K], from);
            all->omega[K] = part[p]->dtm->omega[j] * (share ? share[p] : 1);
        }
    st = vh_models_take_textures(ctx, all, out);
    all = NULL;
    return st;
}

vhem_status vh_models_pool(vhem_ctx *ctx, const vhem_models *const *part, const double *share, int64_t n,
                           vhem_models **out)
{
    VH_AUTOFREE const vh_h3m **hmms = NULL;
    vh_h3m *all = NULL;

    for (int64_t p = 0; p < n; p++)
        VH_CHECK(part[p]->kind == part[0]->kind, VHEM_EINVAL, "HMMs and dynamic textures cannot be pooled");
    if (part[0]->kind == VHEM_TEXTURES) {
        VH_TRY(pool_textures(ctx, part, share, n, out));
        return VHEM_OK;
    }
    VH_NEW(hmms, n);
    for (int64_t p = 0; p < n; p++)
        hmms[p] = part[p]->h3m;
    VH_TRY(vh_h3m_pool(ctx, hmms, share, n, &all));
    return vh_models_take_hmms(ctx, all, out);
}

vhem_status vh_models_gather(vhem_ctx *ctx, const vhem_models *m)
{
    vhem_status st = VHEM_OK;
    if (!m || m->dtm || vh_models_hmms(m))
        return VHEM_OK;
#pragma omp critical(vh_models_gather)
    if (!vh_models_hmms(m)) {
        vh_h3m *h3m = NULL;
        st = vh_shards_read(ctx, m->shards, 0, m->shards->K, true, &h3m);
        if (st == VHEM_OK) {
            vh_h3m_settle_family(h3m);
            __atomic_store_n(&((vhem_models *)m)->h3m, h3m, __ATOMIC_RELEASE);
        }
    }
    return st;
}

vhem_status vh_models_sample(vhem_ctx *ctx, const vhem_models *m, int64_t n, const vh_h3m **out)
{
    vhem_status st = VHEM_OK;
#pragma omp critical(vh_models_gather)
    {
        if (!m->sample)
            st = vh_shards_read(ctx, m->shards, 0, m->shards->K < n ? m->shards->K : n, false,
                                &((vhem_models *)m)->sample);
        *out = m->sample;
    }
    return st;
}

static vhem_status copy_range(vhem_ctx *ctx, const vh_h3m *h3m, int64_t first, int64_t n, vh_h3m **out)
{
    VH_OWN(vh_h3m) *copy = NULL;
    VH_AUTOFREE int64_t *index = NULL;

    VH_NEW(index, n);
    for (int64_t k = 0; k < n; k++)
        index[k] = first + k;
    VH_TRY(vh_h3m_subset(ctx, h3m, index, n, &copy));
    memcpy(copy->omega, h3m->omega + first, sizeof *copy->omega * (size_t)n);
    for (int64_t k = 0; k < n; k++)
        VH_TRY(vh_h3m_set_text(ctx, &copy->hmm[k].extra, h3m->hmm[first + k].extra));
    VH_TRY(vh_h3m_set_text(ctx, &copy->prior, h3m->prior));
    VH_TRY(vh_h3m_set_text(ctx, &copy->extra, h3m->extra));
    VH_TRY(vh_h3m_set_text(ctx, &copy->provenance, h3m->provenance));
    *out = vh_take(copy);
    return VHEM_OK;
}

vhem_status vh_models_range(vhem_ctx *ctx, const vhem_models *m, int64_t first, int64_t n, vh_h3m **out)
{
    const vh_h3m *h3m = vh_models_hmms(m);
    return h3m ? copy_range(ctx, h3m, first, n, out) : vh_shards_read(ctx, m->shards, first, n, true, out);
}

/* ---- 2. access ----------------------------------------------------------------------------------------- */

static void count_shape(int S, int M, vhem_models_facts *f)
{
    f->S = S > f->S ? S : f->S;
    f->M = M > f->M ? M : f->M;
    f->S_least = vh_least(f->S_least, S);
    f->M_least = vh_least(f->M_least, M);
}

void vhem_models_info(const vhem_models *m, vhem_models_facts *out)
{
    *out = (vhem_models_facts){ .emission = "" };
    if (!m)
        return;
    vhem_models_facts f = { .kind = m->kind, .K = vh_models_size(m), .d = vh_models_dim(m), .emission = "" };
    const vh_h3m *head = vh_models_head(m), *h3m = vh_models_hmms(m);

    f.files = m->shards ? m->shards->n : 0;
    f.on_disk = m->shards && !h3m;
    if (f.on_disk) {
        f.S = m->shards->S;
        f.M = m->shards->M;
        f.S_least = m->shards->S_least;
        f.M_least = m->shards->M_least;
    }

    for (int64_t i = 0; h3m && i < h3m->K; i++)
        count_shape(h3m->hmm[i].S, h3m->hmm[i].M, &f);
    for (int64_t i = 0; m->dtm && i < m->dtm->K; i++)
        count_shape(m->dtm->dt[i].n, 0, &f);
    if (head) {
        f.emission = head->family->name;
        f.prior = head->prior;
        f.length = head->lengths.median;
    }
    f.provenance = head ? head->provenance : m->dtm ? m->dtm->provenance : NULL;
    *out = f;
}

/* Allocates the table of chunks of a set on disk; each is read on first use and kept. */
static vhem_status have_blocks(vhem_ctx *ctx, vhem_models *m)
{
    vhem_status st = VHEM_OK;
#pragma omp critical(vh_models_gather)
    if (!m->block) {
        m->block =
            vh_alloc(ctx, (size_t)((m->shards->K + VH_SHARD_CHUNK - 1) / VH_SHARD_CHUNK), sizeof *m->block);
        st = m->block ? VHEM_OK : VHEM_ENOMEM;
    }
    return st;
}

/* Reads chunk b if needed.  Two threads may both read it; one copy is kept. */
static vhem_status read_block(vhem_ctx *ctx, void *arg, int64_t b, int worker)
{
    vhem_models *m = arg;
    int64_t first = b * VH_SHARD_CHUNK, left = m->shards->K - first;
    VH_OWN(vh_h3m) *block = NULL;
    bool there;

    (void)worker;
#pragma omp critical(vh_models_gather)
    there = m->block[b] != NULL;
    if (there)
        return VHEM_OK;
    VH_TRY(
        vh_shards_read(ctx, m->shards, first, left < VH_SHARD_CHUNK ? left : VH_SHARD_CHUNK, true, &block));
#pragma omp critical(vh_models_gather)
    if (!m->block[b]) {
        m->block[b] = vh_take(block);
    }
    return VHEM_OK;
}

vhem_status vhem_models_read(vhem_ctx *ctx, const vhem_models *m, int64_t first, int64_t n)
{
    VH_ENTER(m);
    vhem_status st = VHEM_OK;
    int64_t K = vh_models_size(m);

    VH_CHECK(first >= 0 && n >= 0 && first <= K && n <= K - first, VHEM_EINVAL,
             "%lld %ss from number %lld on were requested, but there are %lld", (long long)n,
             vh_models_word(m), (long long)first, (long long)K);
    if (m->dtm || vh_models_hmms(m) || n == 0)
        return st;
    int64_t begin = first / VH_SHARD_CHUNK, end = (first + n - 1) / VH_SHARD_CHUNK + 1;
    const vh_work blocks = { .first = begin, .n = end - begin, .run = read_block, .arg = (void *)m };
    VH_TRY(have_blocks(ctx, (vhem_models *)m));
    st = vh_map(ctx, &blocks, NULL);
    VH_CHECK(st != VHEM_ESTOPPED, VHEM_ESTOPPED, "stopped while models were read");
    return st;
}

vhem_status vhem_models_hmm(const vhem_models *m, int64_t i, vhem_hmm_view *out)
{
    vhem_status st = VHEM_EINVAL;
    vhem_ctx silent = { .threads = 1 };
    const vh_h3m *h3m = m ? vh_models_hmms(m) : NULL;
    if (!m)
        return VHEM_EINVAL;
    if (h3m)
        return i >= 0 && i < h3m->K ? vh_h3m_view(h3m, i, out) : VHEM_EINVAL;
    if (!m->shards || i < 0 || i >= m->shards->K)
        return VHEM_EINVAL;
    st = have_blocks(&silent, (vhem_models *)m);
    if (st == VHEM_OK)
        st = read_block(&silent, (vhem_models *)m, i / VH_SHARD_CHUNK, 0);
    if (st == VHEM_OK)
#pragma omp critical(vh_models_gather)
        st = vh_h3m_view(m->block[i / VH_SHARD_CHUNK], i % VH_SHARD_CHUNK, out);
    return st;
}

vhem_status vhem_models_texture(const vhem_models *m, int64_t i, vhem_dt_view *out)
{
    return m && m->dtm && i >= 0 && i < m->dtm->K ? vh_dtm_view(m->dtm, i, out) : VHEM_EINVAL;
}

double vhem_models_compare(const vhem_models *a, const vhem_models *b)
{
    vhem_ctx silent = { .threads = 1 };
    if (a->kind != b->kind || vh_models_gather(&silent, a) != VHEM_OK
        || vh_models_gather(&silent, b) != VHEM_OK)
        return INFINITY;
    return a->h3m ? vh_h3m_compare(a->h3m, b->h3m) : vh_dtm_compare(a->dtm, b->dtm);
}

/* ---- 3. files ------------------------------------------------------------------------------------------ */

vhem_status vhem_models_save(vhem_ctx *ctx, const vhem_models *m, const char *provenance, const char *path)
{
    VH_ENTER(m, path);

    if (provenance)
        VH_TRY(vh_model_check_object(ctx, "provenance", provenance));
    VH_TRY(vh_models_gather(ctx, m));
    if (m->h3m) {
        vh_h3m with = *m->h3m;
        with.provenance = provenance ? (char *)provenance : with.provenance;
        VH_TRY(vh_h3m_save(ctx, &with, path));
    } else {
        vh_dtm with = *m->dtm;
        with.provenance = provenance ? (char *)provenance : with.provenance;
        VH_TRY(vh_dtm_save(ctx, &with, path));
    }
    return VHEM_OK;
}

vhem_status vh_models_print_json(vhem_ctx *ctx, const vhem_models *m, FILE *f)
{
    return m->h3m ? vh_model_print_json(ctx, m->h3m, f) : vh_dtm_print_json(ctx, m->dtm, f);
}

/* Reads a posterior and returns its mean, with the posterior attached. */
static vhem_status read_posterior(vhem_ctx *ctx, json_t *root, vh_h3m **out)
{
    VH_OWN(vh_posteriors) *post = NULL;
    vh_h3m *h3m = NULL;
    VH_AUTOFREE char *text = NULL;

    VH_TRY(vh_json_keep(ctx, root, &text));
    VH_TRY(vh_posteriors_read(ctx, text, &post));
    VH_TRY(vh_posteriors_mean(ctx, post, &h3m));
    h3m->posterior = vh_take(text);
    *out = h3m;
    return VHEM_OK;
}

/* Reads the object of a model file by its format. */
static vhem_status read_models(vhem_ctx *ctx, json_t *root, const vh_json_items *hmms, vhem_models **out)
{
    vhem_status st = VHEM_OK;
    const char *format = json_string_value(json_object_get(root, "format"));
    vh_h3m *h3m = NULL;
    vh_dtm *dtm = NULL;

    if (format && strcmp(format, "vhem-dtm") == 0) {
        VH_TRY(vh_dtm_from_json(ctx, root, &dtm));
        VH_TRY(vh_models_take_textures(ctx, dtm, out));
    } else {
        st = format && strcmp(format, "vhem-posterior") == 0 ? read_posterior(ctx, root, &h3m)
                                                             : vh_model_from_json(ctx, root, hmms, &h3m);
        VH_TRY(st);
        VH_TRY(vh_models_take_hmms(ctx, h3m, out));
    }
    return st;
}

vhem_status vh_models_from_json(vhem_ctx *ctx, json_t *root, const vh_json_items *hmms, vhem_models **out)
{
    vhem_status st = VHEM_OK;
    const char *format = json_string_value(json_object_get(root, "format"));
    json_t *level = root;

    if (format && strcmp(format, "vhem-tree") == 0) {
        level = json_array_get(json_object_get(root, "levels"), 0);
        VH_CHECK(json_is_object(level), VHEM_EFORMAT, "a tree without levels: no models in it");
        format = "vhem-clustering";
    }
    if (format && strcmp(format, "vhem-clustering") == 0
        && json_is_object(json_object_get(level, "centers"))) {
        json_t *centers = json_object_get(level, "centers");
        json_t *posterior = json_object_get(level, "posterior");
        st = read_models(ctx, centers, NULL, out);
        if (st != VHEM_OK)
            vh_error_prefix(ctx, "centers");
        else if (json_is_object(posterior) && (*out)->h3m)
            st = vh_json_keep(ctx, posterior, &(*out)->h3m->posterior);
    } else {
        st = read_models(ctx, level, hmms, out);
    }
    return st;
}

static const vh_h3m *head_of(const vhem_models *m)
{
    return m->h3m ? m->h3m : m->shards ? m->shards->shard[0]->head : NULL;
}

/* Channel of column k, or NULL. */
static const vh_channel *channel_of(const vh_layout *layout, int k)
{
    for (int c = 0; layout && c < layout->n_channel; c++)
        if (k < layout->channel[c].column + layout->channel[c].shape.d)
            return &layout->channel[c];
    return NULL;
}

vhem_status vhem_models_column(const vhem_models *models, int k, vhem_column_view *out)
{
    const vh_h3m *head = models ? head_of(models) : NULL;
    if (!head || k < 0 || k >= head->d)
        return VHEM_EINVAL;
    static const char *const values[] = {
        [VH_REALS] = "real",   [VH_POSITIVES] = "positive", [VH_ANGLES] = "angle",
        [VH_COUNTS] = "count", [VH_BITS] = "bit",           [VH_SYMBOLS] = "symbol"
    };
    const vh_channel *c = channel_of(head->shape.layout, k);
    bool product = c && vh_param_is_channels(&head->family->param[0]);
    const vh_emission *family = product ? c->family : head->family;
    *out = (vhem_column_view){ .name = c && head->shape.layout->column ? head->shape.layout->column[k] : "",
                               .emission = family->name,
                               .values = values[family->values],
                               .full = family->param[family->n_param - 1].rank == 2 };
    if (c) {
        out->symbols = (vhem_symbols){ c->shape.V, c->symbol };
        out->channel = (int)(c - head->shape.layout->channel);
    }
    for (int64_t i = 0; models->h3m && i < head->K; i++)
        out->lacking += vh_hmm_lacks(head, &head->hmm[i], k);
    return VHEM_OK;
}

const char *vhem_emission_param(const char *emission, int p)
{
    const vh_emission *family = emission ? vh_emission_find(emission) : NULL;
    return family && p >= 0 && p < family->n_param ? family->param[p].name : NULL;
}
