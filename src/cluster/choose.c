/* SPDX-License-Identifier: BSD-3-Clause */
/* choose.c - compares numbers of clusters and states: one clustering for each, with criteria to select among
 * them.
 *
 *   1. criteria of one clustering      2. stability      3. the evidence      4. other seeds
 *   5. the table and the path          6. sequences
 *
 * With a checkpoint, finished results of 1 to 4 are stored and not recomputed.
 *
 * Stability: two random halves of the models are clustered separately, all models are assigned to the centres
 * of either half, and the two labelings are compared by the adjusted Rand index.  A true number of clusters
 * is found in both halves.  A single cluster always agrees, which says nothing: its stability is NaN, also if
 * one half was pruned to one cluster. */
#include "methods/methods.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "core/options.h"
#include "core/rng.h"
#include "math/agreement.h"
#include "math/order.h"
#include "hmm/convert.h"
#include "prior/prior.h"
#include "vhem/bounds.h"
#include "vhem.h"
#include "core/backend.h"
#include "core/atomic_file.h"
#include "core/journal.h"
#include "math/blas.h"
#include "files/layout_json.h"
#include "os/path.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Cost of clusterings, in arbitrary units, for the progress; measured on 80 HMMs with K = 1 to 8. */
#define WORK_ONE   0.1 /* one cluster: no candidates */
#define WORK_FIRST 0.5 /* several: this plus 1 per cluster */
#define WORK_VB    1.4 /* factor of variational Bayes */
#define WORK_HALF  0.6 /* factor of half the models */
enum { UNITS = 10000 };
#define SAME_GROUPS 0.99 /* adjusted Rand index */

/* Results of whole clusterings are kept in a checkpoint (core/journal.h), so that a killed run does not
 * repeat those it finished. */
typedef struct {      /* a result in a checkpoint: the same fields give the same numbers, and only they */
    const char *path; /* checkpoint file; NULL: disabled */
    vh_key models;    /* fingerprint of the models */
    const char *what; /* kind of result */
    const vhem_cluster_options *opt; /* as given by the caller */
    int K;
    int64_t number; /* index among results of this kind, else 0 */
} checkpoint;

/* Sets path, which may be NULL and must outlive it, and models; the caller sets the rest for each result. */
static vhem_status checkpoint_init(vhem_ctx *ctx, const vh_h3m *models, const char *path, checkpoint *out)
{
    VH_OWN(vh_hash) *h = NULL;
    VH_AUTOFREE char *layout = NULL;

    *out = (checkpoint){ .path = path };
    if (!path)
        return VHEM_OK;
    VH_TRY(vh_hash_new(ctx, &h));
    if (models->shape.layout) {
        layout = vh_layout_text(models->shape.layout);
        VH_CHECK(layout, VHEM_ENOMEM, "out of memory");
    }
    vh_hash_text(h, models->family->name);
    vh_hash_text(h, layout);
    vh_hash_text(h, models->prior);
    vh_hash_number(h, models->d);
    vh_hash_number(h, (double)models->K);
    vh_hash_bytes(h, &models->lengths, sizeof models->lengths);
    vh_hash_bytes(h, models->omega, sizeof *models->omega * (size_t)models->K);
    for (int64_t i = 0; i < models->K; i++) {
        const vh_hmm *m = &models->hmm[i];
        vh_hash_number(h, m->S);
        vh_hash_number(h, m->M);
        vh_hash_bytes(h, m->pi, vh_hmm_numbers(m) * sizeof *m->pi);
    }
    vh_hash_key(h, &out->models);
    return VHEM_OK;
}

/* Hashes the contents of the file that an option names, if any. */
static vhem_status hash_file(vhem_ctx *ctx, const char *path, vh_hash *h)
{
    VH_AUTOFREE char *text = NULL;
    size_t size = 0;

    if (!path || strcmp(path, "-") == 0 || !vh_path_readable(path))
        return VHEM_OK;
    VH_TRY(vh_read_all(ctx, path, &text, &size));
    vh_hash_bytes(h, text, size);
    return VHEM_OK;
}

