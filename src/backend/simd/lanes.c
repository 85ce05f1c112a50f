/* lanes.c - see lanes.h and, for the recursions, lanes_body.h.  Rabiner 1989, section V.A.
 *
 * When is scaling safe?  A path is lost where its alpha or B falls below 1e-304 and is flushed to zero.  The true
 * posterior of what is lost at (t, s) is at most 1e-304 beta_t(s), in the normalisation sum_s alpha beta = 1.  So if
 * every beta_t(s), and every 1/c_t, stayed below 1e280, nothing was lost that matters.  `doubt` is their sum; when it
 * is larger the caller redoes the lane in logs.  3 S^2 multiply-adds, one division, one log per lane and frame. */
#include "backend/simd/lanes.h"

#include "backend/simd/vec.h"
#include "backend/simd/vmath.h"

#include <string.h>

enum { WRITTEN_OUT = 10 };
#define INLINE static inline __attribute__((always_inline))

#define LANE       vec
#define LANE_COUNT VH_LANES
#define BODY(f)    f##_n
#include "backend/simd/lanes_body.h"
#undef LANE
#undef LANE_COUNT
#undef BODY

#define LANE       double
#define LANE_COUNT 1
#define BODY(f)    f##_1
#include "backend/simd/lanes_body.h"

/* log p(y) = -sum_t log r_t over the frames of each lane. */
static void sum_logs(int L, vh_lanes *g)
{
    for (int l = 0; l < L; l++) {
        double sum = 0, doubt = 0;
#pragma omp simd reduction(+ : sum, doubt)
        for (int64_t t = 0; t < g->length[l]; t++) {
            sum -= log(g->r[t * L + l]);
            doubt += g->r[t * L + l];
        }
        g->loglik[l] = sum;
        g->doubt[l] = doubt;
    }
}

void VH_NAME(vh_lanes_forward)(int L, vh_lanes *g)
{
    if (L == 1)
        forward_1(g);
    else
        forward_n(g);
    sum_logs(L, g);
}

void VH_NAME(vh_lanes_backward)(int L, vh_lanes *g)
{
    if (L == 1)
        backward_1(g);
    else
        backward_n(g);
}
