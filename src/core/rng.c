/* SPDX-License-Identifier: BSD-3-Clause */
/* rng.c - Philox 2x64 (Random123), a counter-based generator: number k of item i under a seed is a function
 * of (seed, i, k), so work can be distributed to threads in any way. */
#include "core/rng.h"

#include <Random123/philox.h>
#include <math.h>

void vh_rng_init(vh_rng *rng, uint64_t seed, uint32_t purpose, uint64_t item)
{
    *rng = (vh_rng){ .key = { seed, purpose }, .ctr = { item, 0 } };
}

uint64_t vh_rng_bits(vh_rng *rng)
{
    if (rng->left == 0) {
        /* Philox 2x64 has one key word; the purpose goes into the upper bits of the position. */
        philox2x64_key_t key = { { rng->key[0] } };
        philox2x64_ctr_t ctr = { { rng->ctr[0], rng->ctr[1] | rng->key[1] << 48 } };
        philox2x64_ctr_t out = philox2x64(ctr, key);
        rng->block[0] = out.v[0];
        rng->block[1] = out.v[1];
        rng->ctr[1]++;
        rng->left = 2;
    }
    return rng->block[--rng->left];
}

uint64_t vh_rng_seed(uint64_t seed, uint64_t k)
{
    vh_rng rng;
    if (k == 0)
        return seed;
    vh_rng_init(&rng, seed, VH_RNG_RESTART, k);
    return vh_rng_bits(&rng) >> 11;
}

double vh_rng_uniform(vh_rng *rng)
{
    return (double)(vh_rng_bits(rng) >> 11) * 0x1p-53;
}

double vh_rng_exponential(vh_rng *rng)
{
    return -log1p(-vh_rng_uniform(rng));
}

double vh_rng_normal(vh_rng *rng)
{
    if (rng->have_normal) {
        rng->have_normal = 0;
        return rng->normal;
    }
    double r = sqrt(2.0 * vh_rng_exponential(rng));
    double a = 6.283185307179586 * vh_rng_uniform(rng);
    rng->normal = r * sin(a);
    rng->have_normal = 1;
    return r * cos(a);
}

int64_t vh_rng_below(vh_rng *rng, int64_t n)
{
    /* Rejects the incomplete last run of n, so that every index is equally likely. */
    uint64_t m = (uint64_t)n, limit = UINT64_MAX - UINT64_MAX % m, x;
    do
        x = vh_rng_bits(rng);
    while (x >= limit);
    return (int64_t)(x % m);
}

int64_t vh_rng_pick(vh_rng *rng, int64_t n, const double *p)
{
    double u = vh_rng_uniform(rng);
    int64_t last = 0; /* last possible index: rounding may leave u above the sum */
    for (int64_t i = 0; i < n; i++) {
        if (p[i] > 0) {
            if (u < p[i])
                return i;
            u -= p[i];
            last = i;
        }
    }
    return last;
}

void vh_rng_spread(vh_rng *rng, int64_t K, int n, int64_t *pick)
{
    for (int i = 0; i < n; i++) {
        int64_t lo = K * i / n, hi = K * (i + 1) / n;
        pick[i] = lo + vh_rng_below(rng, hi - lo);
    }
}

/* Knuth's algorithm S. */
void vh_rng_subset(vh_rng *rng, int64_t K, int64_t n, int64_t *pick)
{
    int64_t found = 0;
    for (int64_t i = 0; found < n; i++)
        if ((double)(K - i) * vh_rng_uniform(rng) < (double)(n - found))
            pick[found++] = i;
}
