/* SPDX-License-Identifier: BSD-3-Clause */
/* methods.c - the table of clustering methods, and the way through it.  A new method is a file, a line here
 * and a word in core/options.c. */
#include "cluster/methods.h"

#include "cluster/options.h"
#include "core/alloc.h"
#include "core/options.h"
#include "estimate/sets.h"
#include "math/linalg.h"

#include <string.h>

/* clang-format off */
const vh_method vh_methods[] = {
    { "vhem", VH_MODELS, 0, 0, true, vh_method_vhem, "variational hierarchical EM on HMMs", NULL },
    { "vbhem", VH_MODELS, 0, 0, true, vh_method_vbhem,
      "variational Bayes: as vhem, and finds how many clusters and states are needed", NULL },
    { "em-h3m", VH_DATA, 0, 0, true, vh_method_em_h3m, "EM for a mixture of HMMs on sequences",
      "auto|far|dealt" },
    { "shem", VH_MODELS, 10, 0, true, vh_method_shem, "EM on sequences drawn from the HMMs",
      "auto|far|dealt" },
    { "hem-gmm", VH_MODELS, 0, 0, true, vh_method_hem_gmm,
      "hierarchical EM on the emissions alone, as Gaussian mixtures", NULL },
    { "hem-dtm", VH_TEXTURES, 0, 0, true, vh_method_hem_dtm, "hierarchical EM on dynamic textures",
      "auto|base|far" },
    { "ppk-sc", VH_MODELS, 0, 0, false, vh_method_distance,
      "spectral clustering on the probability product kernel", NULL },
    { "ppk-sc-hybrid", VH_MODELS, 0, 0, false, vh_method_distance, "ppk-sc, with centres learned by vhem", NULL },
    { "kl-sc", VH_MODELS, 0, 0, false, vh_method_distance, "spectral clustering on variational divergences", NULL },
    { "knn-sc", VH_MODELS, 0, 0, false, vh_method_distance,
      "spectral clustering on the graph of nearest neighbours", NULL },
    { "kl-sampled-sc", VH_MODELS, 0, 0, false, vh_method_distance,
      "spectral clustering on sampled divergences", NULL },
    { "ppk-ac", VH_MODELS, 0, 0, false, vh_method_distance,
      "agglomerative clustering on the probability product kernel", NULL },
    { "kl-ac", VH_MODELS, 0, 0, false, vh_method_distance,
      "agglomerative clustering on variational divergences", NULL },
    { "kl-sampled-ac", VH_MODELS, 0, 0, false, vh_method_distance,
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
                                .has_bound = m->has_bound,
                                .about = m->about,
                                .inits = m->inits };
    return VHEM_OK;
}

/* Models have theirs, sequences theirs or that of their group, and clusters of sequences that of the centre
 * of the level below. */
static vhem_status take_names(vhem_ctx *ctx, const vh_input *in, vh_clustering *c)
{
    vhem_status st = VHEM_OK;
    vh_sets sets = { 0 };
    int below = 0;

    if (in->data && !in->below)
        VH_TRY(vh_sets_from(ctx, in->data->N, in->item, in->Kb, &sets));
    for (int i = 0; i < in->Kb; i++) {
        const char *name;
        if (in->models) {
            name = in->models->hmm[i].name;
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
done:
    vh_sets_free(&sets);
    return st;
}

vhem_status vh_cluster(vhem_ctx *ctx, const vh_input *asked, const vhem_cluster_options *opt, uint64_t seed,
                       vh_clustering **out)
{
    vhem_status st = VHEM_OK;
    vh_clustering *c = NULL;
    vh_input in = *asked;
    vhem_cluster_options o;

    vh_blas_enter();
    VH_TRY(vh_cluster_resolve(ctx, &in, opt, &o));
    const vh_method *method = vh_method_find(o.method);
    VH_TRY(vh_clustering_new(ctx, in.Kb, &c));
    VH_TRY(take_names(ctx, &in, c));
    c->method = method->name;
    c->Kr = in.K;
    c->by_group = in.by_group;
    c->items = !in.data ? "models" : in.by_group || in.below ? "groups" : "sequences";
    c->options = o;
    c->options.start = NULL;
    VH_TRY(vh_options_own(ctx, VHEM_CLUSTER_OPTIONS, &c->kept, &c->options));
    st = method->run(ctx, &in, &o, seed, c);
    if (st != VHEM_OK && (st != VHEM_ESTOPPED || !c->z)) /* stopped before there was anything */
        goto done;
    vh_label_by_z(c);
    *out = c;
    c = NULL;
done:
    vh_clustering_free(c);
    vh_blas_leave();
    return st;
}

vhem_status vh_input_data(vhem_ctx *ctx, const vhem_data *data, bool by_group, int **item, vh_input *in)
{
    vhem_status st = VHEM_OK;
    vh_sets sets = { 0 };

    VH_CHECK(data->N > 0, VHEM_EINVAL, "there are no sequences to cluster");
    VH_CHECK(!by_group || data->group, VHEM_EINVAL,
             "the sequences of a group are to stay together, but the data has no groups");
    VH_TRY(vh_sets_new(ctx, data, by_group, &sets));
    VH_NEW(*item, data->N);
    for (int g = 0; g < sets.n; g++)
        for (int k = sets.first[g]; k < sets.first[g + 1]; k++)
            (*item)[sets.seq[k]] = g;
    *in = (vh_input){ .Kb = sets.n, .data = data, .item = *item, .by_group = by_group };
done:
    vh_sets_free(&sets);
    return st;
}

vhem_status vh_input_source(vhem_ctx *ctx, const vhem_source *source, int **item, vh_input *in)
{
    vhem_status st = VHEM_OK;

    VH_CHECK(!source->models != !source->data, VHEM_EINVAL,
             "a source has models or sequences, this one has %s", source->models ? "both" : "neither");
    *item = NULL;
    if (source->data)
        VH_TRY(vh_input_data(ctx, source->data, source->by_group > 0, item, in));
    else
        VH_TRY(vh_models_gather(ctx, source->models));
    if (source->models)
        *in = source->models->h3m ? vh_input_models(source->models->h3m, 0)
                                  : vh_input_textures(source->models->dtm, 0);
done:
    return st;
}
