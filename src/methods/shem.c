/* SPDX-License-Identifier: BSD-3-Clause */
/* shem.c - SHEM-H3M: VHEM with real samples instead of virtual ones (paper, Section 5.1).
 *
 * Draws N_i = N omega_i sequences of tau frames from every base HMM, N = nv Kb, rounded and at least one, and
 * runs EM-H3M on them, with one assignment for all sequences of a base HMM.  L_hmm is the mean log-likelihood
 * of a sequence: a sampled estimate of what VHEM bounds. */
#include "methods/em_clustering.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "fit/sample.h"

#include <limits.h>
#include <math.h>

vhem_status vh_method_shem(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt, uint64_t seed,
                           vh_clustering *out)
{
    vhem_status st = VHEM_OK;
    const vh_h3m *h3m = in->models;
    VH_AUTOFREE int64_t *count = NULL, *item = NULL;
    int64_t Kb = in->Kb, n = 0;
    VH_OWN(vhem_data) *data = NULL;
    VH_CLEANUP(vh_sets_free) vh_sets sets = { 0 };

    VH_NEW(count, Kb);
    for (int64_t i = 0; i < Kb; i++) {
        double Ni = fmax(1, round(opt->nv * Kb * h3m->omega[i]));
        VH_CHECK((double)n + Ni <= 0x1p53, VHEM_EINVAL, "nv is %g, which makes too many sequences to draw",
                 opt->nv);
        count[i] = (int64_t)Ni;
        n += count[i];
    }
    VH_TRY(vh_sample_each(ctx, h3m, count, opt->tau, seed, &data));
    VH_NEW(item, n);
    for (int64_t i = 0, at = 0; i < Kb; i++)
        for (int64_t k = 0; k < count[i]; k++)
            item[at++] = i;
    VH_TRY(vh_sets_from(ctx, n, item, Kb, &sets));
    st = vh_cluster_sets(ctx, data, &sets, opt, seed, out);
    for (int64_t i = 0; out->L_hmm && i < Kb; i++)
        for (int j = 0; j < out->Kr; j++)
            out->L_hmm[vh_ij(i, out->Kr, j)] /= count[i];
    return st;
}
