/* SPDX-License-Identifier: BSD-3-Clause */
/* decode_choice.c - see decode_choice.h. */
#include "decode_choice.h"
#include "vhem.h"

#include <stdlib.h>
#include <string.h>

static int64_t find_by_text(const vhem_models *models, int64_t K, const char *text)
{
    char buf[32], *end;
    for (int64_t i = 0; i < K; i++)
        if (strcmp(cli_model_name(models, i, buf, sizeof buf), text) == 0)
            return i;
    long long i = strtoll(text, &end, 10);
    return *text && !*end && i >= 0 && i < K ? i : -1;
}

typedef struct {
    const char *name;
    int64_t i;
} entry;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

/* The HMM named like each sequence, or like its group: all of them find theirs, or none counts. */
static bool match_names(const vhem_models *models, int64_t K, const vhem_data *data, int64_t N, int64_t *hmm)
{
    int64_t n = 0;
    entry *names = malloc((size_t)K * sizeof *names);
    for (int64_t i = 0; names && i < K; i++)
        names[i] = (entry){ cli_model_at(models, i).name, i };
    if (names)
        qsort(names, (size_t)K, sizeof *names, by_name);
    for (; names && n < N; n++) {
        vhem_seq_view seq = cli_sequence_at(data, n);
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

static int find_most_likely(cli *c, const vhem_models *models, int64_t K, const vhem_data *data, int64_t N,
                            int64_t *hmm)
{
    const vhem_source from = { .data = data };
    double *loglik = calloc((size_t)N * (size_t)K, sizeof *loglik);
    int status =
        loglik ? cli_status(c, vhem_score(c->ctx, models, &from, loglik)) : cli_fail(c, "out of memory");
    for (int64_t n = 0; status == CLI_GO && n < N; n++) {
        hmm[n] = 0;
        for (int64_t i = 1; i < K; i++)
            if (loglik[n * K + i] > loglik[n * K + hmm[n]])
                hmm[n] = i;
    }
    free(loglik);
    return status;
}

int decode_choose(cli *c, const char *which, const vhem_models *models, const vhem_data *data,
                  decode_choice *out)
{
    vhem_models_facts m;
    vhem_data_facts d;
    vhem_models_info(models, &m);
    vhem_data_info(data, &d);
    int64_t forced = m.K == 1 ? 0 : -1;
    bool best = which && strcmp(which, "best") == 0;
    out->hmm = calloc((size_t)d.N + 1, sizeof *out->hmm);
    if (!out->hmm)
        return cli_fail(c, "out of memory");
    if (which && !best && (forced = find_by_text(models, m.K, which)) < 0)
        return cli_fail(c, "%s has no HMM named or numbered '%s'", c->arg[0], which);
    if (forced >= 0) {
        out->how = "the only one, or the one asked for";
        for (int64_t n = 0; n < d.N; n++)
            out->hmm[n] = forced;
        return CLI_GO;
    }
    if (!best && match_names(models, m.K, data, d.N, out->hmm)) {
        out->how = "matched by name";
        return CLI_GO;
    }
    out->how = "the most likely for each sequence";
    int status = find_most_likely(c, models, m.K, data, d.N, out->hmm);
    if (status == CLI_GO)
        cli_tell_common(c, 1, &models, false);
    return status;
}