static vhem_status result_key(vhem_ctx *ctx, const checkpoint *of, vh_key *out)
{
    VH_OWN(vh_hash) *h = NULL;

    VH_TRY(vh_hash_new(ctx, &h));
    vh_hash_text(h, vhem_version());
    vh_hash_text(h, ctx->backend->name);
    vh_hash_text(h, vh_blas_kernel());
    vh_hash_bytes(h, &ctx->opt.seed, sizeof ctx->opt.seed);
    vh_hash_text(h, of->models.text);
    vh_hash_text(h, of->what);
    vh_hash_number(h, of->K);
    vh_hash_number(h, (double)of->number);
    for (const vh_option *row = vh_options(VHEM_CLUSTER_OPTIONS); row->shown.name; row++)
        if (strcmp(row->shown.name, "checkpoint") != 0 && strcmp(row->shown.name, "memory") != 0)
            vh_options_hash(h, row, of->opt);
    VH_TRY(hash_file(ctx, of->opt->prior, h));
    vh_hash_key(h, out);
    return VHEM_OK;
}

/* Computes the key of the result and opens the file. */
static vhem_status open_for(vhem_ctx *ctx, const checkpoint *of, vh_key *key, vh_journal **journal)
{
    VH_TRY(result_key(ctx, of, key));
    return vh_journal_open(ctx, of->path, journal);
}

/* Reads the n numbers of the result into x; *known is false if there are none.  The file is open only
 * during the call, since clusterings use it too. */
static vhem_status checkpoint_find(vhem_ctx *ctx, const checkpoint *of, size_t n, double *x, bool *known)
{
    vh_journal *journal = NULL;
    vh_key key;
    vhem_status st = of->path ? open_for(ctx, of, &key, &journal) : VHEM_OK;
    *known = journal && vh_journal_find(journal, &key, n, x);
    vh_journal_free(journal);
    return st;
}

static vhem_status checkpoint_add(vhem_ctx *ctx, const checkpoint *of, size_t n, const double *x)
{
    vh_journal *journal = NULL;
    vh_key key;
    vhem_status st = of->path ? open_for(ctx, of, &key, &journal) : VHEM_OK;
    if (journal)
        vh_journal_add(ctx, journal, &key, n, x);
    vh_journal_free(journal);
    return st;
}

typedef struct {
    vhem_ctx *user;  /* receives the progress */
    vhem_ctx *quiet; /* child without progress reports, since clusterings have their own */
    const vh_h3m *h3m;
    const vhem_choose_options *want;
    double done, total; /* cost */
    int tau;            /* of the clusterings */
    checkpoint kept;    /* results of an earlier run */
} choice_run;

/* ---- 1. criteria of one clustering --------------------------------------------------------------------- */

static double work_of(double K, int S)
{
    return (K > 1 ? WORK_FIRST + K : WORK_ONE) * (S > 0 ? S : 3);
}

static checkpoint result(const choice_run *t, const char *what, const vhem_cluster_options *opt, int K,
                         int64_t number)
{
    checkpoint r = t->kept;
    r.what = what;
    r.opt = opt;
    r.K = K;
    r.number = number;
    return r;
}

static void progress(choice_run *t, double work)
{
    t->done += work;
    vh_progress(t->user, "choose", (int64_t)(UNITS * t->done / t->total), UNITS);
}

/* Number of free parameters of an H3M: weights, initial, transition and mixture probabilities, emissions. */
static double count_parameters(const vh_h3m *centers)
{
    double n = centers->K - 1;
    for (int64_t j = 0; j < centers->K; j++) {
        double S = centers->hmm[j].S, M = centers->hmm[j].M;
        n += S - 1 + S * (S - 1) + S * (M - 1) + S * M * centers->family->n_free(&centers->shape);
    }
    return n;
}

/* Centre with the largest L_ij among those in use. */
static int nearest(const double *L, const double *omega, int Kr)
{
    int best = -1;
    for (int j = 0; j < Kr; j++)
        if (omega[j] > 0 && (best < 0 || L[j] > L[best]))
            best = j;
    return best;
}

/* Fraction of finished runs that ended with the selected groups; NaN for a single run. */
static double share_of_runs(const vh_clustering *c)
{
    int all = 0, same = 0;
    for (int r = 0; r < c->n_run; r++) {
        bool known = c->run[r].finished && !isnan(c->run[r].agreement);
        all += known;
        same += known && c->run[r].agreement >= SAME_GROUPS;
    }
    return all > 1 ? (double)same / all : NAN;
}

