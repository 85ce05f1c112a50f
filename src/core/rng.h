/* SPDX-License-Identifier: BSD-3-Clause */
/* rng.h - random numbers from (seed, stream, position), independent of the thread that draws them. */
#ifndef VH_CORE_RNG_H
#define VH_CORE_RNG_H

#include <stdint.h>

typedef struct {
    uint64_t key[2]; /* seed and purpose */
    uint64_t ctr[2]; /* item, position */
    uint64_t block[2];
    int left; /* numbers left in block */
    int have_normal;
    double normal;
} vh_rng;

/* purpose separates the uses of one seed (start, sample, ...); item is the index of the item drawn for. */
enum {
    VH_RNG_SAMPLE = 1,
    VH_RNG_INIT,
    VH_RNG_REVIVE,
    VH_RNG_TEST,
    VH_RNG_RESTART,
    VH_RNG_SPLIT,
    VH_RNG_COMPARE,
    VH_RNG_CLASS,
    VH_RNG_DEMO
};
void vh_rng_init(vh_rng *rng, uint64_t seed, uint32_t purpose, uint64_t item);
/* Seed number k derived from a seed.  Number 0 is the seed itself; the others fit into 53 bits, so that every
 * JSON reader can hold them. */
uint64_t vh_rng_seed(uint64_t seed, uint64_t k);
uint64_t vh_rng_bits(vh_rng *rng);
double vh_rng_uniform(vh_rng *rng);           /* in [0, 1), 53 bits */
double vh_rng_normal(vh_rng *rng);            /* mean 0, variance 1 */
double vh_rng_exponential(vh_rng *rng);       /* mean 1 */
int64_t vh_rng_below(vh_rng *rng, int64_t n); /* 0 .. n-1 */
int64_t vh_rng_pick(vh_rng *rng, int64_t n,
                    const double *p); /* index with probabilities p [n], which sum to 1 */

/* Fills pick [n], ascending: one of K numbers from each of n equal intervals, without repeats. */
void vh_rng_spread(vh_rng *rng, int64_t K, int n, int64_t *pick);
/* Fills pick [n], ascending: n of K numbers, each choice as likely as every other. */
void vh_rng_subset(vh_rng *rng, int64_t K, int64_t n, int64_t *pick);

#endif
