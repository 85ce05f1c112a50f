/* SPDX-License-Identifier: BSD-3-Clause */
/* families.c - which emissions the values of sequences look like. */
#include "cli.h"
#include "vhem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Do columns look like counts, bits or angles though the states emit Gaussians? */
static const double PI = 3.14159265358979323846;

typedef struct {
    double least, most;
    bool whole; /* every value is a whole number */
    int64_t n;  /* values that are not missing */
} column;

static void look(const vhem_data *data, const vhem_data_facts *facts, column *col)
{
    for (int k = 0; k < facts->d; k++)
        col[k] = (column){ .least = INFINITY, .most = -INFINITY, .whole = true };
    for (int64_t n = 0; n < facts->N; n++) {
        vhem_seq_view seq = cli_sequence_at(data, n);
        for (int64_t i = 0; i < seq.T * facts->d; i++) {
            column *c = &col[i % facts->d];
            double y = seq.y[i];
            if (isnan(y))
                continue;
            c->least = fmin(c->least, y);
            c->most = fmax(c->most, y);
            c->whole = c->whole && y == floor(y);
            c->n++;
        }
    }
}

typedef struct { /* what a column can look like */
    const char *family, *words;
} kind;

static const kind counts = { "poisson", "counts, whole numbers of 0 or more" };
static const kind bits = { "bernoulli", "bits, 0 or 1" };
static const kind angles = { "von-mises", "angles" };

/* What a column is that another family suits better than Gaussians; NULL: Gaussians will do. */
static const kind *better(const column *c)
{
    enum { ENOUGH = 20 }; /* values: fewer may be anything */
    double width = c->most - c->least;
    if (c->n == 0 || !(width > 0))
        return NULL;
    if (c->whole && c->least >= 0 && c->most <= 1)
        return &bits;
    /* Counts come near 0.  Whole numbers far from it, as of blood pressures, are measurements that were
     * rounded. */
    if (c->whole && c->least >= 0 && c->least <= c->most / 5)
        return &counts;
    bool turn =
        (c->least >= -PI - 1e-3 && c->most <= PI + 1e-3) || (c->least >= 0 && c->most <= 2 * PI + 1e-3);
    return turn && width > 1.75 * PI && c->n >= ENOUGH ? &angles : NULL;
}

/* Adds "name:family" to a list; where there is no room for it, dots say that the list goes on. */
static void add_part(char *list, size_t size, const char *name, const char *family)
{
    static const char dots[] = ",...";
    size_t at = strlen(list);
    if (at >= strlen(dots) && strcmp(list + at - strlen(dots), dots) == 0)
        return;
    if (at + strlen(name) + strlen(family) + 2 + sizeof dots < size)
        snprintf(list + at, size - at, "%s%s:%s", at > 0 ? "," : "", name, family);
    else
        snprintf(list + at, size - at, "%s", dots);
}

static void tell_better(cli *c, const vhem_data_facts *facts, const column *col, bool text)
{
    char list[512] = "";
    int found = 0, same = 0;
    const kind *first = NULL;
    for (int k = 0; k < facts->d; k++) {
        const kind *other = better(&col[k]);
        first = found == 0 ? other : first;
        found += other != NULL;
        same += other && other == first;
        add_part(list, sizeof list, facts->column[k], other ? other->family : "gaussian-diag");
    }
    int n_text = 0;
    for (int k = 0; k < facts->n_text; k++) {
        if (strcasecmp(facts->text_column[k], "group") == 0) /* it says who the sequences belong to */
            continue;
        add_part(list, sizeof list, facts->text_column[k], "categorical");
        n_text++;
    }
    const char *texts = n_text == 0 ? "" : ", and takes text columns as symbols";
    bool every = same == facts->d, plain = every && n_text == 0;
    if (found > 0)
        cli_say(c, "%s look like %s: --emission %s%s%s may suit them better than Gaussians%s",
                every ? "all columns" : "some columns",
                found > same ? "counts, bits or angles" : first->words, plain ? "" : "'",
                plain ? first->family : list, plain ? "" : "'", texts);
    else if (n_text > 0 && text)
        cli_say(c, "if the text column%s hold%s symbols, --emission '%s' takes them", cli_plural(n_text),
                n_text == 1 ? "s" : "", list);
}

void cli_tell_families(cli *c, const vhem_data *data, bool text)
{
    const vhem_data_facts facts = cli_data_facts(data);
    CLI_AUTOFREE column *col = calloc((size_t)facts.d, sizeof *col);
    if (!col)
        return;
    look(data, &facts, col);
    tell_better(c, &facts, col, text);
}