static void fill_row(const vh_h3m *h3m, const vh_clustering *c, vhem_choice *row)
{
    double entropy = 0;
    row->S = c->options.S;
    row->bound = c->bound ? c->bound[c->n_iter] : NAN;
    row->n_param = count_parameters(c->centers);
    row->loglik = 0;
    for (int64_t i = 0; i < c->Kb; i++) {
        const double *L = c->L_hmm + vh_row(i, c->Kr), *z = c->z + vh_row(i, c->Kr);
        row->loglik += h3m->omega[i] * c->Kb * L[nearest(L, c->centers->omega, c->Kr)];
        for (int j = 0; j < c->Kr; j++)
            entropy -= z[j] > 0 ? z[j] * log(z[j]) : 0;
    }
    row->bic = -2 * row->loglik + row->n_param * log(c->Kb);
    row->icl = row->bic + 2 * entropy;
    row->same_runs = share_of_runs(c);
}

/* ---- 2. stability -------------------------------------------------------------------------------------- */

/* Clusters half of the models, seeded by `at`, and labels all by its centres, label [Kb]; *Kr: the clusters,
 * fewer than K if some were pruned. */
static vhem_status label_from_half(choice_run *t, const vh_h3m *half, int K, const vhem_cluster_options *opt,
                                   uint64_t at, int *label, int *Kr)
{
    vhem_ctx *ctx = t->quiet;
    const vh_h3m *like;
    const vh_input in = vh_input_models(half, K);
    VH_OWN(vh_h3m) *full = NULL;
    VH_OWN(vh_clustering) *c = NULL;
    VH_AUTOFREE double *L = NULL; /* [Kb][Kr] */

    VH_TRY(vh_cluster(ctx, &in, opt, vh_rng_seed(ctx->opt.seed, at), &c));
    VH_NEW(L, vh_cells(t->h3m->K, c->Kr));
    VH_TRY(vh_h3m_like(ctx, t->h3m, c->centers, &full, &like));
    VH_TRY(vh_reduce_score(ctx, like, c->centers, c->options.tau, L));
    for (int64_t i = 0; i < t->h3m->K; i++)
        label[i] = nearest(L + vh_row(i, c->Kr), c->centers->omega, c->Kr);
    *Kr = c->Kr;
    progress(t, WORK_HALF * work_of(K, opt->S));
    return VHEM_OK;
}

static void shuffle(vh_rng *rng, int64_t n, int64_t *index)
{
    for (int64_t i = 0; i < n; i++)
        index[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t k = vh_rng_below(rng, i + 1);
        int64_t t = index[i];
        index[i] = index[k];
        index[k] = t;
    }
}

/* Adjusted Rand index of the labels from split s. */
static vhem_status compare_halves(choice_run *t, int K, const vhem_cluster_options *opt, int s, double *out)
{
    vhem_ctx *ctx = t->quiet;
    int64_t Kb = t->h3m->K, n = Kb / 2;
    uint64_t at = (uint64_t)(2 * s + 1) << 32, next = at + ((uint64_t)1 << 32);
    VH_OWN(vh_h3m) *half = NULL, *other = NULL;
    VH_AUTOFREE int64_t *index = NULL; /* [Kb]  the models, in random order */
    VH_AUTOFREE int *a = NULL, *b = NULL;
    int Kr_a, Kr_b;
    vhem_agreement agree;
    vh_rng rng;

    VH_NEW(index, Kb);
    VH_NEW(a, Kb);
    VH_NEW(b, Kb);
    vh_rng_init(&rng, ctx->opt.seed, VH_RNG_SPLIT, (uint64_t)s); /* the same splits for every K and S */
    shuffle(&rng, Kb, index);
    VH_TRY(vh_h3m_subset(ctx, t->h3m, index, n, &half));
    VH_TRY(label_from_half(t, half, K, opt, at, a, &Kr_a));
    VH_TRY(vh_h3m_subset(ctx, t->h3m, index + n, Kb - n, &other));
    VH_TRY(label_from_half(t, other, K, opt, next, b, &Kr_b));
    vh_agreement(Kb, a, b, &agree);
    VH_CHECK(!isnan(agree.rand), VHEM_ENOMEM, "out of memory: no room to compare %lld labels", (long long)Kb);
    *out = Kr_a < 2 || Kr_b < 2 ? NAN : agree.adjusted_rand;
    return VHEM_OK;
}

