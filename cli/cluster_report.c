/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster_report.c - see cluster_report.h. */
#include "cluster_report.h"
#include "vhem.h"
#include "vhem/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_CLUSTERS = 20, FEW_MEMBERS = 4 };
static const double SAME = 1e-6; /* share of the bound: restarts this close found the same optimum */
static const double SAME_GROUPS = 0.99, LIKE_GROUPS = 0.9; /* adjusted Rand indices */

cluster_level cluster_level_of(const vhem_tree *tree, int l, const char *const *class_of)
{
    const vhem_clustering *first = vhem_tree_level(tree, 0), *cl = vhem_tree_level(tree, l);
    return (cluster_level){ cl, first->Kb, cl->base_label, first->name, class_of, l == 0 ? cl->share : NULL };
}

const char *cluster_item_word(const vhem_tree *tree)
{
    const vhem_clustering *cl = vhem_tree_level(tree, 0);
    if (strcmp(cl->items, "models") == 0)
        return cl->centers ? cli_model_word(cl->centers) : "model";
    return strcmp(cl->items, "groups") == 0 ? "group" : "sequence";
}

const char *cluster_level_word(const vhem_tree *tree, int l)
{
    if (l == 0)
        return cluster_item_word(tree);
    return strcmp(vhem_tree_level(tree, 0)->items, "models") == 0 ? "centre" : "cluster";
}

/* How many restarts came to the best bound, as closely as they can be told apart. */
static int count_reached(const vhem_clustering *cl)
{
    double best = -INFINITY, same = fmax(SAME, 2 * cl->options->tol);
    int reached = 0;
    for (int r = 0; r < cl->n_run; r++)
        best = fmax(best, cl->run[r].bound);
    for (int r = 0; r < cl->n_run; r++)
        reached += cl->run[r].finished && best - cl->run[r].bound <= same * fmax(1, fabs(best));
    return reached;
}

static int count_finished(const vhem_clustering *cl)
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

/* ---- for machines -------------------------------------------------------------------------------------- */

