/* SPDX-License-Identifier: BSD-3-Clause */
/* methods.c - the table of clustering methods, and the common steps of a clustering.  The first method that
 * accepts a kind of input is its default.  To add a method, write a file, a line here and a word in
 * core/options.c. */
#include "methods/methods.h"

#include "search/hmm_search.h"
#include "methods/options.h"
#include "core/alloc.h"
#include "parallel/ranks.h"
#include "core/options.h"
#include "fit/sets.h"
#include "math/blas.h"
#include "files/hmm_file.h"
#include "hmm/missing_columns.h"
#include "vhem/base.h"
#include "distributed/remote_estep.h"
#include "vhem.h"

#include <string.h>

#define DEFAULT_MEMORY ((int64_t)1 << 30)
enum {
    COPIES = 5,      /* memory per byte of file: models, packed models, the backend's layout */
    TABLE = 1 << 22, /* largest Kb K for which z and L are kept by default */
};

/* clang-format off */
const vh_method vh_methods[] = {
    { "vhem", VH_MODELS, 0, 0, VH_CLIMBS | VH_BY_PART, vh_method_vhem, NULL,
      "variational hierarchical EM on HMMs", NULL },
    { "vbhem", VH_MODELS, 0, 0, VH_CLIMBS | VH_FINDS_K, vh_method_vbhem, vh_vbhem_defaults,
      "variational Bayes: as vhem, and finds how many clusters and states are needed", NULL },
    { "auto", VH_DATA, 0, 0, VH_KEEPS, vh_method_auto, vh_auto_defaults,
      "several graphs of sequences, of which the best is kept", NULL },
    { "em-h3m", VH_DATA, 0, 0, VH_CLIMBS, vh_method_em_h3m, vh_em_defaults,
      "EM for a mixture of HMMs on sequences", "auto|far|dealt" },
    { "shem", VH_MODELS, 10, 0, VH_CLIMBS, vh_method_shem, vh_em_defaults,
      "EM on sequences drawn from the HMMs", "auto|far|dealt" },
    { "hem-gmm", VH_MODELS, 0, 0, VH_CLIMBS, vh_method_hem_gmm, vh_hem_gmm_defaults,
      "hierarchical EM on the emissions alone, as Gaussian mixtures", NULL },
    { "hem-dtm", VH_TEXTURES, 0, 0, VH_CLIMBS, vh_method_hem_dtm, NULL, "hierarchical EM on dynamic textures",
      "auto|base|far" },
    { "ppk-sc", VH_MODELS, 0, 0, 0, vh_method_distance, NULL,
      "spectral clustering on the probability product kernel", NULL },
    { "ppk-sc-hybrid", VH_MODELS, 0, 0, 0, vh_method_distance, NULL,
      "ppk-sc, with centres learned by vhem", NULL },
    { "kl-sc", VH_MODELS, 0, 0, 0, vh_method_distance, NULL,
      "spectral clustering on variational divergences", NULL },
    { "knn-sc", VH_MODELS, 0, 0, 0, vh_method_distance, NULL,
      "spectral clustering on the graph of nearest neighbours", NULL },
    { "kl-sampled-sc", VH_MODELS, 0, 0, 0, vh_method_distance, NULL,
      "spectral clustering on sampled divergences", NULL },
    { "ppk-ac", VH_MODELS, 0, 0, 0, vh_method_distance, NULL,
      "agglomerative clustering on the probability product kernel", NULL },
    { "kl-ac", VH_MODELS, 0, 0, 0, vh_method_distance, NULL,
      "agglomerative clustering on variational divergences", NULL },
    { "kl-sampled-ac", VH_MODELS, 0, 0, 0, vh_method_distance, NULL,
      "agglomerative clustering on sampled divergences", NULL },
    { 0 },
};
/* clang-format on */

const vh_method *vh_method_find(const char *name)
{
    for (const vh_method *m = vh_methods; name && m->name; m++)
        if (strcmp(m->name, name) == 0)
            return m;
    return NULL;
}

const vh_method *vh_method_usual(int takes)
{
    const vh_method *m = vh_methods;
    while (!(m->takes & takes))
        m++;
    return m;
}

vhem_status vhem_method_info(int i, vhem_method_facts *out)
{
    int n = 0;
    while (vh_methods[n].name)
        n++;
    if (i < 0 || i >= n)
        return VHEM_EINVAL;
    const vh_method *m = &vh_methods[i];
    *out = (vhem_method_facts){ .name = m->name,
                                .takes_hmms = (m->takes & VH_MODELS) != 0,
                                .takes_textures = (m->takes & VH_TEXTURES) != 0,
                                .takes_data = (m->takes & VH_DATA) != 0,
                                .has_bound = (m->traits & VH_CLIMBS) != 0,
                                .by_part = (m->traits & VH_BY_PART) != 0,
                                .finds_k = (m->traits & VH_FINDS_K) != 0,
                                .about = m->about,
                                .inits = m->inits };
    return VHEM_OK;
}