static vhem_status find_stability(choice_run *t, int K, const vhem_cluster_options *opt, double *out)
{
    vhem_ctx *ctx = t->quiet;
    int64_t Kb = t->h3m->K;
    int n_splits = t->want->n_splits;
    double sum = 0, one = NAN;

    if (n_splits < 1 || K < 2 || Kb / 2 < K) /* undefined */
        return VHEM_OK;
    for (int s = 0; s < n_splits; s++) {
        const checkpoint this = result(t, "stability", opt, K, s);
        bool known;
        VH_TRY(checkpoint_find(ctx, &this, 1, &one, &known));
        if (known) {
            progress(t, 2 * WORK_HALF * work_of(K, opt->S));
        } else {
            VH_TRY(compare_halves(t, K, opt, s, &one));
            VH_TRY(checkpoint_add(ctx, &this, 1, &one));
        }
        sum += one;
    }
    *out = sum / n_splits;
    return VHEM_OK;
}

/* ---- 3. the evidence ----------------------------------------------------------------------------------- */

enum { EVIDENCE = 4 };

/* Stores the evidence of a clustering by variational Bayes, and the clusters and states it keeps, in x
 * [EVIDENCE]. */
static void list_evidence(const vh_clustering *c, double *x)
{
    x[0] = c->value;
    x[1] = c->options.nv * c->options.tau;
    x[2] = c->Kr;
    x[3] = 0;
    for (int j = 0; j < c->Kr; j++)
        x[3] = fmax(x[3], c->centers->hmm[j].S);
}

static void fill_evidence(const double *x, vhem_choice *row)
{
    row->evidence = x[0];
    row->frames = x[1];
    row->K_used = x[2];
    row->S_used = x[3];
}

static bool by_bayes(const vhem_cluster_options *opt)
{
    return opt->method && vh_method_find(opt->method) && vh_method_find(opt->method)->traits & VH_FINDS_K;
}

/* Options of variational Bayes next to a table by another method: those that both share, without nv and the
 * preset, which mean something else there. */
static vhem_cluster_options bayes_options(const vhem_cluster_options *opt, int tau)
{
    vhem_cluster_options o;
    if (by_bayes(opt)) {
        o = *opt;
    } else {
        VHEM_INIT(VHEM_CLUSTER_OPTIONS, &o);
        o.method = "vbhem";
        o.search = opt->search;
        o.restarts = opt->restarts;
    }
    o.S = opt->S;
    o.M = opt->M;
    o.tau = tau;
    return o;
}

/* Runs variational Bayes for the evidence alone; nv is negative for the default. */
static vhem_status find_evidence(choice_run *t, int K, const vhem_cluster_options *opt, double nv,
                                 vhem_choice *row)
{
    vhem_ctx *ctx = t->quiet;
    VH_OWN(vh_clustering) *c = NULL;
    vhem_cluster_options o = bayes_options(opt, opt->tau);
    vh_input in = vh_input_models(t->h3m, K);
    double x[EVIDENCE];
    bool known;

    in.centers_only = true;
    if (!vh_prior_exists(t->h3m->family, &t->h3m->shape))
        return VHEM_OK;
    if (nv > 0)
        o.nv = nv;
    const checkpoint this = result(t, "evidence", &o, K, 0);
    VH_TRY(checkpoint_find(ctx, &this, EVIDENCE, x, &known));
    if (!known) {
        VH_TRY(vh_cluster(ctx, &in, &o, (uint64_t)ctx->opt.seed, &c));
        list_evidence(c, x);
        VH_TRY(checkpoint_add(ctx, &this, EVIDENCE, x));
    }
    fill_evidence(x, row);
    progress(t, WORK_VB * work_of(K, opt->S));
    return VHEM_OK;
}

/* ---- 4. other seeds ------------------------------------------------------------------------------------ */

