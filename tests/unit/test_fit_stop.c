/* SPDX-License-Identifier: BSD-3-Clause */
/* test_fit_stop.c - a fit stopped between any two passes over its frames, with no time left for another: what
 * was learnt by then is handed over. */
#include "engine.h"

#include "core/backend.h"
#include "fit/forward_backward.h"
#include "vhem.h"

/* The `ref` backend, but that one pass is the last before a stop that has been waited for long enough. */
static struct {
    vhem_ctx *ctx;
    int n, last; /* passes so far; the one that stops, or 0 */
} passes;

static vhem_status batch(vhem_ctx *ctx, const vh_seq_chunk *b, vh_scratch *scratch, double *loglik,
                         vh_stats *stats)
{
    vhem_status st = vh_seq_ref.kernel(ctx, b, scratch, loglik, stats);
    if (++passes.n == passes.last) {
        vhem_ctx_stop(passes.ctx);
        atomic_fetch_sub(&passes.ctx->stop_at, 60000);
    }
    return st;
}

/* Fits one HMM.  Returns whether there is one; then it is sound. */
static bool fit(const char *prior, int last)
{
    vhem_ctx *ctx = test_ctx();
    static const vh_seq_kernels stopping = { .kernel = batch };
    vh_backend stops = vh_backend_ref;
    vhem_data *data = NULL;
    vh_h3m *out = NULL;
    vhem_fit_report *report = NULL;
    vhem_fit_options opt;
    int T[] = { 40 };
    vh_rng rng;

    stops.sequences = &stopping;
    ctx->backend = &stops;
    passes.ctx = ctx;
    passes.n = 0;
    passes.last = last;
    vh_rng_init(&rng, 411, VH_RNG_TEST, 0);
    double *y = random_frames(&rng, 40, 1, 1);
    data = wrap(ctx, 1, T, 1, y);
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.S = 2;
    opt.max_iter = 6;
    opt.prior = prior;
    vhem_status st = vh_fit_each(ctx, data, &opt, &out, &report);
    assert_int_equal(st, last ? VHEM_ESTOPPED : VHEM_OK);
    if (out) {
        const vhem_fit_run *best = &report->run[report->best[0]];
        assert_ok(ctx, vh_h3m_validate(ctx, out));
        assert_true(isfinite(best->loglik) && isfinite(best->bound));
    }
    bool kept = out != NULL;
    vh_h3m_free(out);
    vhem_free(report);
    vhem_free(data);
    free(y);
    vhem_free(ctx);
    return kept;
}

static void stopped_late(void **state)
{
    (void)state;
    const char *prior[] = { "none", "vb" };
    for (int p = 0; p < 2; p++) {
        int n_kept = 0;
        assert_true(fit(prior[p], 0));
        const int all = passes.n;
        for (int last = 1; last < all; last++) {
            bool kept = fit(prior[p], last);
            if (n_kept > 0 && !kept)
                fail_msg("prior %s: stopped after pass %d of %d the model is lost, %d earlier stops kept it",
                         prior[p], last, all, n_kept);
            n_kept += kept;
        }
        printf("prior %s: %d passes, kept after each of the last %d\n", prior[p], all, n_kept);
        assert_true(n_kept > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(stopped_late) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
