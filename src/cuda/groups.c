/* SPDX-License-Identifier: BSD-3-Clause */
/* groups.c - see groups.h. */
#include "cuda/groups.h"

#include "cuda/device.h"
#include "cuda/arena.h"
#include "core/alloc.h"
#include "core/array2.h"

#include <string.h>

static vhem_status find_shapes(vhem_ctx *ctx, const vh_packed *r, vh_cuda_groups *g)
{
    size_t cap = 0;
    for (int k = 0; k < r->K; k++) {
        int q = 0;
        while (q < g->n && (g->group[q].S != r->S[k] || g->group[q].M != r->M[k]))
            q++;
        if (q == g->n) {
            VH_TRY(vh_grow(ctx, &g->group, &cap, (size_t)q + 1, sizeof *g->group));
            g->group[g->n++] = (vh_cuda_centers){ .S = r->S[k], .M = r->M[k] };
        }
        g->group[q].n++;
    }
    return VHEM_OK;
}

/* Writes the numbers of one group to host, at the group's offsets. */
static void fill_group(const vh_packed *r, const vh_cuda_centers *g, char *host)
{
    int *number = vh_place_in(host, NULL, g->number);
    double *pi = vh_place_in(host, NULL, g->pi), *A = (double *)(host + (uintptr_t)g->A),
           *theta = vh_place_in(host, NULL, g->theta);
    size_t *at = vh_place_in(host, NULL, g->at);
    size_t S = (size_t)g->S, C = S * (size_t)g->M, n_stat = (size_t)r->n_stat;
    for (int k = 0; k < r->K; k++) {
        if (r->S[k] != g->S || r->M[k] != g->M)
            continue;
        *number++ = k;
        memcpy(pi, r->pi + r->state0[k], sizeof *pi * S);
        memcpy(A, r->A + r->trans0[k], sizeof *A * S * S);
        memcpy(theta, r->theta + (size_t)r->comp0[k] * n_stat, sizeof *theta * C * n_stat);
        pi += S;
        A += S * S;
        theta += C * n_stat;
        at[0] = (size_t)r->state0[k];
        at[1] = (size_t)r->n_state + r->trans0[k];
        at[2] = (size_t)r->n_state + r->n_trans + (size_t)r->comp0[k] * n_stat;
        at += 3;
    }
}

static void move_groups(vh_cuda_groups *g, char *to)
{
    g->memory = to;
    g->log_omega = vh_place_in(to, NULL, g->log_omega);
    for (int q = 0; q < g->n; q++) {
        vh_cuda_centers *x = &g->group[q];
        x->number = vh_place_in(to, NULL, x->number);
        x->pi = vh_place_in(to, NULL, x->pi);
        x->A = (const double *)(to + (uintptr_t)x->A);
        x->theta = vh_place_in(to, NULL, x->theta);
        x->at = vh_place_in(to, NULL, x->at);
    }
}

vhem_status vh_cuda_groups_new(vhem_ctx *ctx, const vh_packed *r, const double *log_omega,
                               vh_cuda_groups *out)
{
    VH_CLEANUP(vh_cuda_groups_free) vh_cuda_groups g = { 0 };
    VH_AUTOFREE char *host = NULL;
    char *memory = NULL;
    size_t bytes = 0, n_stat = (size_t)r->n_stat;

    VH_TRY(find_shapes(ctx, r, &g));
    VH_PLACE(bytes, g.log_omega, r->K);
    for (int q = 0; q < g.n; q++) {
        vh_cuda_centers *x = &g.group[q];
        size_t n = (size_t)x->n, S = (size_t)x->S, C = S * (size_t)x->M;
        VH_PLACE(bytes, x->number, n);
        VH_PLACE(bytes, x->pi, n * S);
        VH_PLACE(bytes, x->A, n * S * S);
        VH_PLACE(bytes, x->theta, n * C * n_stat);
        VH_PLACE(bytes, x->at, 3 * n);
    }
    VH_NEW(host, bytes);
    if (log_omega)
        memcpy(vh_place_in(host, NULL, g.log_omega), log_omega, sizeof *log_omega * (size_t)r->K);
    for (int q = 0; q < g.n; q++)
        fill_group(r, &g.group[q], host);
    VH_DEVICE(vh_device_new(bytes, &memory));
    move_groups(&g, memory);
    VH_DEVICE(vh_device_put(memory, host, bytes));
    *out = g;
    g = (vh_cuda_groups){ 0 };
    return VHEM_OK;
}

void vh_cuda_groups_free(vh_cuda_groups *g)
{
    vh_device_free(g->memory);
    free(g->group);
    *g = (vh_cuda_groups){ 0 };
}

vh_cuda_centers vh_cuda_part(const vh_cuda_centers *group, int first, int n, int n_stat)
{
    vh_cuda_centers x = *group;
    size_t k = (size_t)first, S = (size_t)x.S;
    x.n = n;
    x.number += k;
    x.pi += k * S;
    x.A += k * S * S;
    x.theta += k * S * vh_cells(x.M, n_stat);
    x.at += 3 * k;
    return x;
}
