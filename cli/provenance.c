/* SPDX-License-Identifier: BSD-3-Clause */
/* provenance.c - the record of what made a file. */
#include "cli.h"
#include "vhem.h"

#include <stdlib.h>

/* 15 digits say what was typed, 1e-06 and not 9.9999999999999995e-07; 17 when that would lose something. */
static char *dump_short(const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_t *again = text ? json_loads(text, 0, NULL) : NULL;
    if (!json_equal(value, again)) {
        free(text);
        text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(17));
    }
    json_decref(again);
    return text;
}

char *cli_provenance(const cli *c, json_t *options, bool stopped)
{
    json_t *made =
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:I, s:s}", "program", "vhem", "version", vhem_version(),
                  "command", c->command, "input", cli_json_text(c->arg[0]), "options", options, "seed",
                  (json_int_t)c->seed, "backend", vhem_ctx_backend(c->ctx));
    if (stopped)
        json_object_set_new(made, "interrupted", json_true());
    char *text = dump_short(made);
    json_decref(made);
    if (!cli_json_short())
        return text;
    free(text);
    return NULL;
}