/* Counts the columns that each of n HMMs lacks, for items from `first` on. */
static vhem_status count_lacking(vhem_ctx *ctx, const vh_h3m *h3m, int64_t first, int64_t n, vh_clustering *c)
{
    if (!vh_h3m_lacks_columns(h3m))
        return VHEM_OK;
    if (!c->lacking)
        VH_NEW(c->lacking, c->Kb);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < h3m->d; k++)
            c->lacking[first + i] += vh_hmm_lacks(h3m, &h3m->hmm[i], k);
    return VHEM_OK;
}

/* Reads names and missing columns from disk; if the set has any, this reads every HMM once more. */
static vhem_status take_from_disk(vhem_ctx *ctx, const vh_shards *set, vh_clustering *c)
{
    VH_OWN(vh_h3m) *part = NULL;
    bool any = c->lacking != NULL;

    for (int k = 0; k < set->n; k++)
        any |= set->shard[k]->n_bytes > 0;
    for (int64_t first = 0; any && first < set->K; first += VH_SHARD_CHUNK) {
        int n = (int)(set->K - first < VH_SHARD_CHUNK ? set->K - first : VH_SHARD_CHUNK);
        VH_TRY(vh_shards_read(ctx, set, first, n, true, &part));
        for (int i = 0; i < n; i++) {
            if (part->hmm[i].name)
                VH_TRY(vh_clustering_set_name(ctx, c, first + i, part->hmm[i].name));
            VH_TRY(vh_clustering_set_fingerprint(ctx, c, first + i, vh_hmm_fingerprint(&part->hmm[i])));
        }
        VH_TRY(count_lacking(ctx, part, first, n, c));
        vh_h3m_free(part);
        part = NULL;
    }
    return VHEM_OK;
}

/* Sets the names of the items: of models; of sequences or their groups; or of the centres of the level
 * below. */
static vhem_status take_names(vhem_ctx *ctx, const vh_input *in, vh_clustering *c)
{
    VH_CLEANUP(vh_sets_free) vh_sets sets = { 0 };
    int64_t below = 0;

    if (in->data && !in->below)
        VH_TRY(vh_sets_from(ctx, in->data->N, in->item, in->Kb, &sets));
    for (int64_t i = 0; i < in->Kb; i++) {
        const char *name;
        if (in->shards) {
            break; /* in chunks, below */
        } else if (in->models) {
            name = in->models->hmm[i].name;
            VH_TRY(vh_clustering_set_fingerprint(ctx, c, i, vh_hmm_fingerprint(&in->models->hmm[i])));
        } else if (in->textures) {
            name = in->textures->dt[i].name;
        } else if (in->below) {
            while (!(in->below->centers->omega[below] > 0))
                below++;
            name = in->below->centers->hmm[below++].name;
        } else {
            name = vh_sets_name(&sets, in->data, i, in->by_group);
        }
        if (name && name[0])
            VH_TRY(vh_clustering_set_name(ctx, c, i, name));
    }
    if (in->shards && vh_rank(ctx) == 0) /* on the first process only: it reads all files */
        VH_TRY(take_from_disk(ctx, in->shards, c));
    return VHEM_OK;
}

/* Runs the method.  Several processes share sums over sequences, textures and many HMMs; otherwise each runs
 * alone. */
static vhem_status run(vhem_ctx *ctx, const vh_method *method, const vh_input *in,
                       const vhem_cluster_options *o, uint64_t seed, vh_clustering *c)
{
    bool shared = ctx->call && method->traits & VH_BY_PART && in->Kb > VH_FEW_MODELS && o->first_reduce <= 0;
    if (!in->models || shared)
        return method->run(ctx, in, o, seed, c);
    vh_ranks_leave(ctx);
    return vh_ranks_join(ctx, method->run(ctx, in, o, seed, c));
}

