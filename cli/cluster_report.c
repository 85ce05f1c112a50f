/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster_report.c - see cluster_report.h. */
#include "cluster_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_CLUSTERS = 20, FEW_MEMBERS = 4 };
static const double SAME = 1e-6; /* share of the bound: restarts this close found the same optimum */
static const double SAME_GROUPS = 0.99, LIKE_GROUPS = 0.9; /* adjusted Rand indices */

const char *cluster_thing(const vhem_clustering *cl)
{
    if (cl->textures)
        return "texture";
    return !vhem_method_takes_data(cl->method) ? "HMM" : cl->options.by_group ? "group" : "sequence";
}

int cluster_reached(const vhem_clustering *cl)
{
    double best = -INFINITY, same = fmax(SAME, 2 * cl->options.tol);
    int reached = 0;
    for (int r = 0; r < cl->n_run; r++)
        best = fmax(best, cl->run[r].bound);
    for (int r = 0; r < cl->n_run; r++)
        reached += cl->run[r].finished && best - cl->run[r].bound <= same * fmax(1, fabs(best));
    return reached;
}

static int finished(const vhem_clustering *cl)
{
    int n = 0;
    for (int r = 0; r < cl->n_run; r++)
        n += cl->run[r].finished;
    return n;
}

static double final_bound(const vhem_clustering *cl)
{
    return cl->bound ? cl->bound[cl->n_iter] : NAN;
}

static const char *name_of(const cluster_level *level, int i, char *buf, size_t size)
{
    if (level->name && level->name[i] && level->name[i][0])
        return level->name[i];
    snprintf(buf, size, "%d", i);
    return buf;
}

