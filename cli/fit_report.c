/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_report.c - see fit_report.h. */
#include "fit_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAME = 1e-3; /* nats per frame: restarts this close found the same optimum */

char *fit_provenance(const cli *c, const cli_usage *usage, const vhem_fit_report *report,
                     const char *const *without, bool stopped)
{
    json_t *options = cli_options_json(usage);
    for (; *without; without++)
        json_object_del(options, *without);
    json_object_set_new(options, "restarts", json_integer(report->R));
    return cli_provenance(c, options, stopped);
}

static const vhem_fit_run *run_of(const vhem_fit_report *report, int i, int r)
{
    return &report->run[(size_t)i * (size_t)report->R + (size_t)r];
}

/* The bound is that of the evidence, which only fits with a prior have. */
static json_t *run_json(const vhem_fit_run *run, bool prior)
{
    json_t *out =
        json_pack("{s:o, s:i, s:b, s:i, s:i}", "loglik", cli_json_real(run->loglik), "n_iter", run->n_iter,
                  "converged", run->converged, "revived", run->n_revived, "floored", run->n_floored);
    if (prior)
        json_object_set_new(out, "bound", cli_json_real(run->bound));
    return out;
}

/* Row i of the report: a model, or the whole mixture. */
static json_t *row_json(const vhem_fit_report *report, int i, json_t *name, bool prior)
{
    json_t *runs = json_array();
    for (int r = 0; r < report->R; r++)
        json_array_append_new(runs, run_json(run_of(report, i, r), prior));
    double loglik = run_of(report, i, report->best[i])->loglik;
    return json_pack("{s:o, s:I, s:o, s:o, s:i, s:o}", "name", name, "frames", (json_int_t)report->frames[i],
                     "loglik", cli_json_real(loglik), "per_frame",
                     cli_json_real(loglik / (double)report->frames[i]), "best", report->best[i], "restarts",
                     runs);
}

static json_t *mixture_json(const cli_models *m, const vhem_fit_report *report)
{
    json_t *row = row_json(report, 0, json_string("mixture"), false), *omega = json_array();
    for (int j = 0; j < cli_models_size(m); j++)
        json_array_append_new(omega, cli_json_real(cli_models_omega(m, j)));
    json_object_set_new(row, "K", json_integer(cli_models_size(m)));
    json_object_set_new(row, "omega", omega);
    return row;
}

json_t *fit_report_json(const cli *c, const cli_models *m, const vhem_fit_report *report, bool mixture,
                        const char *output, bool stopped)
{
    json_t *models = json_array();
    bool prior = m->h3m && vhem_h3m_prior(m->h3m);
    char buf[32];
    for (int i = 0; !mixture && i < report->K; i++)
        json_array_append_new(
            models, row_json(report, i, cli_json_text(cli_models_name(m, i, buf, sizeof buf)), prior));
    if (mixture)
        json_array_append_new(models, mixture_json(m, report));
    return json_pack("{s:s, s:o, s:o, s:I, s:s, s:b, s:o}", "command", c->command, "input",
                     cli_json_text(c->arg[0]), "output", cli_json_text(output), "seed", (json_int_t)c->seed,
                     "backend", vhem_ctx_backend(c->ctx), "interrupted", stopped, "models", models);
}

typedef struct {
    double loglik;
    int64_t frames;
    int agreed, unconverged, revived, floored;
} totals;

static totals add_up(const vhem_fit_report *report)
{
    totals t = { 0 };
    for (int i = 0; i < report->K; i++) {
        const vhem_fit_run *best = run_of(report, i, report->best[i]);
        int same = 0;
        t.loglik += best->loglik;
        t.frames += report->frames[i];
        t.unconverged += !best->converged;
        t.revived += best->n_revived;
        t.floored += best->n_floored;
        for (int r = 0; r < report->R; r++)
            same += fabs(run_of(report, i, r)->bound - best->bound) <= SAME * (double)report->frames[i];
        t.agreed += same > 1;
    }
    return t;
}

