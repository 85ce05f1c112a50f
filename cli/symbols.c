/* SPDX-License-Identifier: BSD-3-Clause */
/* symbols.c - texts of sequences in files that hold numbers alone. */
#include "cli.h"
#include "vhem.h"

#include <string.h>

bool cli_holds_text(const char *path)
{
    return strcmp(path, "-") == 0 || cli_ends_with(path, cli_table_endings);
}

void cli_tell_symbols(cli *c, const vhem_data *data, const char *output)
{
    enum { ROOM = 400 };
    vhem_data_facts facts;
    vhem_data_info(data, &facts);
    for (int k = 0; facts.symbols && !cli_holds_text(output) && k < facts.d; k++) {
        const vhem_symbols *of = &facts.symbols[k];
        char list[ROOM + 64] = "";
        size_t at = 0;
        int v = 0;
        for (; v < of->n && at + strlen(of->name[v]) + 16 < ROOM; v++)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%d %s", v ? ", " : "", v, of->name[v]);
        if (v < of->n)
            snprintf(list + at, sizeof list - at, "%s%d more", v ? " and " : "", of->n - v);
        if (of->n > 0)
            cli_say(c, "warning: column '%s' is written as numbers: %s", facts.column[k], list);
    }
}
