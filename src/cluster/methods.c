/* SPDX-License-Identifier: BSD-3-Clause */
/* methods.c - the table of clustering methods, and the way through it.  A new method is a file, a line here
 * and a word in vh_method_names. */
#include "cluster/methods.h"

#include "cluster/options.h"
#include "core/alloc.h"
#include "estimate/sets.h"
#include "math/linalg.h"

#include <string.h>

const vh_method vh_methods[] = {
    { "vhem", VH_MODELS, 0, 0, vh_method_vhem },
    { "em-h3m", VH_DATA, 0, 0, vh_method_em_h3m },
    { "shem", VH_MODELS, 10, 0, vh_method_shem },
    { "hem-gmm", VH_MODELS, 0, 0, vh_method_hem_gmm },
    { "hem-dtm", VH_TEXTURES, 0, 0, vh_method_hem_dtm },
    { "ppk-sc", VH_MODELS, 0, 0, vh_method_distance },
    { "ppk-sc-hybrid", VH_MODELS, 0, 0, vh_method_distance },
    { "kl-sc", VH_MODELS, 0, 0, vh_method_distance },
    { "knn-sc", VH_MODELS, 0, 0, vh_method_distance },
    { "kl-sampled-sc", VH_MODELS, 0, 0, vh_method_distance },
    { "ppk-ac", VH_MODELS, 0, 0, vh_method_distance },
    { "kl-ac", VH_MODELS, 0, 0, vh_method_distance },
    { "kl-sampled-ac", VH_MODELS, 0, 0, vh_method_distance },
    { NULL, 0, 0, 0, NULL },
};

const vh_method *vh_method_find(const char *name)
{
    for (const vh_method *m = vh_methods; name && m->name; m++)
        if (strcmp(m->name, name) == 0)
            return m;
    return NULL;
}

const char *vh_method_names(void)
{
    return "vhem em-h3m shem hem-gmm hem-dtm ppk-sc ppk-sc-hybrid kl-sc knn-sc kl-sampled-sc "
           "ppk-ac kl-ac kl-sampled-ac";
}

int vh_method_takes_data(const char *method)
{
    const vh_method *m = method ? vh_method_find(method) : NULL;
    return m && m->takes & VH_DATA;
}

/* Models have theirs, sequences theirs or that of their group, and clusters of sequences that of the centre
 * of the level below. */
static vhem_status take_names(vhem_ctx *ctx, const vh_input *in, bool by_group, vh_clustering *c)
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
            name = vh_sets_name(&sets, in->data, i, by_group);
        }
        if (name && name[0])
            VH_TRY(vh_clustering_set_name(ctx, c, i, name));
    }
done:
    vh_sets_free(&sets);
    return st;
}

vhem_status vh_cluster(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt, uint64_t seed,
                       vh_clustering **out)
{
    vhem_status st = VHEM_OK;
    vh_clustering *c = NULL;
    vhem_cluster_options o;

    vh_blas_enter();
    VH_TRY(vh_cluster_resolve(ctx, in, opt, &o));
    const vh_method *method = vh_method_find(o.method);
    VH_TRY(vh_clustering_new(ctx, in->Kb, &c));
    VH_TRY(take_names(ctx, in, o.by_group, c));
    c->method = method->name;
    c->Kr = o.K;
    c->options = o;
    c->options.start = NULL;
    c->options.start_dtm = NULL;
    st = method->run(ctx, in, &o, seed, c);
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

vhem_status vh_cluster_hmms(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_cluster_options *opt,
                            vh_clustering **out)
{
    vh_input in = vh_input_models(h3m);
    return vh_cluster(ctx, &in, opt, ctx->opt.seed, out);
}

vhem_status vh_cluster_dtm(vhem_ctx *ctx, const vh_dtm *dtm, const vhem_cluster_options *opt,
                           vh_clustering **out)
{
    vh_input in = vh_input_textures(dtm);
    return vh_cluster(ctx, &in, opt, ctx->opt.seed, out);
}

vhem_status vh_input_data(vhem_ctx *ctx, const vhem_data *data, bool by_group, int **item, vh_input *in)
{
    vhem_status st = VHEM_OK;
    vh_sets sets = { 0 };

    VH_CHECK(data->N > 0, VHEM_EINVAL, "there are no sequences to cluster");
    VH_CHECK(!by_group || data->group, VHEM_EINVAL,
             "the sequences of a group are to stay together, but the data has no groups");
    VH_TRY(vh_data_require_complete(ctx, data));
    VH_TRY(vh_sets_new(ctx, data, by_group, &sets));
    VH_NEW(*item, data->N);
    for (int g = 0; g < sets.n; g++)
        for (int k = sets.first[g]; k < sets.first[g + 1]; k++)
            (*item)[sets.seq[k]] = g;
    *in = (vh_input){ .Kb = sets.n, .data = data, .item = *item };
done:
    vh_sets_free(&sets);
    return st;
}

vhem_status vh_cluster_data(vhem_ctx *ctx, const vhem_data *data, const vhem_cluster_options *opt,
                            vh_clustering **out)
{
    vhem_status st = VHEM_OK;
    vh_input in;
    int *item = NULL;

    VH_TRY(vh_input_data(ctx, data, opt && opt->by_group, &item, &in));
    VH_TRY(vh_cluster(ctx, &in, opt, ctx->opt.seed, out));
done:
    free(item);
    return st;
}