vhem_status vh_cluster(vhem_ctx *ctx, const vh_input *asked, const vhem_cluster_options *opt, uint64_t seed,
                       vh_clustering **out)
{
    VH_BLAS_SERIAL;
    VH_OWN(vh_clustering) *c = NULL;
    vh_input in = *asked;
    vhem_cluster_options o;

    VH_TRY(vh_cluster_resolve(ctx, &in, opt, &o));
    const vh_method *method = vh_method_find(o.method);
    VH_TRY(vh_clustering_new(ctx, in.Kb, &c));
    c->method = method->name;
    c->Kr = in.K;
    c->by_group = in.by_group;
    c->items = !in.data ? "models" : in.by_group || in.below ? "groups" : "sequences";
    c->options = o;
    c->options.start = NULL;
    c->options.executor = NULL;
    VH_TRY(vh_options_own(ctx, VHEM_CLUSTER_OPTIONS, &c->kept, &c->options));
    if (in.models && !in.shards) /* for those on disk, counted when names are read */
        VH_TRY(count_lacking(ctx, in.models, 0, c->Kb, c));
    vhem_status st = run(ctx, method, &in, &o, seed, c);
    if (st != VHEM_OK && (st != VHEM_ESTOPPED || (!c->z && !c->bound))) /* stopped before the first result */
        return st;
    VH_TRY(take_names(ctx, &in, c)); /* last, to save memory until then */
    if (!(method->traits & VH_KEEPS))
        vh_label_by_z(c);
    *out = vh_take(c);
    return st;
}

vhem_status vh_input_data(vhem_ctx *ctx, const vhem_data *data, bool by_group, int64_t **item, vh_input *in)
{
    VH_CLEANUP(vh_sets_free) vh_sets sets = { 0 };

    VH_CHECK(data->N > 0, VHEM_EINVAL, "there are no sequences to cluster");
    VH_CHECK(!by_group || data->group, VHEM_EINVAL, "groups were asked for, but the data has no groups");
    VH_TRY(vh_sets_new(ctx, data, by_group, &sets));
    VH_NEW(*item, data->N);
    for (int64_t g = 0; g < sets.n; g++)
        for (int64_t k = sets.first[g]; k < sets.first[g + 1]; k++)
            (*item)[sets.seq[k]] = g;
    *in = (vh_input){ .Kb = sets.n, .data = data, .item = *item, .by_group = by_group };
    return VHEM_OK;
}

/* True if HMMs stay on disk.  Refined HMMs, or HMMs with converted covariances, are kept in memory.
 * first_reduce needs the files, even if the set is small and in memory too. */
static bool stays_on_disk(const vhem_ctx *ctx, const vhem_models *m, const vhem_cluster_options *opt)
{
    int64_t memory = opt->memory >= 0 ? opt->memory : DEFAULT_MEMORY;
    const vh_method *method = opt->method ? vh_method_find(opt->method) : vh_method_usual(VH_MODELS);
    bool able = method && method->traits & VH_BY_PART && opt->refine <= 1 && !vh_cluster_wants_full(opt);
    bool apart = opt->executor || (vh_ranks(ctx) > 1 && m->shards && m->shards->K > VH_FEW_MODELS);
    bool large = memory > 0 && m->shards && m->shards->bytes > memory / COPIES;
    return m->shards && able && (opt->first_reduce > 0 || (!m->h3m && (large || apart)));
}

static vhem_status input_on_disk(vhem_ctx *ctx, const vhem_models *m, vh_input *in)
{
    const vh_h3m *sample = NULL;
    VH_TRY(vh_models_sample(ctx, m, VH_BASE_SAMPLE, &sample));
    *in = (vh_input){ .Kb = m->shards->K, .models = sample, .shards = m->shards };
    return VHEM_OK;
}

vhem_status vh_input_source(vhem_ctx *ctx, const vhem_source *source, const vhem_cluster_options *opt,
                            int64_t **item, vh_input *in)
{
    const vhem_models *m = source->models;

    VH_CHECK(!source->models != !source->data, VHEM_EINVAL,
             "a source has models or sequences, this one has %s", source->models ? "both" : "neither");
    *item = NULL;
    if (source->data) {
        VH_TRY(vh_input_data(ctx, source->data, source->by_group > 0, item, in));
    } else if (stays_on_disk(ctx, m, opt)) {
        VH_TRY(input_on_disk(ctx, m, in));
    } else {
        VH_TRY(vh_models_gather(ctx, m));
        *in = vh_input_of(m, 0);
    }
    in->executor = opt->executor;
    return VHEM_OK;
}

/* True if z and L, Kb x Kr each, are skipped; labels contain most of their information. */
static bool is_lean(const vh_input *in, const vhem_cluster_options *opt)
{
    bool by_part = vh_method_find(opt->method)->traits & VH_BY_PART;
    return by_part && !in->tables && opt->keep_tables <= 0 && (int64_t)in->Kb * in->K > TABLE;
}

void vh_input_search(const vh_input *in, const vhem_cluster_options *opt, vh_hmm_search *s)
{
    *s = (vh_hmm_search){ .opt = opt,
                          .models = in->models,
                          .shards = in->shards,
                          .Kb = in->Kb,
                          .remote = vh_remote_of(in->executor),
                          .K = in->K,
                          .start = vh_start_hmms(opt),
                          .lean = is_lean(in, opt) };
}
