/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_report.c - see fit_report.h. */
#include "fit_report.h"
#include "vhem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAME = 1e-3; /* nats per frame: restarts this close found the same optimum */

static const vhem_fit_run *run_of(const vhem_fit_report *report, int64_t i, int r)
{
    return &report->run[i * report->R + r];
}

/* ---- for machines -------------------------------------------------------------------------------------- */

/* The bound is that of the evidence, which only fits with a prior have. */
static json_t *run_json(const vhem_fit_run *run, bool prior)
{
    json_t *one =
        json_pack("{s:o, s:i, s:b, s:i, s:i}", "loglik", cli_json_real(run->loglik), "n_iter", run->n_iter,
                  "converged", run->converged, "revived", run->n_revived, "floored", run->n_floored);
    if (prior)
        json_object_set_new(one, "bound", cli_json_real(run->bound));
    return one;
}

/* Row i of the report: a model, or the whole mixture. */
static json_t *row_json(const vhem_fit_report *report, int64_t i, json_t *name, bool prior)
{
    json_t *runs = json_array();
    for (int r = 0; r < report->R; r++)
        json_array_append_new(runs, run_json(run_of(report, i, r), prior));
    double loglik = run_of(report, i, report->best[i])->loglik;
    return json_pack("{s:o, s:I, s:o, s:o, s:i, s:o}", "name", name, "frames", (json_int_t)report->frames[i],
                     "loglik", cli_json_real(loglik), "per_frame",
                     cli_json_real(loglik / (double)report->frames[i]), "best", report->best[i], "restarts",
                     runs);
}

static json_t *mixture_json(const fit_result *r, int64_t K)
{
    json_t *row = row_json(r->report, 0, json_string("mixture"), false), *omega = json_array();
    for (int64_t j = 0; j < K; j++)
        json_array_append_new(omega, cli_json_real(cli_model_at(r->models, j).omega));
    json_object_set_new(row, "K", json_integer(K));
    json_object_set_new(row, "omega", omega);
    return row;
}

static json_t *report_json(const cli *c, const fit_result *r, const vhem_models_facts *facts)
{
    char buf[32];
    if (!r->report || r->store)
        return json_pack("{s:s, s:o, s:o, s:I}", "command", c->command, "output", cli_json_text(r->output),
                         "store", cli_json_text(r->store), "K", (json_int_t)facts->K);
    json_t *models = json_array();
    for (int64_t i = 0; !r->mixture && i < r->report->K; i++) {
        json_t *name = cli_json_text(cli_model_name(r->models, i, buf, sizeof buf));
        json_t *row = row_json(r->report, i, name, facts->prior != NULL);
        if (r->most > 0)
            json_object_set_new(row, "S", json_integer(cli_model_at(r->models, i).S));
        json_array_append_new(models, row);
    }
    if (r->mixture)
        json_array_append_new(models, mixture_json(r, facts->K));
    return json_pack("{s:s, s:o, s:o, s:I, s:s, s:b, s:o}", "command", c->command, "input",
                     cli_json_text(c->arg[0]), "output", cli_json_text(r->output), "seed",
                     (json_int_t)c->seed, "backend", vhem_ctx_backend(c->ctx), "interrupted", r->stopped,
                     "models", models);
}

/* ---- what the values look like: counts, bits or angles though the states emit Gaussians ---------------- */

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

static void tell_better(cli *c, const vhem_data_facts *facts, const column *col)
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
    for (int k = 0; k < facts->n_text; k++)
        add_part(list, sizeof list, facts->text_column[k], "categorical");
    const char *texts = facts->n_text == 0 ? "" : ", and takes text columns as symbols";
    bool every = same == facts->d, plain = every && facts->n_text == 0;
    if (found > 0)
        cli_say(c, "%s look like %s: --emission %s%s%s may suit them better than Gaussians%s",
                every ? "all columns" : "some columns",
                found > same ? "counts, bits or angles" : first->words, plain ? "" : "'",
                plain ? first->family : list, plain ? "" : "'", texts);
    else if (facts->n_text > 0)
        cli_say(c, "if the text column%s hold%s symbols, --emission '%s' takes them",
                cli_plural(facts->n_text), facts->n_text == 1 ? "s" : "", list);
}

