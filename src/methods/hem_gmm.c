/* SPDX-License-Identifier: BSD-3-Clause */
/* hem_gmm.c - the hierarchical EM of Vasconcelos and Lippman 1998 for Gaussian mixtures: VHEM on models of
 * one state.  Paper, Section 4.2.
 *
 * An HMM is flattened to the mixture of its frames without their order: the components of all states, each
 * state weighted by its share of tau frames.  Under a centre of one state this loses nothing: with p_t(beta)
 * the probability of state beta at frame t,
 *
 *   L_hmm = sum_t sum_beta p_t(beta) L_gmm(beta) = tau L_hmm(flat model, tau = 1),
 *
 * so N virtual samples of tau frames are N tau virtual frames of the flat model. */
#include "methods/state_order.h"
#include "methods/methods.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "math/logsum.h"

#include <string.h>

/* Defaults: one state, with the components of all states. */
void vh_hem_gmm_defaults(const vh_input *in, vhem_cluster_options *o)
{
    const vh_h3m *h3m = in->models;
    int M = 1;

    for (int64_t i = 0; i < h3m->K && !h3m->family->single; i++)
        M = h3m->hmm[i].S * h3m->hmm[i].M > M ? h3m->hmm[i].S * h3m->hmm[i].M : M;
    o->S = o->S > 0 ? o->S : 1;
    o->M = o->M > 0 ? o->M : M;
}

static vhem_status flatten_hmm(vhem_ctx *ctx, const vh_h3m *h3m, int64_t i, int tau, vh_h3m *flat)
{
    const vh_hmm *h = &h3m->hmm[i];
    VH_AUTOFREE double *time = NULL;

    VH_NEW(time, 3 * (size_t)h->S);
    VH_TRY(vh_h3m_shape(ctx, flat, i, 1, h->S * h->M));
    vh_hmm *f = &flat->hmm[i];
    f->pi[0] = f->A[0] = 1;
    vh_occupancy(h, tau, time, time + h->S);
    vh_normalise(h->S, time);
    for (int s = 0; s < h->S; s++)
        for (int m = 0; m < h->M; m++) {
            double *from[VH_MAX_PARAM], *to[VH_MAX_PARAM];
            vh_hmm_c(f)[s * h->M + m] = time[s] * vh_hmm_c(h)[s * h->M + m];
            vh_hmm_component(h3m, h, s, m, from);
            vh_hmm_component(flat, f, 0, s * h->M + m, to);
            for (int p = 0; p < h3m->family->n_param; p++)
                memcpy(to[p], from[p], sizeof *to[p] * vh_param_size(h3m->family, p, &h3m->shape));
        }
    flat->omega[i] = h3m->omega[i];
    return VHEM_OK;
}

/* Maps every state of the original HMMs to the only state of their centre. */
static vhem_status map_to_one(vhem_ctx *ctx, const vh_h3m *h3m, vh_clustering *out)
{
    if (!out->state_map)
        return VHEM_OK;
    for (int64_t i = 0; i < h3m->K; i++)
        out->state_map_at[i + 1] = out->state_map_at[i] + h3m->hmm[i].S;
    free(out->state_map);
    VH_NEW(out->state_map, out->state_map_at[h3m->K]);
    return VHEM_OK;
}

vhem_status vh_method_hem_gmm(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt,
                              uint64_t seed, vh_clustering *out)
{
    vhem_status st = VHEM_OK, run;
    const vh_h3m *h3m = in->models;
    VH_OWN(vh_h3m) *flat = NULL;
    vhem_cluster_options o = *opt;

    VH_CHECK(opt->S == 1, VHEM_EINVAL, "S is %d, the centres of method hem-gmm have one state", opt->S);
    VH_TRY(vh_h3m_new(ctx, h3m->family, h3m->shape, h3m->K, &flat));
    for (int64_t i = 0; i < h3m->K; i++)
        VH_TRY(flatten_hmm(ctx, h3m, i, opt->tau, flat));
    o.tau = 1;
    o.nv = opt->nv * opt->tau;
    vh_input as_flat = vh_input_models(flat, in->K);
    as_flat.centers_only = in->centers_only;
    run = vh_method_vhem(ctx, &as_flat, &o, seed, out);
    if (run != VHEM_OK && run != VHEM_ESTOPPED) {
        st = run;
        return st;
    }
    VH_TRY(map_to_one(ctx, h3m, out));
    for (size_t k = 0; out->L_hmm && k < vh_cells(out->Kb, out->Kr); k++) /* NULL after an early stop */
        out->L_hmm[k] *= opt->tau;
    st = run;
    return st;
}
