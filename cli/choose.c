/* SPDX-License-Identifier: BSD-3-Clause */
/* choose.c - the rows of vhem choose: which is best in what, as a table and as JSON, and what they recommend
 * together, with reasons and doubts.
 *
 * Each criterion has a vote for a number of clusters; of equals the one with more evidence wins, else the
 * smaller:
 *
 *   evidence   the clusters that are needed in the row of largest evidence                       1
 *   plateau    the number that is needed over the most steps of the path, three at least         1
 *   stability  every number that is as stable as the most stable one, where that is stable at all  1 each
 *   BIC, ICL   which count a model as one observation, and so see too little in few models       0.4 each
 *
 * Two kinds that every half of the models merges are as stable as the kinds themselves: stability does not
 * choose among equals, and leaves that to the others.  What is best only because no more, or no fewer, was
 * asked for is no vote, but for stability and for the evidence of few.  One cluster needs the vote of the
 * evidence: BIC would give it to every handful of models. */
#include "choose.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static const double STABLE =
    0.7; /* an adjusted Rand index between halves; below it no number is called stable */

enum { CHOOSE_EVIDENCE, CHOOSE_STABILITY, CHOOSE_BIC, CHOOSE_ICL, N_CRITERIA };

typedef struct { /* what a row can be best in */
    const char *name, *words;
    size_t at;    /* of its number in a row */
    bool most;    /* the largest is best */
    double equal; /* numbers that differ by less say nothing: the smaller K is taken then */
} choose_criterion;

static const choose_criterion criteria[N_CRITERIA] = {
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
    const choose_criterion *k = &criteria[criterion];
    const vhem_choice *row = &t->row[i];
    double x = k->most ? number_at(row, k->at) : -number_at(row, k->at);
    return row->K == 0 || row->path || !isfinite(x) ? -INFINITY : x;
}

/* What the best row has by a criterion, its negative where the smallest is best; -INFINITY: no row has
 * any. */
static double top_of(const choose_rows *t, int criterion)
{
    double top = -INFINITY;
    for (int i = 0; i < t->n; i++)
        top = fmax(top, worth(t, criterion, i));
    return top;
}

/* Is row i so near to this that the difference says nothing? */
static bool like_top(const choose_rows *t, int criterion, double top, int i)
{
    double x = worth(t, criterion, i);
    return isfinite(x) && x > top - criteria[criterion].equal;
}

/* The row of the table that a criterion likes best, of equals the one with the smallest K and then S; -1 when
 * none has the number, or none is stable. */