int cluster_members(const cluster_level *level, int j, int few, char *text, size_t size)
{
    int found = 0;
    size_t at = 0;
    char buf[32];
    text[0] = '\0';
    for (int i = 0; i < level->n; i++) {
        if (level->label[i] != j)
            continue;
        found++;
        if (found > few + 1 || at >= size)
            continue;
        int wrote = snprintf(text + at, size - at, "%s%s", found > 1 ? ", " : "",
                             found > few ? "..." : name_of(level, i, buf, sizeof buf));
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    return found;
}

/* The class that most members of cluster j have, and how many; NULL when none has one. */
static const char *main_class(const cluster_level *level, int j, int *most)
{
    int *number = malloc(2 * ((size_t)level->n + 1) * sizeof *number), *count = number + level->n;
    const char *found = NULL;
    *most = 0;
    if (!number || !level->class_of || cli_class_numbers(level->n, level->class_of, number) == 0) {
        free(number);
        return NULL;
    }
    memset(count, 0, ((size_t)level->n + 1) * sizeof *count);
    for (int i = 0; i < level->n; i++)
        if (level->label[i] == j && number[i] >= 0 && ++count[number[i]] > *most) {
            *most = count[number[i]];
            found = level->class_of[i];
        }
    free(number);
    return found;
}

static json_t *cluster_json(const cluster_level *level, int j)
{
    const vhem_clustering *cl = level->clustering;
    json_t *members = json_array();
    char buf[32];
    vhem_hmm_view center = { 0 };
    vhem_dt_view texture;
    for (int i = 0; i < level->n; i++)
        if (level->label[i] == j)
            json_array_append_new(members, cli_json_text(name_of(level, i, buf, sizeof buf)));
    if (cl->centers)
        vhem_h3m_view(cl->centers, j, &center);
    json_t *one = json_pack("{s:i, s:i}", "cluster", j, "size", (int)json_array_size(members));
    if (cl->centers) {
        json_object_set_new(one, "omega", cli_json_real(center.omega));
        json_object_set_new(one, "S", json_integer(center.S));
        json_object_set_new(one, "M", json_integer(center.M));
    }
    if (cl->textures && vhem_dtm_view(cl->textures, j, &texture) == VHEM_OK) {
        json_object_set_new(one, "omega", cli_json_real(texture.omega));
        json_object_set_new(one, "n", json_integer(texture.n));
    }
    json_object_set_new(one, "members", members);
    return one;
}

static json_t *restarts_json(const vhem_clustering *cl)
{
    json_t *all = json_array();
    for (int r = 0; r < cl->n_run; r++) {
        const vhem_cluster_run *run = &cl->run[r];
        json_array_append_new(
            all, json_pack("{s:I, s:o, s:o, s:i, s:b, s:b, s:o, s:o}", "seed", (json_int_t)run->seed, "init",
                           cli_json_text(run->init), "bound", cli_json_real(run->bound), "n_iter",
                           run->n_iter, "converged", run->converged, "finished", run->finished, "modularity",
                           cli_json_real(run->modularity), "agreement", cli_json_real(run->agreement)));
    }
    return all;
}

json_t *cluster_level_json(const cluster_level *level)
{
    const vhem_clustering *cl = level->clustering;
    json_t *clusters = json_array();
    for (int j = 0; j < cl->Kr; j++)
        json_array_append_new(clusters, cluster_json(level, j));
    json_t *facts =
        json_pack("{s:o, s:i, s:i, s:o, s:i, s:b, s:{s:i, s:i, s:i}, s:i, s:o, s:o}", "method",
                  cli_json_text(cl->method), "Kb", cl->Kb, "K", cl->Kr, "bound",
                  cli_json_real(final_bound(cl)), "n_iter", cl->n_iter, "converged", cl->converged, "repairs",
                  "empty", cl->n_empty, "revived", cl->n_revived, "fell", cl->n_fell, "reached_best",
                  cluster_reached(cl), "restarts", restarts_json(cl), "clusters", clusters);
    if (level->class_of)
        json_object_set_new(facts, "agreement", cli_agreement_json(level->n, level->class_of, level->label));
    return facts;
}

static void tell_clusters(cli *c, const cluster_level *level)
{
    char members[200];
    const char *thing = cluster_thing(level->clustering);
    int Kr = level->clustering->Kr;
    for (int j = 0; j < Kr && j < FEW_CLUSTERS; j++) {
        int most, n = cluster_members(level, j, FEW_MEMBERS, members, sizeof members);
        const char *class = main_class(level, j, &most);
        if (class && most == n)
            cli_say(c, "  %d: %d %s%s, all %s: %s", j, n, thing, cli_plural(n), class, members);
        else if (class)
            cli_say(c, "  %d: %d %s%s, %d of them %s: %s", j, n, thing, cli_plural(n), most, class, members);
        else
            cli_say(c, "  %d: %d %s%s%s%s", j, n, thing, cli_plural(n), n ? ": " : "", members);
    }
    if (Kr > FEW_CLUSTERS)
        cli_say(c, "  ... and %d more; 'vhem info --all' lists them", Kr - FEW_CLUSTERS);
}

/* What the search came to besides what was kept: partitions made from distances, and settled restarts. */
static bool is_candidate(const vhem_cluster_run *run)
{
    size_t n = strlen(run->init);
    return strcmp(run->init, "settled") == 0 || (n > 3 && strcmp(run->init + n - 3, "-sc") == 0);
}

/* Finished runs, candidates or else restarts, whose groups are known: how many there are, how many have the
 * groups that were kept, and the largest bound less the smallest of these. */
static int count_agreeing(const vhem_clustering *cl, bool candidates, int *all, double *apart)
{
    double top = -INFINITY, least = INFINITY;
    int same = 0;
    *all = 0;
    for (int r = 0; r < cl->n_run; r++) {
        const vhem_cluster_run *run = &cl->run[r];
        if (isnan(run->agreement) || is_candidate(run) != candidates)
            continue;
        (*all)++;
        if (run->agreement < SAME_GROUPS)
            continue;
        same++;
        top = fmax(top, run->bound);
        least = fmin(least, run->bound);
    }
    *apart = same ? top - least : 0;
    return same;
}

/* The best of the runs that were not kept, when its groups are others. */
static void tell_runner_up(cli *c, const vhem_clustering *cl)
{
    const vhem_cluster_run *next = NULL;
    double best = final_bound(cl), samples = cl->options.nv * cl->Kb;
    for (int r = 0; r < cl->n_run; r++) {
        const vhem_cluster_run *run = &cl->run[r];
        if (!isnan(run->agreement) && run->bounds && (!next || run->bound > next->bound))
            next = run;
    }
    if (next && next->agreement < LIKE_GROUPS && cl->options.candidate <= 1)
        cli_say(
            c,
            "the next best groups (%s) are others (ARI %.2f with these); their bound is lower by %.3g nats "
            "per HMM; --candidate 2 keeps them",
            next->init, next->agreement, (best - next->bound) / samples);
}

static void tell_candidates(cli *c, const vhem_clustering *cl, int all, int same, double apart)
{
    double share = apart / fmax(1e-300, fabs(final_bound(cl)));
    int digit = share > 0 ? (int)floor(-log10(share)) + 1 : 0;
    if (same > 1 && digit > 0 && digit < 12)
        cli_say(c, "%d of %d candidates agree on these groups; their bounds differ in digit %d", same, all,
                digit);
    else if (same > 1)
        cli_say(c, "%d of %d candidates agree on these groups, with the same bound", same, all);
    else
        cli_say(c, "%s of the %d candidates has these groups", same ? "one" : "none", all);
}

/* Some methods have no bound; their restarts are then compared by what they minimise. */
static void tell_restarts(cli *c, const vhem_clustering *cl, bool stopped)
{
    int reached = cluster_reached(cl), all, same;
    double apart;
    if (cl->n_run <= 1)
        return;
    if (stopped) { /* too early to say how many agree */
        cli_say(c, "%d of %d restarts were finished", finished(cl), cl->n_run);
        return;
    }
    same = count_agreeing(cl, true, &all, &apart);
    if (all > 0) {
        tell_candidates(c, cl, all, same, apart);
    } else {
        same = count_agreeing(cl, false, &all, &apart);
        cli_say(c, "%d of %d restarts %s%s", reached, cl->n_run,
                cl->bound ? "reached this bound" : "were as good as this one",
                reached < 2 && same > 1 ? "; others found the same groups"
                : reached < 2           ? "; more --restarts may find a better one"
                                        : "");
    }
    if (cl->bound)
        tell_runner_up(c, cl);
}

void cluster_level_tell(cli *c, const cluster_level *level, const char *title, bool stopped)
{
    const vhem_clustering *cl = level->clustering;
    vhem_agreement g;
    bool settled = cl->converged || cl->options.tol == 0;

    if (cl->bound)
        cli_say(c, "%s: bound %.2f nats after %d iteration%s%s", title, final_bound(cl), cl->n_iter,
                cli_plural(cl->n_iter),
                settled   ? ""
                : stopped ? ", not settled"
                          : ", not settled within --max-iter");
    else
        cli_say(c, "%s, by %s", title, cl->method);
    tell_clusters(c, level);
    tell_restarts(c, cl, stopped);
    if (cl->n_empty)
        cli_say(c, "repairs: %d empty cluster%s re-seeded", cl->n_empty, cli_plural(cl->n_empty));
    if (cl->n_revived)
        cli_say(c, "repairs: %d dead state%s revived", cl->n_revived, cli_plural(cl->n_revived));
    if (level->class_of && cli_agreement(level->n, level->class_of, level->label, &g))
        cli_say(c, "agreement with the labels: Rand index %.3f, adjusted %.3f", g.rand, g.adjusted_rand);
}
