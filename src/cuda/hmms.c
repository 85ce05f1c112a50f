/* SPDX-License-Identifier: BSD-3-Clause */
/* hmms.c - see hmms.h. */
#include "cuda/hmms.h"

#include "cuda/device.h"
#include "cuda/arena.h"
#include "core/alloc.h"
#include "core/array2.h"

#include <string.h>

#define MIXING 1e-100 /* see simd/forward_backward.c */

static size_t plan(const vh_packed *pk, vh_cuda_hmms *h)
{
    size_t bytes = 0;
    VH_PLACE(bytes, h->S, pk->K);
    VH_PLACE(bytes, h->M, pk->K);
    VH_PLACE(bytes, h->state0, pk->K);
    VH_PLACE(bytes, h->comp0, pk->K);
    VH_PLACE(bytes, h->look, pk->K);
    VH_PLACE(bytes, h->state_of, pk->n_comp);
    VH_PLACE(bytes, h->trans0, pk->K);
    VH_PLACE(bytes, h->pi, pk->n_state);
    VH_PLACE(bytes, h->A, pk->n_trans);
    VH_PLACE(bytes, h->theta, vh_cells(pk->n_comp, pk->n_stat));
    return bytes;
}

/* The same arrays in a block at `to`. */
static vh_cuda_hmms placed(const vh_cuda_hmms *h, char *to)
{
    vh_cuda_hmms x = *h;
    x.S = vh_place_in(to, NULL, h->S);
    x.M = vh_place_in(to, NULL, h->M);
    x.state0 = vh_place_in(to, NULL, h->state0);
    x.comp0 = vh_place_in(to, NULL, h->comp0);
    x.look = vh_place_in(to, NULL, h->look);
    x.state_of = vh_place_in(to, NULL, h->state_of);
    x.trans0 = vh_place_in(to, NULL, h->trans0);
    x.pi = vh_place_in(to, NULL, h->pi);
    x.A = vh_place_in(to, NULL, h->A);
    x.theta = vh_place_in(to, NULL, h->theta);
    return x;
}

bool vh_cuda_looks(const vh_packed *pk, int k)
{
    for (size_t e = pk->trans0[k]; e < pk->trans0[k + 1]; e++)
        if (pk->A[e] < MIXING)
            return true;
    return false;
}

/* Writes the set to host memory. */
static void fill_hmms(const vh_packed *pk, vh_cuda_set *set, const vh_cuda_hmms *to)
{
    size_t K = (size_t)pk->K;
    int *look = (int *)(uintptr_t)to->look, *state_of = (int *)(uintptr_t)to->state_of;
    memcpy((void *)(uintptr_t)to->S, pk->S, sizeof *pk->S * K);
    memcpy((void *)(uintptr_t)to->M, pk->M, sizeof *pk->M * K);
    memcpy((void *)(uintptr_t)to->state0, pk->state0, sizeof *pk->state0 * K);
    memcpy((void *)(uintptr_t)to->comp0, pk->comp0, sizeof *pk->comp0 * K);
    memcpy((void *)(uintptr_t)to->trans0, pk->trans0, sizeof *pk->trans0 * K);
    memcpy((void *)(uintptr_t)to->pi, pk->pi, sizeof *pk->pi * (size_t)pk->n_state);
    memcpy((void *)(uintptr_t)to->A, pk->A, sizeof *pk->A * pk->n_trans);
    memcpy((void *)(uintptr_t)to->theta, pk->theta, sizeof *pk->theta * vh_cells(pk->n_comp, pk->n_stat));
    set->looks = false;
    set->most_states = 0;
    set->h.sizes = 0;
    for (int k = 0; k < pk->K; k++) {
        look[k] = vh_cuda_looks(pk, k);
        set->looks = set->looks || look[k];
        set->most_states = pk->S[k] > set->most_states ? pk->S[k] : set->most_states;
        set->h.sizes |= 1u << (pk->S[k] <= VH_CUDA_FEW ? pk->S[k] : 0);
        for (int c = pk->comp0[k]; c < pk->comp0[k + 1]; c++)
            state_of[c] = pk->state0[k] + (c - pk->comp0[k]) / pk->M[k];
    }
}

vhem_status vh_cuda_set_put(vhem_ctx *ctx, const vh_packed *pk, vh_cuda_set *set)
{
    vh_cuda_hmms at = {
        .K = pk->K, .n_state = pk->n_state, .n_comp = pk->n_comp, .n_stat = pk->n_stat, .n_trans = pk->n_trans
    };
    size_t bytes = plan(pk, &at);
    VH_AUTOFREE char *host = NULL;

    VH_NEW(host, bytes);
    if (bytes > set->bytes) {
        vh_cuda_set_free(set);
        VH_DEVICE(vh_device_new(bytes, &set->memory));
        set->bytes = bytes;
    }
    const vh_cuda_hmms here = placed(&at, host);
    fill_hmms(pk, set, &here);
    at.sizes = set->h.sizes;
    set->h = placed(&at, set->memory);
    VH_DEVICE(vh_device_put(set->memory, host, bytes));
    return VHEM_OK;
}

void vh_cuda_set_free(vh_cuda_set *set)
{
    vh_device_free(set->memory);
    *set = (vh_cuda_set){ 0 };
}
