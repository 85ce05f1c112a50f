/* SPDX-License-Identifier: BSD-3-Clause */
/* forward_backward_lanes.c - copies between chunk tables (a row per state) and groups (a lane per pair). */
#include "simd/forward_backward.h"

#include "simd/vec.h"
#include "core/array2.h"

#include <string.h>

/* Location of a group's lanes in a chunk.  Frames c0 .. c0+n-1 are either whole sequences or part of a single
 * one, so all lanes start at the same t. */
typedef struct {
    int64_t t0;
    int used, common;                     /* number of lanes; frames of the chunk common to all of them */
    int len[VH_LANES];                    /* [used]  frames of each lane */
    size_t row0[VH_LANES], col[VH_LANES]; /* [used]  first row and column of each lane in the table B */
} lane_parts;

static lane_parts find_parts(const vh_fb *j, const vh_fb_group *g, int64_t c0, int n)
{
    lane_parts x = { .t0 = c0 > g->lane[0].f0 ? c0 - g->lane[0].f0 : 0, .used = g->used, .common = n };
    for (int l = 0; l < g->used; l++) {
        const vh_fb_pair *p = &g->lane[l];
        int64_t lo = p->f0 + x.t0, hi = p->f0 + p->T < c0 + n ? p->f0 + p->T : c0 + n;
        x.len[l] = (int)(hi - lo);
        x.common = x.len[l] < x.common ? x.len[l] : x.common;
        x.row0[l] = (size_t)j->pk->state0[p->k];
        x.col[l] = (size_t)(lo - c0);
    }
    return x;
}

/* Loops over lanes inside frames, so that whole registers are written. */
void VH_NAME(vh_fb_scatter)(vh_fb *j, int64_t c0, int n)
{
    for (int i = 0; i < j->n_group; i++) {
        vh_fb_group *g = &j->groups[i];
        lane_parts x = find_parts(j, g, c0, n);
        size_t step = vh_cells(g->S, g->L);
        for (int l = 0; l < x.used; l++) {
            const double *restrict shift = j->shift + (size_t)g->lane[l].k * j->ld + x.col[l];
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int t = 0; t < x.len[l]; t++)
                sum += shift[t];
            g->lane[l].loglik += sum;
        }
        for (int s = 0; s < g->S; s++) {
            double *restrict to = g->B + (vh_ij(x.t0, g->S, s)) * (size_t)g->L;
            const double *from[VH_LANES];
            for (int l = 0; l < VH_LANES; l++)
                from[l] = j->B + (x.row0[l < x.used ? l : 0] + (size_t)s) * j->ld + x.col[l < x.used ? l : 0];
            int t = 0;
            for (; g->L == VH_LANES && t < x.common; t++, to += step)
                for (int l = 0; l < VH_LANES; l++)
                    to[l] = from[l][t];
            for (int l = 0; l < x.used; l++)
                for (int u = t; u < x.len[l]; u++)
                    to[(size_t)(u - t) * step + (size_t)l] = from[l][u];
        }
    }
}

void VH_NAME(vh_fb_scatter_again)(vh_fb_group *g)
{
    size_t step = (size_t)g->L;
    for (int l = 0; l < g->L; l++) {
        const vh_fb_pair *p = &g->lane[l < g->used ? l : 0];
        size_t n = vh_cells(l < g->used ? p->T : g->lane[g->used - 1].T, g->S);
        for (size_t e = 0; e < n; e++)
            g->B[e * step + (size_t)l] = p->dealt[e * (size_t)p->stride];
    }
}

void VH_NAME(vh_fb_collect)(vh_fb *j, int64_t c0, int n)
{
    for (int i = 0; i < j->n_group; i++) {
        vh_fb_group *g = &j->groups[i];
        lane_parts x = find_parts(j, g, c0, n);
        size_t step = vh_cells(g->S, g->L);
        double w[VH_LANES];
        for (int l = 0; l < x.used; l++)
            w[l] = g->lane[l].w;
        for (int s = 0; s < g->S; s++) {
            const double *restrict from = g->B + (vh_ij(x.t0, g->S, s)) * (size_t)g->L;
            double *to[VH_LANES];
            for (int l = 0; l < x.used; l++)
                to[l] = j->B + (x.row0[l] + (size_t)s) * j->ld + x.col[l];
            int t = 0;
            for (; x.used == VH_LANES && t < x.common; t++, from += step)
                for (int l = 0; l < VH_LANES; l++)
                    to[l][t] = w[l] * from[l];
            for (; t < x.common; t++, from += step)
                for (int l = 0; l < x.used; l++)
                    to[l][t] = w[l] * from[l];
            for (int l = 0; l < x.used; l++) {
                for (int u = t; u < x.len[l]; u++)
                    to[l][u] = w[l] * from[(size_t)(u - t) * step + (size_t)l];
                if (g->lane[l].redo) /* may contain NaN */
                    memset(to[l], 0, sizeof *to[l] * (size_t)x.len[l]);
            }
        }
    }
}
