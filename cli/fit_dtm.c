/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_dtm.c - see fit_dtm.h. */
#include "fit_dtm.h"
#include "fit_report.h"

#include <stdlib.h>
#include <string.h>

const char *const fit_of_hmms[] = { "mix", "cov", "init", "topology", "prior", NULL };

static int save(cli *c, const cli_usage *usage, vhem_dtm *dtm, const vhem_fit_report *report,
                const char *output, bool stopped)
{
    char *text = fit_provenance(c, usage, report, fit_of_hmms, stopped);
    if (!text)
        return cli_fail(c, "out of memory");
    vhem_status st = vhem_dtm_set_provenance(c->ctx, dtm, text);
    free(text);
    if (st == VHEM_OK)
        st = vhem_dtm_save(c->ctx, dtm, output);
    return st == VHEM_OK ? CLI_GO : cli_fail(c, "%s", vhem_ctx_error(c->ctx));
}

static void tell(cli *c, const vhem_data *data, const cli_models *m, const vhem_fit_report *report,
                 bool mixture, const char *output, bool stopped)
{
    int K = cli_models_size(m), N = vhem_data_size(data), stable = 0, unsettled = 0;
    double loglik = 0, frames = 0;
    const char *where = strcmp(output, "-") == 0 ? "standard output" : output;

    for (int i = 0; i < report->K; i++) {
        const vhem_fit_run *run = &report->run[(size_t)i * (size_t)report->R + (size_t)report->best[i]];
        loglik += run->loglik;
        frames += (double)report->frames[i];
        stable += run->n_revived;
        unsettled += !run->converged && run->n_iter > 0;
    }
    if (stopped) /* said even with --quiet: the result is not what was asked for */
        cli_fail(c, "interrupted; the best so far, %d texture%s, is in %s", K, cli_plural(K), where);
    else
        cli_say(c,
                "%s%d texture%s from %d sequence%s (%.0f frames) in %s: mean log-likelihood %.4f per frame",
                mixture ? "a mixture of " : "", K, cli_plural(K), N, cli_plural(N), frames, where,
                loglik / frames);
    if (stable)
        cli_say(c, "repairs: A of %d texture%s made stable: as estimated, sequences would grow without end",
                stable, cli_plural(stable));
    if (unsettled && !stopped)
        cli_say(c, "%d %s%s did not settle within --max-iter", unsettled, mixture ? "mixture" : "texture",
                cli_plural(unsettled));
    if (!stopped && !mixture && strcmp(output, "-") != 0)
        cli_say(c,
                "next: 'vhem cluster %s --method hem-dtm -k K' groups them; 'vhem info %s' shows them; "
                "'vhem score' uses them on sequences",
                output, output);
}

int fit_textures(cli *c, const cli_usage *usage, const vhem_data *data, const vhem_dtm_fit_options *opt,
                 const char *output)
{
    vhem_fit_report *report = NULL;
    cli_models m = { 0 };
    vhem_status st = vhem_dtm_fit(c->ctx, data, opt, &m.dtm, &report);
    bool stopped = st == VHEM_ESTOPPED;
    int status = m.dtm && (stopped || st == VHEM_OK) ? save(c, usage, m.dtm, report, output, stopped)
                                                     : cli_status(c, st);
    if (status == CLI_GO) {
        if (c->json)
            cli_json_put(stdout, fit_report_json(c, &m, report, opt->K > 0, output, stopped));
        tell(c, data, &m, report, opt->K > 0, output, stopped);
        status = stopped ? EXIT_STOPPED : EXIT_DONE;
    }
    vhem_fit_report_free(report);
    cli_models_free(&m);
    return status;
}
