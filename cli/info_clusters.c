/* SPDX-License-Identifier: BSD-3-Clause */
/* info_clusters.c - the facts about clusters and trees in words. */
#include "cluster_report.h"
#include "info.h"

#include <math.h>
#include <string.h>

/* "a, b (43 %), c, ...": with the share of the runs that are as good where that is not all. */
static void tell_members(FILE *f, const json_t *one, bool all)
{
    const json_t *members = json_object_get(one, "members"), *share = json_object_get(one, "share");
    enum { FEW_NAMES = 5 };
    size_t n = json_array_size(members);
    for (size_t k = 0; k < n && (all || k < FEW_NAMES); k++) {
        const json_t *part = json_array_get(share, k);
        fprintf(f, "%s%s", k ? ", " : "", json_string_value(json_array_get(members, k)));
        if (part && json_number_value(part) < 1)
            fprintf(f, " (%.0f %%)", fmin(99, 100 * json_number_value(part)));
    }
    fputs(n > FEW_NAMES && !all ? ", ...\n" : "\n", f);
}

/* "tau 10 nv 10000 ..." */
static void tell_options(FILE *f, json_t *options)
{
    const char *key;
    json_t *value;
    fprintf(f, "  options   ");
    json_object_foreach(options, key, value)
    {
        if (json_is_string(value))
            fprintf(f, " %s %s", key, json_string_value(value));
        else if (json_is_number(value))
            fprintf(f, " %s %g", key, json_number_value(value));
    }
    fputc('\n', f);
}

/* As vhem cluster counts them: what the search added to the restarts are candidates. */
static void tell_restarts(FILE *f, const json_t *level)
{
    const json_t *runs = json_object_get(level, "restarts");
    size_t R = json_array_size(runs), candidates = 0;
    for (size_t r = 0; r < R; r++)
        candidates += cli_is_candidate(info_text(json_array_get(runs, r), "init"));
    if (R == 0)
        return;
    fprintf(f, "  restarts   %zu", R - candidates);
    if (candidates > 0)
        fprintf(f, " and %zu candidate%s", candidates, cli_plural((int64_t)candidates));
    fprintf(f, "; %lld reached this bound\n", info_int(level, "reached_best"));
}

static void tell_level(FILE *f, const json_t *level, bool all)
{
    const json_t *clusters = json_object_get(level, "clusters"), *repairs = json_object_get(level, "repairs");
    size_t K = json_array_size(clusters);

    if (json_is_number(json_object_get(level, "bound")))
        fprintf(f, "  bound      %.2f nats after %lld iteration%s, %s\n", info_real(level, "bound"),
                info_int(level, "n_iter"), cli_plural(info_int(level, "n_iter")),
                json_is_true(json_object_get(level, "converged")) ? "converged" : "not converged");
    tell_restarts(f, level);
    long long empty = info_int(repairs, "empty"), revived = info_int(repairs, "revived");
    if (empty)
        fprintf(f, "  repairs    %lld cluster%s re-seeded\n", empty, cli_plural(empty));
    if (revived)
        fprintf(f, "  repairs    %lld state%s revived\n", revived, cli_plural(revived));
    const json_t *first = json_array_get(clusters, 0);
    bool centers = json_object_get(first, "omega") != NULL, textures = json_object_get(first, "n") != NULL;
    fprintf(f, "\n  %7s %6s ", "cluster", "size");
    if (centers)
        fprintf(f, "%8s %3s %3s ", "weight", textures ? "n" : "S", textures ? "" : "M");
    fprintf(f, " members\n");
    for (size_t j = 0; j < K; j++) {
        const json_t *one = json_array_get(clusters, j);
        fprintf(f, "  %7zu %6lld ", j, info_int(one, "size"));
        if (centers)
            fprintf(f, "%8.4g ", info_real(one, "omega"));
        if (textures)
            fprintf(f, "%3lld %3s ", info_int(one, "n"), "");
        else if (centers)
            fprintf(f, "%3lld %3lld ", info_int(one, "S"), info_int(one, "M"));
        fputc(' ', f);
        tell_members(f, one, all);
    }
}

void info_tell_clusters(FILE *f, json_t *facts, bool all)
{
    const json_t *levels = json_object_get(facts, "levels"), *first = json_array_get(levels, 0);
    size_t n = json_array_size(levels);
    bool tree = strcmp(info_text(facts, "kind"), "tree") == 0;

    fprintf(f, "%s: ", info_text(facts, "file"));
    if (tree)
        fprintf(f, "a tree of %zu level%s over %lld %ss\n", n, n == 1 ? "" : "s", info_int(facts, "models"),
                info_text(facts, "item"));
    else
        fprintf(f, "%lld %ss in %lld clusters\n", info_int(facts, "models"), info_text(facts, "item"),
                info_int(first, "K"));
    if (*info_text(first, "method"))
        fprintf(f, "  method     %s\n", info_text(first, "method"));
    info_tell_provenance(f, json_object_get(facts, "provenance"));
    if (!json_is_object(json_object_get(facts, "provenance")))
        tell_options(f, json_object_get(first, "options"));
    for (size_t l = 0; l < n; l++) {
        const json_t *level = json_array_get(levels, l);
        if (tree)
            fprintf(f, "\nlevel %zu: %lld %ss in %lld clusters\n", l + 1, info_int(level, "Kb"),
                    l ? "centre" : info_text(facts, "item"), info_int(level, "K"));
        tell_level(f, level, all);
    }
}
