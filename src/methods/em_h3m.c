/* SPDX-License-Identifier: BSD-3-Clause */
/* em_h3m.c - clusters sequences, or groups of sequences, by EM for a mixture of HMMs: the paper's baseline
 * without base models (paper, Section 5.1; Smyth 1997).
 *
 * L_hmm holds log p(Y_g | HMM j), so that J = sum_g log sum_j omega_j exp L_gj. */
#include "methods/em_clustering.h"

vhem_status vh_method_em_h3m(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt,
                             uint64_t seed, vh_clustering *out)
{
    VH_CLEANUP(vh_sets_free) vh_sets sets = { 0 };

    VH_TRY(vh_sets_from(ctx, in->data->N, in->item, in->Kb, &sets));
    return vh_cluster_sets(ctx, in->data, &sets, opt, seed, out);
}
