/* SPDX-License-Identifier: BSD-3-Clause */
/* choose.c - see choose.h. */
#include "choose.h"

#include <stdlib.h>
#include <string.h>

static int by_text(const vhem_h3m *h3m, const char *text)
{
    char buf[32];
    for (int i = 0; i < vhem_h3m_size(h3m); i++)
        if (strcmp(cli_hmm_name(h3m, i, buf, sizeof buf), text) == 0)
            return i;
    char *end;
    long i = strtol(text, &end, 10);
    return *text && !*end && i >= 0 && i < vhem_h3m_size(h3m) ? (int)i : -1;
}

typedef struct {
    const char *name;
    int i;
} entry;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

/* The HMM named like each sequence, or like its group: all of them find theirs, or none counts. */
static bool match_names(const vhem_h3m *h3m, const vhem_data *data, int *hmm)
{
    int K = vhem_h3m_size(h3m), n = 0, N = vhem_data_size(data);
    entry *names = malloc((size_t)K * sizeof *names);
    for (int i = 0; names && i < K; i++) {
        vhem_hmm_view view;
        vhem_h3m_view(h3m, i, &view);
        names[i] = (entry){ view.name, i };
    }
    if (names)
        qsort(names, (size_t)K, sizeof *names, by_name);
    for (; names && n < N; n++) {
        vhem_seq_view seq;
        vhem_data_view(data, n, &seq);
        const entry sequence = { seq.name, 0 }, group = { seq.group, 0 };
        const entry *e = *seq.name ? bsearch(&sequence, names, (size_t)K, sizeof *names, by_name) : NULL;
        if (!e && *seq.group)
            e = bsearch(&group, names, (size_t)K, sizeof *names, by_name);
        if (!e)
            break;
        hmm[n] = e->i;
    }
    free(names);
    return names && n == N;
}

static int most_likely(cli *c, const vhem_h3m *h3m, const vhem_data *data, int *hmm)
{
    size_t K = (size_t)vhem_h3m_size(h3m);
    int N = vhem_data_size(data);
    double *loglik = calloc((size_t)N * K, sizeof *loglik);
    int status = loglik ? cli_status(c, vhem_score(c->ctx, h3m, data, loglik)) : cli_fail(c, "out of memory");
    for (int n = 0; status == CLI_GO && n < N; n++) {
        hmm[n] = 0;
        for (size_t i = 1; i < K; i++)
            if (loglik[(size_t)n * K + i] > loglik[(size_t)n * K + (size_t)hmm[n]])
                hmm[n] = (int)i;
    }
    free(loglik);
    return status;
}

int choose_hmms(cli *c, const char *which, const vhem_h3m *h3m, const vhem_data *data, choice *ch)
{
    int N = vhem_data_size(data), forced = vhem_h3m_size(h3m) == 1 ? 0 : -1;
    bool best = which && strcmp(which, "best") == 0;
    ch->hmm = calloc((size_t)N, sizeof *ch->hmm);
    if (!ch->hmm)
        return cli_fail(c, "out of memory");
    if (which && !best && (forced = by_text(h3m, which)) < 0)
        return cli_fail(c, "%s has no HMM named or numbered '%s'", c->arg[0], which);
    if (forced >= 0) {
        ch->how = "the only one, or the one asked for";
        for (int n = 0; n < N; n++)
            ch->hmm[n] = forced;
        return CLI_GO;
    }
    if (!best && match_names(h3m, data, ch->hmm)) {
        ch->how = "matched by name";
        return CLI_GO;
    }
    ch->how = "the most likely for each sequence";
    return most_likely(c, h3m, data, ch->hmm);
}