static vhem_status compare_seed(choice_run *t, const int *label, const vhem_cluster_options *opt, int K,
                                int s, double *out)
{
    vhem_ctx *ctx = t->quiet;
    VH_OWN(vh_clustering) *c = NULL;
    vh_input in = vh_input_models(t->h3m, K);
    vhem_agreement g;

    in.centers_only = true;
    VH_TRY(vh_cluster(ctx, &in, opt, vh_rng_seed((uint64_t)ctx->opt.seed, ((uint64_t)s + 1) << 48), &c));
    vh_agreement(c->Kb, c->label, label, &g);
    VH_CHECK(!isnan(g.rand), VHEM_ENOMEM, "out of memory: no room to compare %lld labels", (long long)c->Kb);
    *out = g.adjusted_rand;
    return VHEM_OK;
}

/* Mean agreement of the groups, label [Kb], with those from other seeds. */
static vhem_status find_agreement(choice_run *t, const int *label, const vhem_cluster_options *opt, int K,
                                  double *out)
{
    vhem_ctx *ctx = t->quiet;
    double sum = 0, one = NAN;

    for (int s = 0; s < t->want->n_seeds; s++) {
        const checkpoint this = result(t, "seeds", opt, K, s);
        bool known;
        VH_TRY(checkpoint_find(ctx, &this, 1, &one, &known));
        if (!known) {
            VH_TRY(compare_seed(t, label, opt, K, s, &one));
            VH_TRY(checkpoint_add(ctx, &this, 1, &one));
        }
        sum += one;
        progress(t, work_of(K, opt->S));
    }
    if (t->want->n_seeds > 0)
        *out = sum / t->want->n_seeds;
    return VHEM_OK;
}

/* ---- 5. the table and the path ------------------------------------------------------------------------- */

/* Result of a clustering: the numbers of its row, and the labels, which other seeds are compared with. */
enum { ROW = 8, FOUND = ROW + EVIDENCE };

static void list_row(const vhem_choice *r, int tau, double *x)
{
    const double all[ROW] = { r->S, r->bound, r->loglik, r->n_param, r->bic, r->icl, r->same_runs, tau };
    memcpy(x, all, sizeof all);
}

static void fill_from_list(const double *x, vhem_choice *r)
{
    r->S = (int)x[0];
    r->bound = x[1];
    r->loglik = x[2];
    r->n_param = x[3];
    r->bic = x[4];
    r->icl = x[5];
    r->same_runs = x[6];
}

/* Fills x [FOUND + Kb]: the row, the evidence if the method has one, the labels. */
static vhem_status find_row(choice_run *t, int K, const vhem_cluster_options *opt, double *x)
{
    vhem_ctx *ctx = t->quiet;
    VH_OWN(vh_clustering) *c = NULL;
    vh_input in = vh_input_models(t->h3m, K);
    vhem_choice row = { 0 };

    in.tables = true;
    VH_TRY(vh_cluster(ctx, &in, opt, (uint64_t)ctx->opt.seed, &c));
    VH_CHECK(c->centers && c->L_hmm && c->z, VHEM_EINVAL,
             "method %s has no centres, so vhem choose cannot compare it", c->method);
    fill_row(t->h3m, c, &row);
    list_row(&row, c->options.tau, x);
    if (by_bayes(opt))
        list_evidence(c, x + ROW);
    for (int64_t i = 0; i < c->Kb; i++)
        x[FOUND + i] = c->label[i];
    return VHEM_OK;
}

static vhem_status choose_one(choice_run *t, vhem_cluster_options *opt, vhem_choice *row)
{
    vhem_ctx *ctx = t->quiet;
    vhem_choice r = *row;
    int K = (int)r.K;
    VH_AUTOFREE int *label = NULL;
    const checkpoint this = result(t, "row", opt, K, 0);
    size_t n = FOUND + (size_t)t->h3m->K;
    VH_AUTOFREE double *x = NULL;
    bool known;

    VH_NEW(x, n);
    VH_NEW(label, t->h3m->K);
    VH_TRY(checkpoint_find(ctx, &this, n, x, &known));
    if (!known) {
        VH_TRY(find_row(t, K, opt, x));
        VH_TRY(checkpoint_add(ctx, &this, n, x));
    }
    fill_from_list(x, &r);
    for (int64_t i = 0; i < t->h3m->K; i++)
        label[i] = (int)x[FOUND + i];
    progress(t, work_of(K, opt->S));
    vhem_cluster_options same = *opt;
    same.tau = t->tau = (int)x[ROW - 1];
    if (by_bayes(opt))
        fill_evidence(x + ROW, &r);
    else
        VH_TRY(find_evidence(t, K, &same, -1, &r));
    VH_TRY(find_agreement(t, label, opt, K, &r.same_seeds));
    VH_TRY(find_stability(t, K, opt, &r.stability));
    *row = r;
    return VHEM_OK;
}