static void hint(cli *c, const fit_result *r)
{
    const vhem_data_facts facts = cli_data_facts(r->data);
    column *col = r->unasked && cli_models_facts(r->models).kind == VHEM_HMMS
                      ? calloc((size_t)facts.d, sizeof *col)
                      : NULL;
    if (!col)
        return;
    look(r->data, &facts, col);
    tell_better(c, &facts, col);
    free(col);
}

/* ---- for people ---------------------------------------------------------------------------------------- */

typedef struct {
    double loglik;
    int64_t frames, agreed, unconverged, revived, floored;
} totals;

static totals add_up(const vhem_fit_report *report)
{
    totals t = { 0 };
    for (int64_t i = 0; i < report->K; i++) {
        const vhem_fit_run *best = run_of(report, i, report->best[i]);
        int same = 0;
        t.loglik += best->loglik;
        t.frames += report->frames[i];
        t.unconverged += !best->converged && best->n_iter > 0; /* without iterations it is in closed form */
        t.revived += best->n_revived;
        t.floored += best->n_floored;
        for (int r = 0; r < report->R; r++)
            same += fabs(run_of(report, i, r)->bound - best->bound) <= SAME * (double)report->frames[i];
        t.agreed += same > 1;
    }
    return t;
}

static void tell_restarts(cli *c, const fit_result *r, const totals *t, const char *word)
{
    const vhem_fit_report *report = r->report;
    int same = 0;
    for (int k = 0; r->mixture && k < report->R; k++)
        same += fabs(report->run[k].loglik - t->loglik) <= SAME * (double)t->frames;
    if (r->mixture && report->R > 1)
        cli_say(c, "%d of %d restarts reached this likelihood%s", same, report->R,
                same < 2 ? "; more --restarts may find a better one" : "");
    else if (report->R > 1)
        cli_say(c, "in %lld of %lld %s%s at least 2 of %d restarts agree on the best%s", (long long)t->agreed,
                (long long)report->K, word, cli_plural(report->K), report->R,
                2 * t->agreed < report->K ? "; more --restarts may find better ones" : "");
    if (t->unconverged && !r->stopped)
        cli_say(c, "%lld %s%s did not converge within --max-iter", (long long)t->unconverged,
                r->mixture ? "mixture" : word, cli_plural(t->unconverged));
}

static void tell_repairs(cli *c, const totals *t, const vhem_models *models)
{
    vhem_hmm_view hmm;
    bool textures = vhem_models_hmm(models, 0, &hmm) != VHEM_OK;
    if (t->revived && textures)
        cli_say(c,
                "repairs: A of %lld texture%s made stable: as estimated, sequences would grow without bound",
                (long long)t->revived, cli_plural(t->revived));
    else if (t->revived)
        cli_say(c, "repairs: %lld dead state%s or component%s revived", (long long)t->revived,
                cli_plural(t->revived), cli_plural(t->revived));
    if (t->floored)
        cli_say(c, "repairs: %lld %s%s held at --cov-floor", (long long)t->floored,
                textures || hmm.cov ? "covariance" : "component", cli_plural(t->floored));
}

/* Fewer than FEW numbers seen for each one estimated: a variance by itself then needs 10 frames, and one of a
 * full matrix more with every dimension. */
static void tell_few_frames(cli *c, const vhem_models *models, const vhem_models_facts *m, int64_t frames)
{
    enum { FEW = 5 };
    vhem_hmm_view hmm;
    if (vhem_models_hmm(models, 0, &hmm) != VHEM_OK || !hmm.cov)
        return;
    bool full = hmm.n_theta > hmm.S * hmm.M * (1 + 2 * hmm.d);
    double per = (double)frames / (double)m->K / (m->S * m->M);
    if (per >= FEW * (full ? 1 + (m->d + 1) / 2.0 : 2))
        return;
    bool one = per < 1.5;
    const char *what = m->M > 1 ? "component" : "state",
               *then = m->prior ? "the prior draws variances towards those of all states together"
                                : "variances may be far too small; --prior vb, or fewer --states, help";
    if (per < 0.5)
        cli_say(c, "the HMMs have more %ss than frames: %s", what, then);
    else
        cli_say(c, "about %.0f frame%s for each %s %s few for %d dimension%s%s: %s", per, one ? "" : "s",
                what, one ? "is" : "are", m->d, cli_plural(m->d), full ? " and full covariances" : "", then);
}

