/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_states.c - HMMs with as many states as each of them needs.
 *
 * Every number of states is fitted with the same prior, and each item keeps the number with the largest bound
 * of the log-evidence: an unneeded state costs more in divergence from the prior than it gains.  The bound is
 * that of one labelling of states and components; S! (M!)^S labellings are equally good, which counts if the
 * topology lets states be permuted. */
#include "core/alloc.h"
#include "core/array2.h"
#include "fit/fit.h"
#include "fit/fit_prior.h"
#include "fit/options.h"
#include "math/gamma.h"

#include <math.h>
#include <string.h>

enum { AUTO_LEAST = 1, AUTO_MOST = 6, MOST_TRIED = 50 };

typedef struct {
    int lo, hi, n; /* range of numbers of states, and how many of them have been fitted */
    vh_h3m **h3m;  /* [hi - lo + 1] */
    vhem_fit_report **report;
} tried;

static void tried_free(tried *t)
{
    for (int k = 0; k <= t->hi - t->lo && t->h3m && t->report; k++) {
        vh_h3m_free(t->h3m[k]);
        vh_object_free(t->report[k]);
    }
    free(t->h3m);
    free(t->report);
}

static vhem_status check_states(vhem_ctx *ctx, const vhem_fit_options *o, int lo, int hi)
{
    VH_CHECK(hi >= lo, VHEM_EINVAL, "S_max is %d, must be at least S, which is %d", hi, lo);
    VH_CHECK(hi - lo < MOST_TRIED, VHEM_EINVAL,
             "%d to %d states would be %d fits of every model, at most %d are tried: give a narrower range",
             lo, hi, hi - lo + 1, MOST_TRIED);
    VH_CHECK(!o->start && !o->fixed_pi && !o->fixed_A, VHEM_EINVAL,
             "a given start and a given topology have their number of states: there is nothing to choose");
    return VHEM_OK;
}

/* The number of states is chosen by variational Bayes, which not all families support. */
static vhem_status check_family(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt)
{
    const vh_shape shape = vh_fit_shape(data);
    vhem_fit_options o;

    VH_TRY(vh_fit_resolve(ctx, data, opt, &o));
    return vh_prior_require(ctx, vh_fit_family(data, &o), &shape);
}

/* The criterion to choose a fit. */
static double value_of(const vhem_fit_options *o, const vhem_fit_report *r, int64_t i, int S, int M)
{
    bool free_order = !o->topology || strcmp(o->topology, "free") == 0;
    double names = (free_order ? vh_lgamma(S + 1) : 0) + S * vh_lgamma(M + 1);
    return r->run[vh_ij(i, r->R, r->best[i])].bound + names;
}

/* A state with a single frame has no spread, and one with none costs nothing while the number of labellings
 * counts: at most as many states as half the frames, or the minimum allowed. */
static int best_of(const tried *t, const vhem_fit_options *o, int64_t i)
{
    int best = 0;
    double top = -INFINITY;
    for (int k = 0; k < t->n && (k == 0 || 2 * (int64_t)(t->lo + k) <= t->report[k]->frames[i]); k++) {
        double value = value_of(o, t->report[k], i, t->lo + k, t->h3m[k]->hmm[i].M);
        if (value > top) {
            top = value;
            best = k;
        }
    }
    return best;
}

/* Copies each HMM from its best fit, with its row of the report. */
static vhem_status compose(vhem_ctx *ctx, const tried *t, const vhem_fit_options *o, vh_h3m **out,
                           vhem_fit_report **report)
{
    const vh_h3m *any = t->h3m[0];
    int64_t K = any->K;
    int R = t->report[0]->R;
    VH_OWN(vh_h3m) *h3m = NULL;
    VH_OWN(vhem_fit_report) *rows = NULL;

    VH_TRY(vh_h3m_new(ctx, any->family, any->shape, K, &h3m));
    VH_TRY(vh_fit_report_new(ctx, K, R, &rows));
    for (int64_t i = 0; i < K; i++) {
        int k = best_of(t, o, i);
        const vh_hmm *from = &t->h3m[k]->hmm[i];
        h3m->omega[i] = any->omega[i];
        VH_TRY(vh_h3m_shape(ctx, h3m, i, from->S, from->M));
        vh_hmm_copy(&h3m->hmm[i], from);
        VH_TRY(vh_h3m_set_text(ctx, &h3m->hmm[i].name, from->name));
        VH_TRY(vh_h3m_set_text(ctx, &h3m->hmm[i].label, from->label));
        VH_TRY(vh_h3m_set_text(ctx, &h3m->hmm[i].extra, from->extra));
        rows->best[i] = t->report[k]->best[i];
        rows->frames[i] = t->report[k]->frames[i];
        memcpy(rows->run + vh_row(i, R), t->report[k]->run + vh_row(i, R), sizeof *rows->run * (size_t)R);
    }
    h3m->lengths = any->lengths;
    VH_TRY(vh_h3m_set_text(ctx, &h3m->prior, any->prior));
    *out = vh_take(h3m);
    if (report) {
        *report = vh_take(rows);
    }
    return VHEM_OK;
}

/* Fits all numbers of states; after VHEM_ESTOPPED, t holds those that were finished. */
static vhem_status try_all(vhem_ctx *ctx, const vhem_data *data, vhem_fit_options *o, tried *t)
{
    vhem_status st = VHEM_OK;
    for (; t->lo + t->n <= t->hi; t->n++) {
        vh_h3m *h3m = NULL;
        vhem_fit_report *report = NULL;
        o->S = t->lo + t->n;
        st = vh_fit_each(ctx, data, o, &h3m, &report);
        t->h3m[t->n] = h3m;
        t->report[t->n] = report;
        if (st != VHEM_OK)
            break;
    }
    return st;
}

vhem_status vh_fit_states(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vh_h3m **out,
                          vhem_fit_report **report)
{
    vhem_fit_options o = *opt;
    bool automatic = opt->S == VHEM_AUTO;
    VH_CLEANUP(tried_free)
    tried t = { .lo = automatic || opt->S < 1 ? AUTO_LEAST : opt->S,
                .hi = automatic ? AUTO_MOST : opt->S_max };
    VH_AUTOFREE char *prior = NULL;

    VH_TRY(check_states(ctx, opt, t.lo, t.hi));
    int n = t.hi - t.lo + 1;
    VH_NEW(t.h3m, n);
    VH_NEW(t.report, n);
    o.S_max = t.hi; /* marks each fit as one of many */
    o.S = t.hi;
    VH_TRY(check_family(ctx, data, &o));
    VH_TRY(vh_fit_prior_text(ctx, data, &o, &prior));
    VH_CHECK(prior, VHEM_EINVAL,
             "the number of states is chosen by variational Bayes, which needs a prior: not " VH_OPT(
                 "prior=none"));
    o.prior = prior;
    vhem_status st = try_all(ctx, data, &o, &t);
    if (st == VHEM_ESTOPPED && t.n == 0) { /* no choice: return the partial fit */
        *out = t.h3m[0];
        t.h3m[0] = NULL;
        if (report) {
            *report = t.report[0];
            t.report[0] = NULL;
        }
        return st;
    }
    if (st == VHEM_OK || st == VHEM_ESTOPPED)
        VH_TRY(compose(ctx, &t, opt, out, report));
    return st;
}