/* Step k of the path: how many of the largest number of clusters are kept, with fewer virtual frames than
 * usual in the first half of the steps and more in the second. */
static vhem_status follow_path(choice_run *t, int k, const vhem_cluster_options *opt,
                               const vhem_choice *usual, vhem_choice *row)
{
    vhem_cluster_options o = *opt;
    vhem_choice r = vh_choice_new(usual->K);

    r.S = usual->S;
    r.path = 1;
    int middle = (t->want->n_path - 1) / 2;
    double frames = usual->frames * pow(10, (k - middle) / 2.0);
    if (o.tau <= 0 || o.tau == VHEM_AUTO)
        o.tau = t->tau;
    VH_TRY(find_evidence(t, (int)r.K, &o, frames / o.tau, &r));
    *row = r;
    return VHEM_OK;
}

static vhem_status check_choice(vhem_ctx *ctx, const vhem_source *source, const vhem_choose_options *w,
                                const vhem_cluster_options *o)
{
    bool of_data = source->data && !source->models;

    VH_TRY(vh_models_gather(ctx, source->models));
    VH_CHECK(of_data || (source->models && source->models->h3m && !source->data), VHEM_EINVAL,
             "the source has %s, a choice is made among clusters of HMMs or of sequences",
             source->data     ? "models and sequences"
             : source->models ? "dynamic textures"
                              : "nothing");
    VH_CHECK(!o->start, VHEM_EINVAL, "a given start has its own K and S: there is nothing to choose");
    VH_CHECK(w->n_K >= 1 && w->n_S >= 1, VHEM_EINVAL, "nothing to choose from: %d values of K, %d of S",
             w->n_K, w->n_S);
    for (int k = 0; k < w->n_K; k++)
        VH_CHECK(w->K[k] >= 1 && w->K[k] <= INT_MAX, VHEM_EINVAL, "K is %lld, must be from 1 to %d",
                 (long long)w->K[k], INT_MAX);
    return VHEM_OK;
}

/* Total cost. */
static double count_work(const choice_run *t, const vhem_cluster_options *opt)
{
    const vhem_choose_options *w = t->want;
    bool vb = vh_prior_exists(t->h3m->family, &t->h3m->shape);
    double sum = 0, most = 0;
    for (int k = 0; k < w->n_K * w->n_S; k++) {
        int64_t K = w->K[k / w->n_S];
        bool halves = K > 1 && t->h3m->K / 2 >= K;
        double one = work_of((double)K, w->S[k % w->n_S]);
        sum += one * (1 + (vb && !by_bayes(opt) ? WORK_VB : 0) + w->n_seeds);
        sum += one * (halves ? 2 * WORK_HALF * w->n_splits : 0);
        most = fmax(most, one);
    }
    return sum + (vb ? WORK_VB * most * w->n_path : 0);
}

/* Row with the largest K, and among those the largest S. */
static int largest(int n, const vhem_choice *rows)
{
    int best = 0;
    for (int k = 1; k < n; k++)
        if (rows[k].K > rows[best].K || (rows[k].K == rows[best].K && rows[k].S > rows[best].S))
            best = k;
    return best;
}

static vhem_status choose_all(choice_run *t, vhem_cluster_options *o, vhem_choice *found)
{
    vhem_ctx *ctx = t->user;
    const vhem_choose_options *w = t->want;
    int n = w->n_K * w->n_S;

    t->total = count_work(t, o);
    progress(t, 0);
    for (int k = 0; k < n; k++) {
        o->S = w->S[k % w->n_S] > 0 ? w->S[k % w->n_S] : -1;
        vhem_choice row = vh_choice_new(w->K[k / w->n_S]);
        VH_TRY(choose_one(t, o, &row));
        found[k] = row;
        vh_log(ctx, VHEM_LOG_INFO, "K = %lld, S = %d: bound %.6g", (long long)row.K, row.S, row.bound);
    }
    int most = largest(n, found);
    o->S = w->S[most % w->n_S] > 0 ? w->S[most % w->n_S] : -1;
    for (int k = 0; k < w->n_path && isfinite(found[most].frames); k++)
        VH_TRY(follow_path(t, k, o, &found[most], &found[n + k]));
    return VHEM_OK;
}