static void what_next(cli *c, bool mixture, const char *output)
{
    if (strcmp(output, "-") != 0 && mixture)
        cli_say(c, "next: 'vhem info %s' shows it; 'vhem score' and 'vhem decode' use it on sequences",
                output);
    else if (strcmp(output, "-") != 0)
        cli_say(c,
                "next: 'vhem cluster %s -k K' groups them; 'vhem info %s' shows them; 'vhem score' and "
                "'vhem decode' use them on sequences",
                output, output);
}

static void tell_agreement(cli *c, const vhem_fit_report *report, const totals *t, bool mixture)
{
    int same = 0;
    for (int r = 0; mixture && r < report->R; r++)
        same += fabs(report->run[r].loglik - t->loglik) <= SAME * (double)t->frames;
    if (mixture && report->R > 1)
        cli_say(c, "%d of %d restarts reached this likelihood%s", same, report->R,
                same < 2 ? "; more --restarts may find a better one" : "");
    else if (report->R > 1)
        cli_say(c, "in %d of %d HMM%s at least 2 of %d restarts agree on the best%s", t->agreed, report->K,
                cli_plural(report->K), report->R,
                2 * t->agreed < report->K ? "; more --restarts may find better ones" : "");
    if (t->unconverged)
        cli_say(c, "%d %s%s did not settle within --max-iter", t->unconverged, mixture ? "mixture" : "HMM",
                cli_plural(t->unconverged));
}

/* Fewer than FEW numbers seen for each one estimated: a variance by itself then wants 10 frames, and one of a
 * full matrix more with every dimension. */
static void tell_of_few_frames(cli *c, const vhem_h3m *h3m, const totals *t)
{
    enum { FEW = 5 };
    vhem_hmm_view v;
    vhem_h3m_view(h3m, 0, &v);
    bool full = strcmp(v.emission, "gaussian-full") == 0;
    double per = (double)t->frames / vhem_h3m_size(h3m) / (v.S * v.M);
    if (per >= FEW * (full ? 1 + (v.d + 1) / 2.0 : 2))
        return;
    cli_say(c, "about %.0f frames for each %s are few for %d dimension%s%s: %s", per,
            v.M > 1 ? "component" : "state", v.d, cli_plural(v.d), full ? " and full covariances" : "",
            vhem_h3m_prior(h3m) ? "the prior draws variances towards those of all states together"
                                : "variances may be far too small; --prior vb, or fewer --states, help");
}

void fit_summary(cli *c, const vhem_data *data, const vhem_h3m *h3m, const vhem_fit_report *report,
                 bool mixture, const char *output, bool stopped)
{
    totals t = add_up(report);
    int K = vhem_h3m_size(h3m), N = vhem_data_size(data);
    bool piped = strcmp(output, "-") == 0;
    const char *where = piped ? "standard output" : output;

    if (stopped) /* said even with --quiet: the result is not what was asked for */
        cli_fail(c, "interrupted; the best so far, %d HMM%s, is %s %s", K, cli_plural(K),
                 piped ? "written to" : "saved in", where);
    else
        cli_say(c, "%s%d HMM%s from %d sequence%s (%lld frame%s) in %s: mean log-likelihood %.4f per frame",
                mixture ? "a mixture of " : "", K, cli_plural(K), N, cli_plural(N), (long long)t.frames,
                cli_plural(t.frames), where, t.loglik / (double)t.frames);
    if (t.revived)
        cli_say(c, "repairs: %d dead state%s or component%s revived", t.revived, cli_plural(t.revived),
                cli_plural(t.revived));
    if (t.floored)
        cli_say(c, "repairs: %d covariance%s held at --cov-floor", t.floored, cli_plural(t.floored));
    if (stopped)
        t.unconverged = 0;
    if (!mixture && K > 0)
        tell_of_few_frames(c, h3m, &t);
    tell_agreement(c, report, &t, mixture);
    if (!stopped)
        what_next(c, mixture, output);
}