static json_t *one_cluster_json(const cluster_level *level, int j)
{
    const vhem_clustering *cl = level->clustering;
    json_t *members = json_array(), *share = json_array();
    char buf[32];
    for (int64_t i = 0; i < level->n; i++) {
        if (level->label[i] != j)
            continue;
        json_array_append_new(members, cli_json_text(cli_name(level->name, i, buf, sizeof buf)));
        if (level->share)
            json_array_append_new(share, cli_json_real(level->share[i]));
    }
    json_t *one = json_pack("{s:i, s:i}", "cluster", j, "size", (int)json_array_size(members));
    if (cl->centers) {
        cli_model center = cli_model_at(cl->centers, j);
        bool textures = cli_models_facts(cl->centers).kind == VHEM_TEXTURES;
        json_object_set_new(one, "omega", cli_json_real(center.omega));
        json_object_set_new(one, textures ? "n" : "S", json_integer(center.S));
        if (!textures)
            json_object_set_new(one, "M", json_integer(center.M));
    }
    json_object_set_new(one, "members", members);
    if (level->share)
        json_object_set_new(one, "share", share);
    else
        json_decref(share);
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

/* The graphs of sequences that were partitioned. */
static json_t *graphs_json(const vhem_clustering *cl)
{
    json_t *all = json_array();
    for (int r = 0; r < cl->n_run; r++) {
        const vhem_cluster_run *run = &cl->run[r];
        json_array_append_new(all, json_pack("{s:o, s:o, s:o, s:o, s:b}", "graph", cli_json_text(run->init),
                                             "modularity", cli_json_real(run->modularity), "stability",
                                             cli_json_real(run->stability), "agreement",
                                             cli_json_real(run->agreement), "kept", run->as_good));
    }
    return all;
}

/* The share of the items that the centres would put into the group they have. */
static double share_put_back(const vhem_clustering *cl)
{
    int64_t back = 0;
    for (int64_t i = 0; i < cl->Kb; i++) {
        const double *z = cl->z + i * cl->Kr;
        int64_t best = 0;
        for (int64_t j = 1; j < cl->Kr; j++)
            best = z[j] > z[best] ? j : best;
        back += best == cl->label[i];
    }
    return cl->Kb > 0 ? (double)back / (double)cl->Kb : 1;
}

static bool has_graphs(const vhem_clustering *cl)
{
    return strcmp(cl->method, "auto") == 0;
}

json_t *cluster_level_json(cli *c, const cluster_level *level)
{
    const vhem_clustering *cl = level->clustering;
    json_t *clusters = json_array();
    for (int j = 0; j < cl->Kr; j++)
        json_array_append_new(clusters, one_cluster_json(level, j));
    json_t *facts = json_pack("{s:o, s:I, s:I, s:o, s:i, s:b, s:{s:i, s:i, s:i}, s:i, s:o, s:o}", "method",
                              cli_json_text(cl->method), "Kb", (json_int_t)cl->Kb, "K", (json_int_t)cl->Kr,
                              "bound", cli_json_real(final_bound(cl)), "n_iter", cl->n_iter, "converged",
                              cl->converged, "repairs", "empty", cl->n_empty, "revived", cl->n_revived,
                              "fell", cl->n_fell, "reached_best", count_reached(cl), "restarts",
                              has_graphs(cl) ? json_array() : restarts_json(cl), "clusters", clusters);
    if (has_graphs(cl)) {
        json_object_set_new(facts, "graphs", graphs_json(cl));
        json_object_set_new(facts, "put_back", cli_json_real(share_put_back(cl)));
    }
    if (cl->posterior)
        json_object_set_new(facts, "K_max", json_integer((json_int_t)cl->K_max));
    if (level->class_of)
        json_object_set_new(facts, "agreement",
                            cli_agreement_json(c, level->n, level->class_of, level->label));
    return facts;
}

/* ---- for people ---------------------------------------------------------------------------------------- */

/* "a, b, c, ..." of cluster j; the number of members. */
static int64_t list_members(const cluster_level *level, int j, char *text, size_t size)
{
    int64_t found = 0;
    size_t at = 0;
    char buf[32];
    text[0] = '\0';
    for (int64_t i = 0; i < level->n; i++) {
        if (level->label[i] != j)
            continue;
        found++;
        if (found > FEW_MEMBERS + 1 || at >= size)
            continue;
        int wrote = snprintf(text + at, size - at, "%s%s", found > 1 ? ", " : "",
                             found > FEW_MEMBERS ? "..." : cli_name(level->name, i, buf, sizeof buf));
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    return found;
}

/* The class that most members of cluster j have, and how many; NULL when none has one.  number [n] of the
 * classes, count [classes]. */
static const char *main_class(const cluster_level *level, int j, const int *number, int *count, int *most)
{
    const char *found = NULL;
    *most = 0;
    for (int64_t i = 0; i < level->n; i++)
        if (number[i] >= 0)
            count[number[i]] = 0;
    for (int64_t i = 0; i < level->n; i++)
        if (level->label[i] == j && number[i] >= 0 && ++count[number[i]] > *most) {
            *most = count[number[i]];
            found = level->class_of[i];
        }
    return found;
}

static void tell_cluster(cli *c, const cluster_level *level, const char *word, int j, const int *number,
                         int *count)
{
    char members[200];
    int64_t n = list_members(level, j, members, sizeof members);
    int most = 0;
    const char *class = number ? main_class(level, j, number, count, &most) : NULL;
    if (class && most == n)
        cli_say(c, "  %d: %lld %s%s, all %s: %s", j, (long long)n, word, cli_plural(n), class, members);
    else if (class)
        cli_say(c, "  %d: %lld %s%s, %d of them %s: %s", j, (long long)n, word, cli_plural(n), most, class,
                members);
    else
        cli_say(c, "  %d: %lld %s%s%s%s", j, (long long)n, word, cli_plural(n), n ? ": " : "", members);
}

static void tell_clusters(cli *c, const cluster_level *level, const char *word)
{
    int64_t Kr = level->clustering->Kr;
    int n_class, *number = malloc(2 * ((size_t)level->n + 1) * sizeof *number);
    bool known = number && level->class_of
                 && vhem_number_names(c->ctx, level->n, level->class_of, number, &n_class) == VHEM_OK;
    for (int j = 0; j < Kr && j < FEW_CLUSTERS; j++)
        tell_cluster(c, level, word, j, known ? number : NULL, number + level->n);
    if (Kr > FEW_CLUSTERS)
        cli_say(c, "  ... and %lld more; 'vhem info --all' lists them", (long long)(Kr - FEW_CLUSTERS));
    free(number);
}

bool cli_is_candidate(const char *init)
{
    size_t n = strlen(init);
    return n > 3 && (strcmp(init, "settled") == 0 || strcmp(init + n - 3, "-sc") == 0);
}

static bool is_candidate(const vhem_cluster_run *run)
{
    return cli_is_candidate(run->init);
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

/* Who is elsewhere in some of the runs that are as good: at most FEW_MEMBERS names, the most often moved
 * first; the number of all. */
static int64_t list_moved(const cluster_level *level, char *text, size_t size)
{
    const double *share = level->share;
    int64_t moved = 0, listed = 0, last = -1;
    size_t at = 0;
    char buf[32];
    text[0] = '\0';
    for (int64_t i = 0; i < level->n; i++)
        moved += share[i] < 1;
    while (listed < FEW_MEMBERS && listed < moved && at < size) {
        int64_t next = -1; /* the one after `last` by share, then by number */
        for (int64_t i = 0; i < level->n; i++) {
            bool after = last < 0 || share[i] > share[last] || (share[i] == share[last] && i > last);
            next = share[i] < 1 && after && (next < 0 || share[i] < share[next]) ? i : next;
        }
        int wrote = snprintf(text + at, size - at, "%s%s", listed++ ? ", " : "",
                             cli_name(level->name, next, buf, sizeof buf));
        at += wrote > 0 ? (size_t)wrote : 0;
        last = next;
    }
    return moved;
}

/* A bound says little about which of such groups are the real ones. */
static void tell_moved(cli *c, const cluster_level *level, const char *word)
{
    const vhem_clustering *cl = level->clustering;
    int n[2] = { 0, 0 }, other[2] = { 0, 0 }; /* restarts, candidates */
    char who[200];

    for (int r = 0; r < cl->n_run; r++) {
        const vhem_cluster_run *run = &cl->run[r];
        n[is_candidate(run)] += !isnan(run->agreement);
        other[is_candidate(run)] += run->as_good && run->agreement < SAME_GROUPS;
    }
    bool candidates = other[0] == 0;
    if (!level->share || other[candidates] == 0)
        return;
    int64_t moved = list_moved(level, who, sizeof who);
    if (moved == 0)
        return;
    cli_say(c, "%d of %d %s found other groups, practically as good: %lld of %lld %s%s move%s (%s%s)",
            other[candidates], n[candidates], candidates ? "candidates" : "restarts", (long long)moved,
            (long long)level->n, word, cli_plural(level->n), moved == 1 ? "s" : "", who,
            moved > FEW_MEMBERS ? ", ..." : "");
}

/* What the next candidate would keep, when its groups are others. */
static void tell_runner_up(cli *c, const vhem_clustering *cl)
{
    const vhem_cluster_run *next = NULL;
    double best = final_bound(cl), samples = cl->options->nv * (double)cl->Kb;
    for (int r = 0; r < cl->n_run; r++) {
        const vhem_cluster_run *run = &cl->run[r];
        next = run->next && run->bounds ? run : next;
    }
    if (!next || !(next->agreement < LIKE_GROUPS) || cl->options->candidate > 1)
        return;
    double gap = (best - next->bound) / samples;
    bool can_keep = cli_has_word(cli_field(VHEM_CLUSTER_OPTIONS, "candidate").methods, ' ', cl->method)
                    && strcmp(c->command, "tree") != 0;
    cli_say(
        c,
        "the next best groups (%s) are others (ARI %.2f with these), with a bound %.3g nats per model %s%s",
        next->init, next->agreement, fabs(gap), gap < 0 ? "higher, but a lower modularity" : "lower",
        can_keep ? "; --candidate 2 keeps them" : "");
}

/* How many restarts have a higher bound than the best one with other groups: all that agree, where none
 * has. */
static int count_leading(const vhem_clustering *cl)
{
    double other = -INFINITY;
    int leading = 0;
    for (int r = 0; r < cl->n_run; r++)
        if (!is_candidate(&cl->run[r]) && cl->run[r].agreement < SAME_GROUPS)
            other = fmax(other, cl->run[r].bound);
    for (int r = 0; r < cl->n_run; r++)
        leading += !is_candidate(&cl->run[r]) && !isnan(cl->run[r].agreement) && cl->run[r].bound > other;
    return leading;
}

/* Where the best restart was only brought to rest: what the other restarts found. */
static void tell_settled(cli *c, const vhem_clustering *cl)
{
    double apart;
    int all, same = count_agreeing(cl, false, &all, &apart), leading = count_leading(cl);
    if (all > 0 && leading > 1 && leading < same)
        cli_say(c, "%d of %d restarts found these groups, among them the %d best", same, all, leading);
    else if (all > 0)
        cli_say(c, "%d of %d restarts found these groups%s", same, all,
                same < 2 ? "; more --restarts may find better ones" : "");
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
    else if (all == 1)
        tell_settled(c, cl);
    else
        cli_say(c, "%s of the %d candidates has these groups", same ? "only one" : "none", all);
}

/* Of variational Bayes: how many of the runs that were pruned as far as they could be, or of all where none
 * was, found the groups that were kept.  Their labels are in the file. */
static void tell_runs(cli *c, const vhem_clustering *cl)
{
    int pruned = 1, same = 1, all = 0, all_same = 0; /* the one that was kept has no labels of its own */
    for (int r = 0; r < cl->n_run; r++) {
        const vhem_cluster_run *run = &cl->run[r];
        bool agrees = run->agreement >= SAME_GROUPS;
        pruned += run->label != NULL;
        same += run->label && agrees;
        all += !isnan(run->agreement);
        all_same += agrees;
    }
    if (pruned > 1)
        cli_say(c, "%d of the %d best runs agree%s on these groups, each fully pruned", same, pruned,
                same == 1 ? "s" : "");
    else if (cl->Kr > 1)
        cli_say(c, "%d of %d runs ended with these groups", all_same, all);
}

/* Some methods have no bound; their restarts are then compared by what they minimise. */
static void tell_restarts(cli *c, const cluster_level *level, const char *word, bool stopped)
{
    const vhem_clustering *cl = level->clustering;
    int reached = count_reached(cl), all, same;
    double apart;
    if (cl->n_run <= 1)
        return;
    if (stopped) { /* too early to say how many agree */
        cli_say(c, "%d of %d runs were finished", count_finished(cl), cl->n_run);
        return;
    }
    same = count_agreeing(cl, true, &all, &apart);
    if (cl->posterior) {
        tell_runs(c, cl);
    } else if (all > 0) {
        tell_candidates(c, cl, all, same, apart);
    } else {
        same = count_agreeing(cl, false, &all, &apart);
        cli_say(c, "%d of %d restarts %s%s", reached, cl->n_run,
                cl->bound ? "reached this bound" : "were as good as this one",
                reached < 2 && same > 1 ? "; others found the same groups"
                : reached < 2           ? "; more --restarts may find a better one"
                                        : "");
    }
    tell_moved(c, level, word);
    if (cl->bound && cl->Kr > 1) /* nothing agrees with a single cluster */
        tell_runner_up(c, cl);
}

/* "2, 3, 2", or "3" where all centres have 3 states. */
static void list_states(const vhem_clustering *cl, char *text, size_t size)
{
    size_t at = 0;
    bool same = true;
    for (int64_t j = 1; j < cl->Kr; j++)
        same &= cli_model_at(cl->centers, j).S == cli_model_at(cl->centers, 0).S;
    int64_t n = same ? 1 : cl->Kr;
    for (int64_t j = 0; j < n && at + 16 < size; j++)
        at += (size_t)snprintf(text + at, size - at, "%s%d", j ? ", " : "", cli_model_at(cl->centers, j).S);
    if (at + 16 >= size)
        snprintf(text + at, size - at, ", ...");
}

/* What variational Bayes found: how many clusters and states are needed, and for how many virtual samples. */
static void tell_needed(cli *c, const vhem_clustering *cl, bool stopped)
{
    char states[160] = "";
    const char *more = cl->K_max < cl->Kb ? ": there may be more than -k allows" : "";
    list_states(cl, states, sizeof states);
    if (stopped)
        cli_say(c, "it was stopped before the numbers of clusters and states were settled");
    else if (!cl->options->prune)
        cli_say(c, "nothing was pruned: the clusters have %s states", states);
    else if (cl->Kr < cl->K_max)
        cli_say(c, "%lld of at most %lld clusters %s needed, with %s of at most %d state%s",
                (long long)cl->Kr, (long long)cl->K_max, cl->Kr == 1 ? "is" : "are", states, cl->options->S,
                cli_plural(cl->options->S));
    else
        cli_say(c, "%s needed%s; %s %s of at most %d state%s",
                cl->Kr == 1 ? "the one cluster is" : "all the clusters are", more,
                cl->Kr == 1 ? "it has" : "they have", states, cl->options->S, cli_plural(cl->options->S));
    if (stopped || !cl->options->prune)
        return;
    cli_say(
        c,
        "this is the answer for %g virtual frames per model (--nv %g times --tau %d); more of them reveal "
        "finer differences",
        cl->options->nv * cl->options->tau, cl->options->nv, cl->options->tau);
}

/* Which graph of the sequences was kept, and what the best other one would have said. */
static void tell_graphs(cli *c, const vhem_clustering *cl, const char *word)
{
    const vhem_cluster_run *kept = NULL, *next = NULL;
    for (int r = 0; cl->Kr > 1 && r < cl->n_run; r++) { /* of a single group nothing need be said */
        const vhem_cluster_run *run = &cl->run[r];
        if (run->as_good)
            kept = run;
        else if (!next || run->modularity + run->stability > next->modularity + next->stability)
            next = run;
    }
    if (kept && next)
        cli_say(
            c,
            "found by %s (modularity %.2f, stability %.2f; next %s, %.2f, %.2f, whose groups have an ARI of "
            "%.2f with these)",
            kept->init, kept->modularity, kept->stability, next->init, next->modularity, next->stability,
            next->agreement);
    else if (kept)
        cli_say(c, "found by %s (modularity %.2f, stability %.2f)", kept->init, kept->modularity,
                kept->stability);
    if (cl->z && cl->Kr > 1)
        cli_say(c, "vhem assign puts %.0f %% of the %ss back into their group", 100 * share_put_back(cl),
                word);
}

void cluster_level_tell(cli *c, const cluster_level *level, const char *word, const char *title, bool stopped)
{
    const vhem_clustering *cl = level->clustering;
    vhem_agreement g;
    bool settled = cl->converged || cl->options->tol == 0;

    if (cl->bound)
        cli_say(c, "%s: bound %.2f nats after %d iteration%s%s", title, final_bound(cl), cl->n_iter,
                cli_plural(cl->n_iter),
                settled   ? ""
                : stopped ? ", not converged"
                          : ", not converged within --max-iter");
    else
        cli_say(c, "%s, by %s", title, cl->method);
    if (cl->posterior)
        tell_needed(c, cl, stopped);
    tell_clusters(c, level, word);
    if (has_graphs(cl))
        tell_graphs(c, cl, word);
    else
        tell_restarts(c, level, word, stopped);
    if (cl->n_empty)
        cli_say(c, "repairs: %d empty cluster%s re-seeded", cl->n_empty, cli_plural(cl->n_empty));
    if (cl->n_revived)
        cli_say(c, "repairs: %d dead state%s revived", cl->n_revived, cli_plural(cl->n_revived));
    if (level->class_of && cli_agreement(c, level->n, level->class_of, level->label, &g) == CLI_GO
        && !isnan(g.rand))
        cli_say(c, "agreement with the labels: Rand index %.3f, adjusted %.3f", g.rand, g.adjusted_rand);
}