/* ---- 6. sequences -------------------------------------------------------------------------------------- */

/* The numbers asked for, ascending and each once; returns how many. */
static int sort_numbers(const vhem_choose_options *w, double *work, int64_t *K)
{
    int n = 0;
    for (int k = 0; k < w->n_K; k++)
        work[k] = (double)w->K[k];
    vh_sort((size_t)w->n_K, work);
    for (int k = 0; k < w->n_K; k++)
        if (n == 0 || (int64_t)work[k] > K[n - 1])
            K[n++] = (int64_t)work[k];
    return n;
}

/* One search finds the groups for all numbers. */
static vhem_status choose_among_sequences(vhem_ctx *ctx, const vhem_source *source,
                                          const vhem_choose_options *w, vhem_cluster_options *o,
                                          vhem_choice *rows)
{
    VH_OWN(vh_clustering) *c = NULL;
    VH_AUTOFREE int64_t *item = NULL, *K = NULL;
    VH_AUTOFREE double *work = NULL;
    vh_input in;

    VH_CHECK(w->n_S == 1 && w->n_splits <= 0 && w->n_seeds <= 0 && w->n_path <= 0, VHEM_EINVAL,
             "several numbers of states, halvings, other seeds and the path are for models, not sequences");
    o->method = o->method ? o->method : vh_method_usual(VH_DATA)->name;
    VH_CHECK(vh_method_find(o->method) && vh_method_find(o->method)->traits & VH_KEEPS, VHEM_EINVAL,
             "among clusters of sequences method %s chooses, not %s", vh_method_usual(VH_DATA)->name,
             o->method);
    VH_NEW(K, w->n_K);
    VH_NEW(work, w->n_K);
    VH_TRY(vh_input_data(ctx, source->data, source->by_group > 0, &item, &in));
    in.n_choice = sort_numbers(w, work, K);
    in.choice = K;
    o->S = w->S[0] > 0 ? w->S[0] : -1;
    VH_TRY(vh_cluster(ctx, &in, o, (uint64_t)ctx->opt.seed, &c));
    for (int k = 0; k < w->n_K; k++)
        for (int t = 0; t < c->n_choice; t++)
            if (c->choice[t].K == w->K[k])
                rows[k] = c->choice[t];
    return VHEM_OK;
}

vhem_status vhem_choose(vhem_ctx *ctx, const vhem_source *source, const vhem_choose_options *want,
                        const vhem_cluster_options *opt, vhem_choice *rows)
{
    VH_ENTER(source, want, rows);
    VH_OPTIONS(VHEM_CHOOSE_OPTIONS, vhem_choose_options, want);
    VH_AUTOFREE vhem_choice *found = NULL;
    vhem_ctx quiet;
    vhem_cluster_options o;

    VH_TRY(vh_options_take(ctx, VHEM_CLUSTER_OPTIONS, opt, &o));
    VH_TRY(check_choice(ctx, source, want, &o));
    if (source->data)
        return choose_among_sequences(ctx, source, want, &o, rows);
    int n = want->n_K * want->n_S + (want->n_path > 0 ? want->n_path : 0);
    VH_NEW(found, n);
    vh_ctx_child(ctx, ctx->threads, &quiet);
    quiet.opt.log = ctx->opt.log;
    quiet.opt.log_arg = ctx->opt.log_arg;
    choice_run t = { .user = ctx, .quiet = &quiet, .h3m = source->models->h3m, .want = want };
    VH_TRY(checkpoint_init(ctx, t.h3m, o.checkpoint, &t.kept));
    vhem_status st = choose_all(&t, &o, found);
    vh_progress(ctx, "choose", UNITS, UNITS);
    if (st != VHEM_OK)
        vh_fail(ctx, st, "%s", quiet.error);
    for (int k = 0; (st == VHEM_OK || st == VHEM_ESTOPPED) && k < n; k++)
        rows[k] = found[k];
    return st;
}
