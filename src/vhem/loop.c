/* SPDX-License-Identifier: BSD-3-Clause */
/* loop.c - see loop.h. */
#include "vhem/loop.h"

#include "core/alloc.h"

#include <math.h>

void vh_vhem_run_free(vh_vhem_run *run)
{
    free(run->J);
    free(run->z);
    free(run->L);
    free(run->label);
    *run = (vh_vhem_run){ 0 };
}

/* Maximises J, or its lower bound, eq. 35: an E-step makes the bound tight, an M-step raises it, eq. 56. */
vhem_status vh_hem_run(vhem_ctx *ctx, const vh_hem *em, void *model, int max_iter, vh_vhem_run *run)
{
    bool repaired = false;

    VH_NEW(run->J, max_iter + 1);
    run->n_iter = -1;
    for (int k = 0;; k++) {
        VH_TRY(em->expect(ctx, model, k == max_iter, &run->J[k]));
        run->n_iter = k;
        run->converged = em->converged(ctx, model, k, repaired, run);
        if (k == max_iter || run->converged || vh_stopped(ctx))
            return VHEM_OK;
        VH_TRY(em->maximise(ctx, model));
        VH_TRY(em->repair(ctx, model, k, run, &repaired));
    }
}

/* A repair may empty another cluster, which is repaired next, and so on to the last iteration.  So repairs
 * end once they no longer raise the best bound. */
static void watch_repairs(const vh_vhem_options *opt, double J, bool repaired, vh_vhem_run *run)
{
    bool gained =
        !(opt->tol > 0 && J - run->best < opt->tol * fmax(fabs(run->best - opt->constant * opt->N), 1e-300));
    if (run->idle < VH_MOST_IDLE)
        run->idle = repaired && !gained ? run->idle + 1 : 0;
    run->best = fmax(run->best, J);
}

bool vh_vhem_converged(vhem_ctx *ctx, const vh_vhem_options *opt, int k, bool repaired, vh_vhem_run *run)
{
    if (k == 0)
        run->best = run->J[0];
    else
        watch_repairs(opt, run->J[k], repaired, run);
    if (k == 0 || repaired)
        return false;
    double change = run->J[k] - run->J[k - 1],
           size = fmax(fabs(run->J[k - 1] - opt->constant * opt->N), 1e-300);
    if (change < -1e-9 * (size + opt->N * 1e-6) && opt->cov_add == 0) {
        run->n_fell++;
        vh_log(ctx, VHEM_LOG_DEBUG, "the bound fell from %.12g to %.12g in iteration %d", run->J[k - 1],
               run->J[k], k);
    }
    return opt->tol > 0 && k >= opt->min_iter && fabs(change) / size < opt->tol;
}
