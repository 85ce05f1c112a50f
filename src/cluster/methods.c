/* methods.c - the table of clustering methods, and the way through it.  A new
 * method is a file and a line here. */
#include "cluster/methods.h"

#include "cluster/options.h"
#include "core/alloc.h"
#include "math/linalg.h"

#include <string.h>

const vh_method vh_methods[] = {
    { "vhem", VH_MODELS, 0, 0, vh_method_vhem },
    { "hem-gmm", VH_MODELS, 0, 0, vh_method_hem_gmm },
    { "ppk-sc", VH_MODELS, 0, 0, vh_method_distance },
    { "ppk-sc-hybrid", VH_MODELS, 0, 0, vh_method_distance },
    { "kl-sc", VH_MODELS, 0, 0, vh_method_distance },
    { "kl-sampled-sc", VH_MODELS, 0, 0, vh_method_distance },
    { "ppk-ac", VH_MODELS, 0, 0, vh_method_distance },
    { "kl-ac", VH_MODELS, 0, 0, vh_method_distance },
    { "kl-sampled-ac", VH_MODELS, 0, 0, vh_method_distance },
    { NULL, 0, 0, 0, NULL },
};

const vh_method *vh_method_find(const char *name)
{
    for (const vh_method *m = vh_methods; m->name; m++)
        if (strcmp(m->name, name) == 0)
            return m;
    return NULL;
}

uint64_t vh_cluster_seed(uint64_t seed, uint64_t k)
{
    return vh_rng_seed(seed, k);
}

static vhem_status take_names(vhem_ctx *ctx, const vh_input *in, vhem_clustering *c)
{
    vhem_status st = VHEM_OK;
    for (int i = 0; in->models && i < in->Kb; i++)
        if (in->models->hmm[i].name)
            VH_TRY(vh_clustering_set_name(ctx, c, i, in->models->hmm[i].name));
done:
    return st;
}

vhem_status vh_cluster(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt, uint64_t seed,
                       vhem_clustering **out)
{
    vhem_status st = VHEM_OK;
    vhem_clustering *c = NULL;
    vhem_cluster_options o;

    vh_blas_enter();
    VH_TRY(vh_cluster_resolve(ctx, in, opt, &o));
    const vh_method *method = vh_method_find(o.method);
    VH_TRY(vh_clustering_new(ctx, in->Kb, &c));
    VH_TRY(take_names(ctx, in, c));
    c->method = method->name;
    c->Kr = o.K;
    c->options = o;
    c->options.start = NULL;
    st = method->run(ctx, in, &o, seed, c);
    if (st != VHEM_OK && (st != VHEM_ESTOPPED || !c->z))             /* stopped before there was anything */
        goto done;
    vh_label_by_z(c);
    *out = c;
    c = NULL;
done:
    vhem_clustering_free(c);
    vh_blas_leave();
    return st;
}

vhem_status vhem_cluster(vhem_ctx *ctx, const vhem_h3m *h3m, const vhem_cluster_options *opt,
                         vhem_clustering **out)
{
    vh_input in = vh_input_models(h3m);
    return vh_cluster(ctx, &in, opt, ctx->opt.seed, out);
}
