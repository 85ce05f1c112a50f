/* SPDX-License-Identifier: BSD-3-Clause */
/* choose_table.c - the rows of vhem choose as a table and as JSON, and the best of them. */
#include "choose.h"

#include <math.h>
#include <string.h>

const choose_criterion choose_criteria[N_CRITERIA] = {
    [CHOOSE_EVIDENCE] = { "evidence", "largest evidence", offsetof(vhem_choice, evidence), true, 1 },
    [CHOOSE_STABILITY] = { "stability", "most stable", offsetof(vhem_choice, stability), true, 0.02 },
    [CHOOSE_BIC] = { "bic", "smallest BIC", offsetof(vhem_choice, bic), false, 2 },
    [CHOOSE_ICL] = { "icl", "smallest ICL", offsetof(vhem_choice, icl), false, 2 },
};

const choose_column choose_columns[N_CHOOSE_COLUMNS] = {
    { "bound", offsetof(vhem_choice, bound), 2 },
    { "loglik", offsetof(vhem_choice, loglik), 2 },
    { "n_param", offsetof(vhem_choice, n_param), 0 },
    { "bic", offsetof(vhem_choice, bic), 2 },
    { "icl", offsetof(vhem_choice, icl), 2 },
    { "stability", offsetof(vhem_choice, stability), 3 },
    { "evidence", offsetof(vhem_choice, evidence), 2 },
    { "frames", offsetof(vhem_choice, frames), 1 },
    { "K_used", offsetof(vhem_choice, K_used), 0 },
    { "S_used", offsetof(vhem_choice, S_used), 0 },
    { "same_runs", offsetof(vhem_choice, same_runs), 3 },
    { "same_seeds", offsetof(vhem_choice, same_seeds), 3 },
};

static double number_at(const vhem_choice *row, size_t at)
{
    double x;
    memcpy(&x, (const char *)row + at, sizeof x);
    return x;
}

/* The number of a row, larger is better; -INFINITY where it is not judged by this criterion. */
static double worth(const choose_rows *t, int criterion, int i)
{
    const choose_criterion *k = &choose_criteria[criterion];
    const vhem_choice *row = &t->row[i];
    double x = k->most ? number_at(row, k->at) : -number_at(row, k->at);
    return row->K == 0 || row->path || !isfinite(x) ? -INFINITY : x;
}

double choose_top(const choose_rows *t, int criterion)
{
    double top = -INFINITY;
    for (int i = 0; i < t->n; i++)
        top = fmax(top, worth(t, criterion, i));
    return top;
}

bool choose_like_top(const choose_rows *t, int criterion, double top, int i)
{
    double x = worth(t, criterion, i);
    return isfinite(x) && x > top - choose_criteria[criterion].equal;
}

int choose_best(const choose_rows *t, int criterion)
{
    double top = choose_top(t, criterion);
    int best = -1;
    if (criterion == CHOOSE_STABILITY && !(top >= CHOOSE_STABLE)) /* the best of those that are not stable */
        return -1;
    for (int i = 0; i < t->n; i++) {
        const vhem_choice *row = &t->row[i];
        if (choose_like_top(t, criterion, top, i)
            && (best < 0 || row->K < t->row[best].K || (row->K == t->row[best].K && row->S < t->row[best].S)))
            best = i;
    }
    return best;
}

/* "evidence,bic": the criteria by which row i is best. */
static const char *best_in(const choose_rows *t, int64_t i, char text[64])
{
    text[0] = '\0';
    for (int k = 0; k < N_CRITERIA; k++)
        if (choose_best(t, k) == i)
            snprintf(text + strlen(text), 64 - strlen(text), "%s%s", *text ? "," : "",
                     choose_criteria[k].name);
    return text;
}

static void put_choice(cli_row *r, const void *of, int64_t i)
{
    const choose_rows *t = of;
    const vhem_choice *row = &t->row[i];
    char best[64];
    if (row->K == 0 && !r->head)
        return;
    cli_cell_int(r, "K", row->K);
    cli_cell_int(r, "S", row->S);
    for (int c = 0; c < N_CHOOSE_COLUMNS; c++)
        cli_cell_fixed(r, choose_columns[c].name, number_at(row, choose_columns[c].at),
                       choose_columns[c].digits);
    if (!r->json)
        cli_cell_text(r, "best", best_in(t, i, best));
}

void choose_write_table(const cli_out *out, const choose_rows *t)
{
    cli_write_rows(out, "-", t->n, put_choice, t);
}

json_t *choose_json(const choose_rows *t)
{
    json_t *best = json_object();
    int n = 0; /* of the table; the path is behind it */
    while (n < t->n && !t->row[n].path)
        n++;
    for (int k = 0; k < N_CRITERIA; k++) {
        int i = choose_best(t, k);
        json_object_set_new(best, choose_criteria[k].name,
                            i < 0 ? json_null()
                                  : json_pack("{s:I, s:i}", "K", (json_int_t)t->row[i].K, "S", t->row[i].S));
    }
    return json_pack("{s:o, s:o, s:o}", "best", best, "choices", cli_rows_json(n, put_choice, t), "path",
                     cli_rows_json(t->n - n, put_choice, &(choose_rows){ t->row + n, t->n - n, t->bayes }));
}
