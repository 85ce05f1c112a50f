/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_pieces.c - vhem fit --store: each sequence or group by itself, kept as soon as it is done. */
#include "fit_report.h"

#include <stdlib.h>

static int save(cli *c, const cli_usage *usage, const char *output, vhem_h3m *h3m)
{
    json_t *options = cli_options_json(usage);
    json_object_del(options, "store"); /* where the work was kept does not change what it came to */
    char *made = cli_provenance(c, options, false);
    if (!made)
        return cli_fail(c, "out of memory");
    vhem_status st = vhem_h3m_set_provenance(c->ctx, h3m, made);
    free(made);
    return cli_status(c, st == VHEM_OK ? vhem_h3m_save(c->ctx, h3m, output) : st);
}

int fit_pieces(cli *c, const cli_usage *usage, const vhem_data *data, const vhem_fit_options *opt,
               const char *store, const char *output)
{
    vhem_h3m *h3m = NULL;
    vhem_status st = vhem_fit_pieces(c->ctx, data, opt, store, &h3m);
    if (st == VHEM_ESTOPPED) {
        cli_fail(c, "interrupted; what is fitted is in %s, the same command goes on from there", store);
        return EXIT_STOPPED;
    }
    int status = st == VHEM_OK ? save(c, usage, output, h3m) : cli_status(c, st);
    int K = h3m ? vhem_h3m_size(h3m) : 0;
    if (status == CLI_GO && c->json)
        cli_json_put(stdout, json_pack("{s:s, s:o, s:o, s:i}", "command", c->command, "output",
                                       cli_json_text(output), "store", cli_json_text(store), "K", K));
    if (status == CLI_GO)
        cli_say(c, "%d HMM%s, kept in %s -> %s", K, cli_plural(K), store, output);
    vhem_h3m_free(h3m);
    return status == CLI_GO ? EXIT_DONE : status;
}