static void tell_next(cli *c, const fit_result *r, bool textures)
{
    char word[CLI_WORD], uses[CLI_WORD + 1200];
    const char *out = cli_word(r->output, word, sizeof word);
    if (*r->read)
        snprintf(uses, sizeof uses, "'vhem score %s DATA%s'%s", out, r->read,
                 textures ? " uses" : " and 'vhem decode' use");
    else
        snprintf(uses, sizeof uses, "%s",
                 textures ? "'vhem score' uses" : "'vhem score' and 'vhem decode' use");
    if (strcmp(r->output, "-") == 0 || r->stopped)
        return;
    if (r->mixture)
        cli_say(
            c,
            "next: 'vhem info %s' shows it; 'vhem assign %s DATA%s' puts sequences into its components; %s "
            "it on sequences",
            out, out, r->read, uses);
    else
        cli_say(
            c,
            "next: 'vhem cluster %s -k K' groups them; %s%s%s'vhem info %s' shows them; %s them on sequences",
            out, textures ? "" : "'vhem choose ", textures ? "" : out,
            textures ? "" : " -k 1..K' helps to find K; ", out, uses);
}

static void tell_missing(cli *c, const fit_result *r, double loglik)
{
    const cli_values v = cli_count_values(r->models, r->data, false);
    if (v.missing > 0)
        cli_say(c, "%lld of %lld values %s missing and integrated out: mean log-likelihood %.4f per value",
                (long long)v.missing, (long long)v.all, v.missing == 1 ? "was" : "were",
                loglik / (double)(v.all - v.missing));
}

/* How many HMMs have how many states, where they differ or were chosen. */
static void tell_states(cli *c, const fit_result *r, const vhem_models_facts *facts)
{
    char text[256] = "";
    size_t at = 0;
    int64_t n = 0; /* at last of those with the most states */
    for (int S = 1; S <= facts->S && at + 40 < sizeof text; S++) {
        n = 0;
        for (int64_t i = 0; i < facts->K; i++)
            n += cli_model_at(r->models, i).S == S;
        if (n > 0)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%d state%s: %lld", at ? ", " : "", S,
                                   cli_plural(S), (long long)n);
    }
    cli_say(c, "states chosen by variational Bayes: %s", text);
    if (n > 0 && facts->S == r->most)
        cli_say(
            c,
            "%lld of %lld HMMs %s all %d states that were allowed, and might need more: try --states 1..%d",
            (long long)n, (long long)facts->K, n == 1 ? "has" : "have", r->most, 2 * r->most);
}

static void tell_report(cli *c, const fit_result *r, const vhem_models_facts *facts, const char *word)
{
    bool textures = facts->kind == VHEM_TEXTURES;
    int64_t K = facts->K;
    totals t = add_up(r->report);
    const char *where = cli_where(r->output);
    const vhem_data_facts data = cli_data_facts(r->data);
    if (r->stopped) /* said even with --quiet: the result is not what was asked for */
        cli_fail(c, "interrupted; the best so far, %lld %s%s, is %s %s", (long long)K, word, cli_plural(K),
                 strcmp(r->output, "-") == 0 ? "written to" : "saved in", where);
    else
        cli_say(c,
                "%s%lld %s%s from %lld sequence%s (%lld frame%s) in %s: mean log-likelihood %.4f per frame",
                r->mixture ? "a mixture of " : "", (long long)K, word, cli_plural(K), (long long)data.N,
                cli_plural(data.N), (long long)t.frames, cli_plural(t.frames), where,
                t.loglik / (double)t.frames);
    tell_missing(c, r, t.loglik);
    hint(c, r);
    tell_repairs(c, &t, r->models);
    if (!r->mixture && K > 0)
        tell_few_frames(c, r->models, facts, t.frames);
    if (r->most > 0)
        tell_states(c, r, facts);
    tell_restarts(c, r, &t, word);
    tell_next(c, r, textures);
}

void fit_tell(cli *c, const fit_result *r)
{
    const char *word = cli_model_word(r->models);
    const vhem_models_facts facts = cli_models_facts(r->models);
    if (c->json)
        cli_json_put(stdout, report_json(c, r, &facts));
    if (r->report && !r->store)
        tell_report(c, r, &facts, word);
    else
        cli_say(c, "%lld %s%s in %s; what was fitted is kept in %s", (long long)facts.K, word,
                cli_plural(facts.K), cli_where(r->output), r->store ? r->store : "no store");
}
