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

void choose_write_table(FILE *f, const choose_rows *t)
{
    fputs("K\tS", f);
    for (int c = 0; c < N_CHOOSE_COLUMNS; c++)
        fprintf(f, "\t%s", choose_columns[c].name);
    fputs("\tbest\n", f);
    for (int i = 0; i < t->n; i++) {
        const vhem_choice *row = &t->row[i];
        const char *between = "";
        if (row->K == 0)
            continue;
        fprintf(f, "%lld\t%d\t", (long long)row->K, row->S);
        for (int c = 0; c < N_CHOOSE_COLUMNS; c++) {
            double x = number_at(row, choose_columns[c].at);
            if (isfinite(x))
                fprintf(f, "%.*f\t", choose_columns[c].digits, x);
            else
                fputs("-\t", f);
        }
        for (int k = 0; k < N_CRITERIA; k++)
            if (choose_best(t, k) == i) {
                fprintf(f, "%s%s", between, choose_criteria[k].name);
                between = ",";
            }
        fputc('\n', f);
    }
}

static json_t *row_json(const vhem_choice *row)
{
    json_t *one = json_pack("{s:I, s:i}", "K", (json_int_t)row->K, "S", row->S);
    for (int c = 0; c < N_CHOOSE_COLUMNS; c++)
        json_object_set_new(one, choose_columns[c].name, cli_json_real(number_at(row, choose_columns[c].at)));
    return one;
}

json_t *choose_json(const choose_rows *t)
{
    json_t *rows = json_array(), *path = json_array(), *best = json_object();
    for (int i = 0; i < t->n; i++)
        if (t->row[i].K > 0)
            json_array_append_new(t->row[i].path ? path : rows, row_json(&t->row[i]));
    for (int k = 0; k < N_CRITERIA; k++) {
        int i = choose_best(t, k);
        json_object_set_new(best, choose_criteria[k].name,
                            i < 0 ? json_null()
                                  : json_pack("{s:I, s:i}", "K", (json_int_t)t->row[i].K, "S", t->row[i].S));
    }
    return json_pack("{s:o, s:o, s:o}", "best", best, "choices", rows, "path", path);
}