static int best_row(const choose_rows *t, int criterion)
{
    double top = top_of(t, criterion);
    int best = -1;
    if (criterion == CHOOSE_STABILITY && !(top >= STABLE)) /* the best of those that are not stable */
        return -1;
    for (int i = 0; i < t->n; i++) {
        const vhem_choice *row = &t->row[i];
        if (like_top(t, criterion, top, i)
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
        if (best_row(t, k) == i)
            snprintf(text + strlen(text), 64 - strlen(text), "%s%s", *text ? "," : "", criteria[k].name);
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

cli_rows choose_table(const choose_rows *t)
{
    return (cli_rows){ .n = t->n, .put = put_choice, .of = t, .unknown = "-" };
}

json_t *choose_json(const choose_rows *t)
{
    json_t *best = json_object();
    int n = 0; /* of the table; the path is behind it */
    while (n < t->n && !t->row[n].path)
        n++;
    const choose_rows path = { t->row + n, t->n - n, t->bayes };
    for (int k = 0; k < N_CRITERIA; k++) {
        int i = best_row(t, k);
        json_object_set_new(best, criteria[k].name,
                            i < 0 ? json_null()
                                  : json_pack("{s:I, s:i}", "K", (json_int_t)t->row[i].K, "S", t->row[i].S));
    }
    return json_pack("{s:o, s:o, s:o}", "best", best, "choices",
                     cli_rows_json(&(cli_rows){ .n = n, .put = put_choice, .of = t }), "path",
                     cli_rows_json(&(cli_rows){ .n = t->n - n, .put = put_choice, .of = &path }));
}

/* ---- advice -------------------------------------------------------------------------------------------- */

enum { PLATEAU = 3 };                         /* steps */
static const double SAME = 0.99, ALIKE = 0.9; /* adjusted Rand indices */

typedef struct {
    int64_t K[N_CRITERIA]; /* that each criterion is for; 0: none */
    double stable;         /* stability of the most stable number */
    int64_t flat;          /* the number of the plateau; 0: there is none */
    double from, to;       /* virtual frames of the plateau */
    bool grows;            /* each step of the path needs more clusters */
    int64_t least, most;   /* clusters that were asked for */
    bool all;              /* all of them are needed, by the evidence */
    bool high, low;        /* the most, or the fewest, are best by a criterion, which so has no vote */
} votes;

/* One more reason for it, a->why, or against it, a->doubt. */
__attribute__((format(printf, 2, 3))) static void add(choose_reason *list, const char *format, ...)
{
    va_list ap;
    int k = 0;
    while (k < CHOOSE_REASONS - 1 && list[k][0])
        k++;
    va_start(ap, format);
    vsnprintf(list[k], sizeof list[k], format, ap);
    va_end(ap);
}

/* ---- votes --------------------------------------------------------------------------------------------- */

/* The longest stretch of the path with the same number of clusters, `least` or more; of equals the first,
 * which is the smaller number. */
static void find_plateau(const choose_rows *t, int64_t least, votes *v)
{
    int longest = 0, length = 0, steps = 0, rises = 0;
    const vhem_choice *first = NULL, *last = NULL;
    for (int i = 0; i < t->n; i++) {
        const vhem_choice *row = &t->row[i];
        if (row->K == 0 || !row->path)
            continue;
        bool same = last && row->K_used == last->K_used;
        rises += last && row->K_used > last->K_used;
        steps++;
        first = same ? first : row;
        length = same ? length + 1 : 1;
        last = row;
        if (length > longest && row->K_used >= (double)least && row->K_used < (double)row->K) {
            longest = length;
            v->flat = (int64_t)row->K_used;
            v->from = first->frames;
            v->to = row->frames;
        }
    }
    v->flat = longest >= PLATEAU ? v->flat : 0;
    v->grows = steps >= PLATEAU && rises == steps - 1;
}

/* Clusters of a row: those that were needed where variational Bayes made them. */
static int64_t clusters_of(const choose_rows *t, int i)
{
    return t->bayes ? (int64_t)t->row[i].K_used : t->row[i].K;
}

static bool is_stable(const choose_rows *t, const votes *v, int64_t K)
{
    for (int i = 0; v->K[CHOOSE_STABILITY] && i < t->n; i++)
        if (like_top(t, CHOOSE_STABILITY, v->stable, i) && clusters_of(t, i) == K)
            return true;
    return false;
}

static votes count_votes(const choose_rows *t)
{
    votes v = { .least = INT64_MAX };
    find_plateau(t, 2, &v);
    v.stable = top_of(t, CHOOSE_STABILITY);
    for (int i = 0; i < t->n; i++) {
        v.most = t->row[i].K > v.most ? t->row[i].K : v.most;
        v.least = t->row[i].K > 0 && !t->row[i].path && t->row[i].K < v.least ? t->row[i].K : v.least;
    }
    for (int k = 0; k < N_CRITERIA; k++) {
        int i = best_row(t, k);
        if (i < 0)
            continue;
        int64_t K = k == CHOOSE_EVIDENCE ? (int64_t)t->row[i].K_used : clusters_of(t, i);
        bool bounded = K == v.most && k != CHOOSE_STABILITY;
        bool low = K == v.least && K > 1 && (k == CHOOSE_BIC || k == CHOOSE_ICL);
        v.K[k] = bounded || low ? 0 : K;
        v.high |= bounded;
        v.low |= low;
        v.all |= bounded && k == CHOOSE_EVIDENCE;
    }
    if (!v.flat
        && v.K[CHOOSE_EVIDENCE] == 1) /* every path begins with one cluster: it needs a vote beside it */
        find_plateau(t, 1, &v);
    return v;
}

static double votes_for(const choose_rows *t, const votes *v, int64_t K)
{
    double sum = v->K[CHOOSE_EVIDENCE] == K;
    sum += v->flat == K;
    sum += is_stable(t, v, K);
    sum += v->K[CHOOSE_BIC] == K ? 0.4 : 0;
    sum += v->K[CHOOSE_ICL] == K ? 0.4 : 0;
    return sum;
}

/* The largest evidence of a row with K clusters. */
static double evidence_of(const choose_rows *t, int64_t K)
{
    double top = -INFINITY;
    for (int i = 0; i < t->n; i++)
        if (!t->row[i].path && t->row[i].K > 0 && clusters_of(t, i) == K)
            top = fmax(top, t->row[i].evidence);
    return top;
}

static int64_t elect(const choose_rows *t, const votes *v)
{
    int64_t best = 0;
    double most = 0, clear = criteria[CHOOSE_EVIDENCE].equal;
    for (int64_t K = v->K[CHOOSE_EVIDENCE] == 1 ? 1 : 2; K <= v->most; K++) {
        double n = votes_for(t, v, K);
        if (n > most || (n > 0 && n == most && evidence_of(t, K) > evidence_of(t, best) + clear))
            best = K;
        most = fmax(most, n);
    }
    return best;
}

/* States of K clusters: by evidence, and where there is none by BIC; *used: those of them that are needed. */
static int choose_states(const choose_rows *t, int64_t K, int *used)
{
    const int by[] = { CHOOSE_EVIDENCE, CHOOSE_BIC };
    vhem_choice own[CLI_MAX_LIST];
    choose_rows part = { own, 0, t->bayes };
    for (int i = 0; i < t->n && part.n < CLI_MAX_LIST; i++)
        if (t->row[i].K == K && !t->row[i].path)
            own[part.n++] = t->row[i];
    for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
        int i = best_row(&part, by[k]);
        if (i < 0)
            continue;
        *used = own[i].K_used == (double)K ? (int)own[i].S_used : own[i].S;
        return own[i].S;
    }
    int i = best_row(t, CHOOSE_EVIDENCE);
    *used = i >= 0 ? (int)t->row[i].S_used : 0;
    return i >= 0 ? t->row[i].S : 0;
}

/* ---- words --------------------------------------------------------------------------------------------- */

static void say_evidence(const choose_rows *t, const votes *v, choose_advice *a)
{
    int e = best_row(t, CHOOSE_EVIDENCE);
    if (v->K[CHOOSE_EVIDENCE] == a->K)
        add(a->why, "as many are needed by variational Bayes, for %.3g virtual frames of each model",
            t->row[e].frames);
    else if (v->K[CHOOSE_EVIDENCE] > 0)
        add(a->doubt, "variational Bayes needs %lld, for %.3g virtual frames of each model",
            (long long)v->K[CHOOSE_EVIDENCE], t->row[e].frames);
    else if (v->all)
        add(a->doubt,
            "variational Bayes needs all %lld that were asked for, for %.3g virtual frames of each model%s",
            (long long)v->most, t->row[e].frames, a->K == v->most ? ": try a larger -k" : "");
    if (v->flat == a->K)
        add(a->why, "the same number is needed from %.3g to %.3g virtual frames", v->from, v->to);
    else if (v->flat)
        add(a->doubt, "it needs %lld from %.3g to %.3g virtual frames", (long long)v->flat, v->from, v->to);
    else if (v->grows)
        add(a->doubt,
            "the more virtual frames, the more clusters are needed: there may be no separate kinds");
}

static void say_stability(const choose_rows *t, const votes *v, choose_advice *a)
{
    int n = 0;
    choose_reason list = "";
    for (int64_t K = 1; K <= v->most; K++)
        if (is_stable(t, v, K)) {
            size_t at = strlen(list);
            snprintf(list + at, sizeof list - at - 40, n++ ? ", %lld" : "%lld", (long long)K);
        }
    if (is_stable(t, v, a->K))
        add(a->why, n > 1 ? "as stable as any other number" : "most stable");
    else if (n > 0)
        add(a->doubt, "most stable: %s", list);
    else if (isfinite(v->stable))
        add(a->K == 1 ? a->why : a->doubt, "no number%s is stable: at best %.2f",
            a->K == 1 ? " above it" : "", v->stable);
}

static void say_votes(const choose_rows *t, const votes *v, choose_advice *a)
{
    const int others[] = { CHOOSE_BIC, CHOOSE_ICL };
    say_evidence(t, v, a);
    say_stability(t, v, a);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        const choose_criterion *c = &criteria[others[k]];
        if (v->K[others[k]] == a->K)
            add(a->why, "%s", c->words);
        else if (v->K[others[k]])
            add(a->doubt, "%s: %lld", c->words, (long long)v->K[others[k]]);
    }
}

/* What is certain of the groups themselves. */
static void say_certainty(const choose_rows *t, choose_advice *a)
{
    const vhem_choice *row = NULL;
    for (int i = 0; i < t->n; i++)
        if (t->row[i].K == a->K && t->row[i].S == a->S && !t->row[i].path)
            row = &t->row[i];
    if (!row || a->K < 2)
        return;
    if (row->same_seeds >= SAME)
        add(a->why, "other seeds find the same groups");
    else if (row->same_seeds >= ALIKE)
        add(a->why, "other seeds find almost the same groups (ARI %.2f)", row->same_seeds);
    else if (!isnan(row->same_seeds))
        add(a->doubt, "other seeds find other groups (ARI %.2f): do not rely on who is with whom",
            row->same_seeds);
    if (row->same_runs >= ALIKE)
        add(a->why, "%.0f %% of the runs end with these groups", 100 * row->same_runs);
}

/* Says why no number is recommended, and which options may lead to one. */
static void say_none(const votes *v, choose_advice *a)
{
    if (v->most == 1)
        snprintf(a->none, sizeof a->none, "only 1 was asked for; try a larger -k");
    else if (v->all)
        snprintf(a->none, sizeof a->none,
                 "by variational Bayes, all %lld that were asked for are needed; try a larger -k",
                 (long long)v->most);
    else if (v->high)
        snprintf(a->none, sizeof a->none,
                 "%lld, the largest number that was asked for, is best, and more may be better; try a larger "
                 "-k",
                 (long long)v->most);
    else if (v->low)
        snprintf(a->none, sizeof a->none,
                 "%lld, the smallest number that was asked for, is best, and fewer may be better; try a "
                 "smaller -k",
                 (long long)v->least);
    else if (v->K[CHOOSE_BIC] == 1 || v->K[CHOOSE_ICL] == 1)
        snprintf(a->none, sizeof a->none,
                 "only BIC or ICL favour a number, 1, which they do for any small set of models");
    else
        snprintf(a->none, sizeof a->none, "no criterion favours a number, and none is stable");
}

choose_advice choose_advise(const choose_rows *t)
{
    choose_advice a = { 0 };
    votes v = count_votes(t);
    a.K = elect(t, &v);
    if (a.K == 0) {
        say_none(&v, &a);
        return a;
    }
    a.S = choose_states(t, a.K, &a.S_needed);
    a.needed = v.K[CHOOSE_EVIDENCE] == a.K;
    say_votes(t, &v, &a);
    say_certainty(t, &a);
    if (a.K < v.least)
        add(a.doubt, "it was not among the numbers that were asked for");
    return a;
}

const char *choose_path_text(const choose_rows *t, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < t->n; i++)
        if (t->row[i].path && t->row[i].K > 0 && at + 40 < size)
            at += (size_t)snprintf(text + at, size - at,
                                   t->row[i].frames < 1000 ? "%s%.0f at %.3g" : "%s%.0f at %.0f",
                                   at ? ", " : "", t->row[i].K_used, t->row[i].frames);
    return text;
}
