/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - see options.h.  Files and fingerprints list the rows in this order; append new rows that go
 * into files, marked VH_IF_SET. */
#include "core/options.h"

#include "core/number.h"
#include "core/text.h"
#include "vhem/analysis.h"
#include "vhem/classes.h"
#include "vhem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Same as in methods/methods.c; a test compares the two. */
#define METHODS                                                                                    \
    "vhem|vbhem|auto|em-h3m|shem|hem-gmm|hem-dtm|ppk-sc|ppk-sc-hybrid|kl-sc|knn-sc|kl-sampled-sc|" \
    "ppk-ac|kl-ac|kl-sampled-ac"
/* Which methods use an option.  HEM: hierarchical EM; EM: EM on sequences, given or sampled; the hybrid
 * learns its centres by vhem; SPECTRAL methods run k-means, LINKED methods merge.  Variational Bayes needs no
 * floors and no repairs. */
#define HEM       "vhem vbhem hem-gmm hem-dtm"
#define EM        "em-h3m shem"
#define HYBRID    "ppk-sc-hybrid"
#define SPECTRAL  "ppk-sc ppk-sc-hybrid kl-sc knn-sc kl-sampled-sc"
#define LINKED    "ppk-ac kl-ac kl-sampled-ac"
#define LEARNING  HEM " " EM " " HYBRID
#define ITERATING HEM " " EM " " SPECTRAL
#define FLOORED   "vhem hem-gmm hem-dtm " EM " " HYBRID
enum { LARGEST_RECORD = 1 << 16 }; /* bytes; no record was ever larger */

#define ABOVE_0 1e-300 /* lower bound of a number that must be positive */
/* Same as in emission/emission.c, where the product family names its columns; a test compares the two. */
#define EMISSIONS                                                                \
    "gaussian-diag|gaussian-full|poisson|bernoulli|gamma|von-mises|categorical|" \
    "gaussian-tied:FILE|COL:NAME,..."

/* clang-format off */
#define ROW(type, record, use, name, letter, least, argument, fallback, methods, help) \
    { { #name, letter, type, offsetof(record, name), least, argument, fallback, methods, help }, use }

#define INT(...)    ROW(VHEM_OPTION_INT, __VA_ARGS__)
#define INT64(...)  ROW(VHEM_OPTION_INT64, __VA_ARGS__)
#define REAL(...)   ROW(VHEM_OPTION_REAL, __VA_ARGS__)
#define TEXT(...)   ROW(VHEM_OPTION_TEXT, __VA_ARGS__)
#define CHOICE(...) ROW(VHEM_OPTION_CHOICE, __VA_ARGS__)
#define FLAG(...)   ROW(VHEM_OPTION_FLAG, __VA_ARGS__)
#define END { { 0 }, 0 }

/* ---- the rows ------------------------------------------------------------------------------------------ */

#define R vhem_data_options
static const vh_option data_rows[] = {
    CHOICE(R, 0, format, 'f', 0, "csv|tsv|xlsx|dir|npy|npz|ts|hdf5", "detected from the file", NULL,
           "format of the data"),
    TEXT(R, 0, id, 'i', 0, "COL[,COL]", "id or seq", NULL, "columns that name a sequence"),
    TEXT(R, 0, label, 'l', 0, "COL", "label, if there is one", NULL, "column with the class"),
    TEXT(R, 0, group, 'g', 0, "COL", "none", NULL, "column with the group of a sequence"),
    TEXT(R, 0, weight, 0, 0, "COL", "all 1", NULL, "column with the weight of a sequence"),
    TEXT(R, 0, columns, 'c', 0, "COL[,COL]", "every other numeric column", NULL,
         "columns that are the dimensions"),
    TEXT(R, 0, where, 'w', 0, "COL=VALUE", "everything", NULL,
         "read only the rows or sequences with this value"),
    TEXT(R, 0, order, 0, 0, "COL", "the order of the file", NULL,
         "column to sort the rows of each sequence by, such as a time or a frame number"),
    INT64(R, 0, memory, 0, 0, "SIZE", "1G", NULL,
          "frames kept in memory, such as 512M or 2G, 0 for all; larger data goes to a file in TMPDIR"),
    TEXT(R, 0, missing, 0, 0, "WORD[,WORD]", "none besides NA, N/A, NaN, NULL, ? and .", NULL,
         "words and numbers that stand for a missing value in a text file, as in --missing=-999,lost"),
    TEXT(R, 0, sheet, 0, 0, "NAME", "the first that is not hidden", NULL,
         "sheet of an .xlsx workbook, by its name or its number from 1"),
    END,
};
#undef R

#define R vhem_fit_options
static const vh_option fit_rows[] = {
    INT(R, VH_IN_FILES, S, 'S', 1, "S|auto", "3", NULL,
        "states of each HMM; auto chooses 1 to 6 for each; for textures, the dimension of the state"),
    INT(R, VH_IN_FILES, M, 'M', 1, "M", "1", "hmm", "Gaussians in the mixture of each state"),
    INT64(R, VH_IN_FILES, K, 'k', 0, "K", "0", NULL,
          "models of a mixture; 0: one model for each sequence or group"),
    INT(R, VH_IN_FILES, max_iter, 0, 0, "N", "200; dtm: 100", NULL, "most iterations of a run"),
    INT(R, VH_IN_FILES, restarts, 'r', 1, "R",
        "10; 4 of a mixture, of textures and of pieces; 1 with a given start", NULL,
        "number of random starts; the best result is kept"),
    REAL(R, VH_IN_FILES, tol, 0, 0, "T", "1e-05", NULL,
         "stop when an iteration gains less than this, in nats per frame; 0: never"),
    REAL(R, VH_IN_FILES, cov_floor, 0, 0, "F", "0.0001", NULL,
         "smallest variance, as a share of the variance within states; of textures, of all data; 0: none"),
    CHOICE(R, VH_IN_FILES, emission, 0, 0, EMISSIONS, "gaussian-diag", "hmm",
           "emissions of a state: gaussian-diag, gaussian-full; poisson: counts; bernoulli: 0 or 1; gamma: "
           "positive numbers; von-mises: angles in radians; categorical: symbols; or by column, as in "
           "'step:gamma,turn:von-mises,x+y:gaussian-full'; or gaussian-tied:FILE, weights of the Gaussians "
           "that vhem background has written"),
    CHOICE(R, VH_IN_FILES, init, 0, 0, "kmeans|random|segment", "kmeans", "hmm", "how a run starts"),
    CHOICE(R, VH_IN_FILES, topology, 0, 0, "free|left-right|linear", "free", "hmm",
           "allowed transitions: all, never back, to the next state only"),
    FLAG(R, VH_IN_FILES, repair, 0, 0, NULL, "1", "hmm", "revive states and components that die"),
    CHOICE(R, VH_IN_FILES | VH_IF_SET, model, 0, 0, "hmm|dtm", "hmm", NULL,
           "HMMs, or dynamic textures: linear dynamical systems"),
    CHOICE(R, VH_IN_FILES | VH_IF_SET, learn, 0, 0, "svd|em", "svd", "dtm",
           "in closed form from principal components, or by EM from there; mixtures always use EM"),
    CHOICE(R, VH_IN_FILES | VH_IF_SET, noise, 0, 0, "diag|isotropic", "diag", "dtm",
           "covariance of the noise, R"),
    TEXT(R, VH_IN_FILES | VH_IF_SET, prior, 0, 0, "PRIOR", "vb; none with a given start", "hmm",
         "none: maximum likelihood; vb: variational Bayes; eb: vb with the strength of the prior estimated "
         "as well; settings of vb, as in nu0=1,start=ml, or of eb, as in eb:count=2 (nu0, count, lambda, "
         "start, frames); or a file with a prior, such as models fitted with one"),
    FLAG(R, 0, pieces, 0, 0, NULL, "0", NULL, "with K: a mixture of K for each sequence or group by itself"),
    FLAG(R, 0, by_group, 0, 0, NULL, "0", NULL, "the sequences of a group belong together"),
    TEXT(R, 0, store, 0, 0, "FILE", "none", NULL,
         "file that keeps each model as soon as it is fitted, to continue from after an interruption"),
    INT(R, VH_IN_FILES | VH_IF_SET, S_max, 0, 1, "S", "none", "hmm",
        "choose the number of states of each HMM from S to this, by variational Bayes"),
    END,
};
#undef R

#define R vhem_cluster_options
static const vh_option cluster_rows[] = {
    CHOICE(R, 0, method, 0, 0, METHODS, "vhem; sequences: auto; textures: hem-dtm", NULL, "how to cluster"),
    CHOICE(R, VH_IN_FILES, preset, 0, 0, "paper|emhmm", "none", HEM " " HYBRID,
           "paper: the settings of the paper; emhmm: those of the EMHMM toolbox; other options override it"),
    INT(R, VH_IN_FILES, S, 'S', 1, "S", "as the input; method auto: several",
        "vhem vbhem hem-dtm auto " EM " " HYBRID,
        "states of the centres (vbhem: the maximum); for textures, the dimension of the state"),
    INT(R, VH_IN_FILES, M, 'M', 1, "M", "as the input", "vhem vbhem hem-gmm auto " EM " " HYBRID,
        "Gaussians in each state of the centres"),
    INT(R, VH_IN_FILES, tau, 0, 1, "T|auto", "10", HEM " shem " SPECTRAL " " LINKED,
        "length of the virtual samples, in frames; auto: the median length of the sequences behind the "
        "models"),
    REAL(R, VH_IN_FILES, nv, 0, ABOVE_0, "V",
         "10000; shem: 10; vbhem: median frames of a sequence (10 if unknown) / tau; emhmm: models / tau",
         HEM " shem " HYBRID,
         "virtual samples per input model; fewer make assignments softer; with vbhem, more support more "
         "clusters"),
    INT(R, VH_IN_FILES, max_iter, 0, 0, "N", "200; emhmm: 101", ITERATING, "most iterations of a run"),
    INT(R, VH_IN_FILES, restarts, 'r', 1, "R",
        "20 to 300, more for small inputs; em-h3m, shem, hem-dtm: 10; 1 with a given start", ITERATING,
        "number of random starts; the best result is kept"),
    REAL(R, VH_IN_FILES, tol, 0, 0, "T", "1e-05; vbhem: 1e-06", LEARNING,
         "a run ends when the bound changes by less than this share; 0: never"),
    REAL(R, VH_IN_FILES, cov_floor, 0, 0, "F", "1e-06; em-h3m, shem: 0.0001; 0 with a preset", FLOORED,
         "smallest variance of a centre, as a share of the variance of the input; 0: none"),
    REAL(R, VH_IN_FILES, cov_add, 0, 0, "A", "0; emhmm: 0.001", "vhem hem-gmm " HYBRID,
         "added to the diagonal of covariances after each iteration"),
    CHOICE(R, VH_IN_FILES, init, 0, 0, "auto|base|far|emissions|pooled|dealt", "auto", HEM " " EM,
           "how a run starts; em-h3m, shem: auto, far, dealt; hem-dtm: auto, base, far"),
    INT(R, VH_IN_FILES, soft, 0, 0, "N", "20; 0 with a given start", HEM " " HYBRID,
        "iterations with soft assignments before the wanted number of virtual samples"),
    FLAG(R, VH_IN_FILES, repair, 0, 0, NULL, "1", FLOORED, "re-seed empty clusters and dead states"),
    FLAG(R, VH_IN_FILES, weighted_omega, 0, 0, NULL, "0", "vhem hem-gmm hem-dtm " SPECTRAL " " LINKED,
         "weight each centre by the mass of its members, not by their number"),
    CHOICE(R, VH_IN_FILES | VH_IF_SET, emission, 0, 0, EMISSIONS, "gaussian-diag; models have theirs",
         "em-h3m auto",
           "emissions of the centres when sequences are clustered"),
    REAL(R, VH_IN_FILES, lambda, 0, ABOVE_0, "L", "0.5", "ppk-sc ppk-sc-hybrid ppk-ac",
         "power of the probability product kernel"),
    CHOICE(R, VH_IN_FILES, kernel, 0, 0, "normalised|raw|scaled", "normalised", "ppk-sc ppk-sc-hybrid",
           "kernels divided by the kernels of each HMM with itself; raw; or divided and then to the "
           "power that makes their median 1/e"),
    CHOICE(R, VH_IN_FILES, diagonal, 0, 0, "zero|keep", "zero", SPECTRAL,
           "set the diagonal of the affinity matrix to zero, or keep it"),
    CHOICE(R, VH_IN_FILES, linkage, 0, 0, "average|complete|single", "average", LINKED,
           "distance of two clusters: the average, the largest or the smallest distance between their HMMs"),
    CHOICE(R, VH_IN_FILES | VH_IF_SET, search, 0, 0, "auto|fast|thorough|restarts",
           "auto; restarts with a preset, an init or a given start", "vhem vbhem hem-gmm",
           "auto: restarts and candidates from distances between the models; fast: one such candidate; "
           "thorough: more of both; restarts: random starts only"),
    INT(R, VH_IN_FILES | VH_IF_SET, neighbours, 0, 1, "N", "10, or fewer where clusters are smaller",
         "knn-sc",
        "neighbours of each model in the graph"),
    INT(R, VH_IN_FILES | VH_IF_SET, landmarks, 0, 1, "N",
        "all; above 20,000 models, 2000 or 10 per cluster, whichever is more; auto: above 4000, 2500",
        SPECTRAL " auto",
        "number of models to compute the eigenvectors from; the others are placed by their distances to "
        "these"),
    INT(R, VH_IN_FILES | VH_IF_SET, candidate, 0, 1, "N", "1", "vhem",
        "keep the N-th best of the partitions found, not the best"),
    INT(R, VH_IN_FILES | VH_IF_SET, refine, 0, 1, "Q", "1", "vhem",
        "cut base Gaussians that overlap into Q slabs, at most 32, or states with several symbols into Q by "
        "symbol: a tighter bound, and centres whose states blur less"),
    TEXT(R, VH_IN_FILES | VH_IF_SET, prior, 0, 0, "FILE|SETTINGS", "one that follows the scale of the input",
         "vbhem",
         "prior of the centres (vbhem): a file that holds one, or settings such as alpha=1,lambda=0.01,nu=5. "
         "The settings are alpha, eta, eps, kappa, lambda, nu and scale; for other families than Gaussians, "
         "frames replaces the last three"),
    INT(R, VH_IN_FILES | VH_IF_SET, learn_prior, 0, 0, "H", "0", "vbhem",
        "learn the prior again before every H-th iteration; 0: never"),
    FLAG(R, VH_IN_FILES | VH_IF_SET, prune, 0, 0, NULL, "1", "vbhem",
         "remove clusters and states that are not needed"),
    INT(R, VH_IN_FILES | VH_IF_SET, first_reduce, 0, 1, "R", "none", "vhem",
        "reduce every file of a folder of models by itself to R centres, and cluster those: each file is "
        "read once"),
    INT64(R, 0, memory, 0, 0, "SIZE", "1G", "vhem",
          "models kept in memory, such as 512M or 2G, 0 for all; the others are read from disk in every "
          "iteration"),
    TEXT(R, 0, checkpoint, 0, 0, "FILE", "none", "vhem",
         "keep every iteration in FILE, and what choose has finished; after a kill, the same command "
         "continues from there"),
    FLAG(R, 0, keep_tables, 0, 0, NULL, "0", "vhem",
         "keep z and L_hmm even if they have more than 4 million numbers"),
    CHOICE(R, VH_IN_FILES | VH_IF_SET, topology, 0, 0, "free|left-right|linear", "free and linear are tried",
           "auto", "allowed transitions of the models: all, never back, to the next state only"),
    END,
};
#undef R

#define R vhem_distance_options
static const vh_option distance_rows[] = {
    CHOICE(R, 0, kind, 0, 0, "kl|kl-sampled|ppk", "kl", NULL,
           "variational divergence, sampled divergence, or probability product kernel"),
    INT(R, 0, tau, 0, 1, "T", "10", NULL, "frames of the sequences compared"),
    INT(R, 0, samples, 'n', 2, "N", "1000", "kl-sampled", "sequences drawn from each HMM"),
    REAL(R, 0, lambda, 0, ABOVE_0, "P", "0.5", "ppk", "power of the kernel"),
    FLAG(R, 0, normalised, 0, 0, NULL, "1", "ppk", "divide the kernel by those of each HMM with itself"),
    FLAG(R, 0, symmetric, 0, 0, NULL, "0", "kl kl-sampled", "the mean of both directions"),
    END,
};
#undef R

#define R vhem_train_options
static const vh_option train_rows[] = {
    CHOICE(R, VH_IN_FILES, estimator, 0, 0, METHODS, "vhem; textures: hem-dtm", NULL,
         "how the model of a class is made: a clustering method"),
    FLAG(R, VH_IN_FILES, by_group, 0, 0, NULL, "0", NULL,
         "the groups of the data are the items, not its sequences"),
    INT(R, VH_IN_FILES, chunk, 0, 1, "N", "1", NULL, "items of a class that make a piece"),
    INT(R, VH_IN_FILES, bootstrap, 0, 0, "B", "0", NULL,
        "number of subsamples of the items of each class, used as pieces instead"),
    INT(R, VH_IN_FILES, sample, 0, 0, "b", "0", NULL, "items in each of the subsamples"),
    INT(R, VH_IN_FILES, min_items, 0, 1, "N", "1", NULL, "leave out classes or tags with fewer items"),
    CHOICE(R, VH_IN_FILES, prior, 0, 0, "uniform|counts", "uniform", NULL,
         "prior probabilities of the classes"),
    INT64(R, 0, K, 'k', 1, "K", "4", NULL, "models of a class, or fewer when it has fewer pieces"),
    TEXT(R, 0, store, 0, 0, "FILE", "none", NULL,
         "file that keeps each model as soon as it is fitted, to continue from after an interruption"),
    END,
};
#undef R

#define R vhem_rank_options
static const vh_option rank_rows[] = {
    INT(R, 0, top, 0, 0, "N", "10; classes: 1", NULL, "classes or tags that each item is given"),
    CHOICE(R, 0, never_given, 0, 0, "zero|base-rate", "zero", NULL,
           "precision of a class or tag that no item is given: 0, or the share of the items that have it"),
    END,
};
#undef R
/* clang-format on */

const vh_option *vh_options(vhem_option_set set)
{
    static const vh_option none[] = { END };
    static const vh_option *const sets[] = { data_rows,     fit_rows,   cluster_rows,
                                             distance_rows, train_rows, rank_rows };
    return set <= VHEM_RANK_OPTIONS ? sets[set] : none;
}

vhem_status vhem_option_info(vhem_option_set set, int i, vhem_option *out)
{
    if ((int)set < VHEM_DATA_OPTIONS || set > VHEM_RANK_OPTIONS || i < 0)
        return VHEM_EINVAL;
    const vh_option *row = vh_options(set);
    for (int k = 0; k < i && row->shown.name; k++)
        row++;
    if (!row->shown.name)
        return VHEM_EINVAL;
    *out = row->shown;
    return VHEM_OK;
}

/* ---- values -------------------------------------------------------------------------------------------- */

static bool is_text(const vh_option *row)
{
    return row->shown.type == VHEM_OPTION_TEXT || row->shown.type == VHEM_OPTION_CHOICE;
}

static const void *at(const vh_option *row, const void *record)
{
    return (const char *)record + row->shown.offset;
}

double vh_option_number(const vh_option *row, const void *record)
{
    if (row->shown.type == VHEM_OPTION_REAL)
        return *(const double *)at(row, record);
    if (row->shown.type == VHEM_OPTION_INT64)
        return (double)*(const int64_t *)at(row, record);
    return *(const int *)at(row, record);
}

void vh_option_set_number(const vh_option *row, double x, void *record)
{
    void *to = (char *)record + row->shown.offset;
    if (row->shown.type == VHEM_OPTION_REAL)
        *(double *)to = x;
    else if (row->shown.type == VHEM_OPTION_INT64)
        *(int64_t *)to = (int64_t)x;
    else
        *(int *)to = (int)x;
}

const char **vh_option_text(const vh_option *row, void *record)
{
    return (const char **)((char *)record + row->shown.offset);
}

static const char *text_of(const vh_option *row, const void *record)
{
    return *(const char *const *)at(row, record);
}

bool vh_option_unset(const vh_option *row, const void *record)
{
    return is_text(row) ? !text_of(row, record) : vh_option_number(row, record) < 0;
}

static size_t size_of(vhem_option_set set)
{
    static const size_t size[] = { sizeof(vhem_data_options),    sizeof(vhem_fit_options),
                                   sizeof(vhem_cluster_options), sizeof(vhem_distance_options),
                                   sizeof(vhem_train_options),   sizeof(vhem_rank_options),
                                   sizeof(vhem_ctx_options),     sizeof(vhem_choose_options),
                                   sizeof(vhem_stats_input),     sizeof(vhem_report_input) };
    return (int)set < VHEM_DATA_OPTIONS || set > VHEM_REPORT_INPUT ? 0 : size[set];
}

/* All records; each begins with its size. */
typedef union {
    size_t size;
    vhem_data_options data;
    vhem_fit_options fit;
    vhem_cluster_options cluster;
    vhem_distance_options distance;
    vhem_train_options train;
    vhem_rank_options rank;
    vhem_ctx_options ctx;
    vhem_choose_options choose;
    vhem_stats_input stats;
    vhem_report_input report;
} any_record;

static void set_defaults(vhem_option_set set, any_record *to)
{
    memset(to, 0, sizeof *to);
    for (const vh_option *row = vh_options(set); row->shown.name; row++)
        if (!is_text(row))
            vh_option_set_number(row, -1, to);
    if (set == VHEM_RANK_OPTIONS)
        to->rank.n_k = -1;
    else if (set == VHEM_CTX_OPTIONS)
        to->ctx.threads = -1, to->ctx.seed = -1;
    else if (set == VHEM_STATS_INPUT)
        to->stats.confidence = -1;
    to->size = size_of(set);
}

void vhem_options_init(vhem_option_set set, void *record, size_t size)
{
    any_record full;
    size_t known = size_of(set);

    if (known == 0 || size < sizeof full.size)
        return;
    set_defaults(set, &full);
    full.size = size;
    memset(record, 0, size); /* fields of a newer header */
    memcpy(record, &full, size < known ? size : known);
}

vhem_status vh_options_take(vhem_ctx *ctx, vhem_option_set set, const void *given, void *full)
{
    any_record to;
    size_t known = size_of(set), size = given ? *(const size_t *)given : 0;

    VH_CHECK(!given || (size >= sizeof size && size <= LARGEST_RECORD), VHEM_EINVAL,
             "the record of options has size %zu: fill it with VHEM_INIT before you set its fields", size);
    set_defaults(set, &to);
    memcpy(&to, given ? given : &to, size < known ? size : known);
    to.size = known;
    memcpy(full, &to, known);
    return VHEM_OK;
}

vhem_status vh_options_check(vhem_ctx *ctx, vhem_option_set set, const void *record)
{
    char known[160];

    for (const vh_option *row = vh_options(set); row->shown.name; row++) {
        const vhem_option *o = &row->shown;
        if (is_text(row)) {
            const char *word = text_of(row, record);
            bool by_column = word && strchr(word, ':') && strstr(o->argument, "COL:");
            if (o->type == VHEM_OPTION_TEXT || !word || by_column || vh_has_word(o->argument, '|', word))
                continue;
            VH_CHECK(0, VHEM_EINVAL, "%s '%.80s' is unknown; known are %s", o->name, word,
                     vh_list_words(o->argument, known, sizeof known));
        }
        double x = vh_option_number(row, record);
        VH_CHECK(x <= 1e300, VHEM_EINVAL, "%s is %g, must be a finite number", o->name, x);
        if (x < 0 || x >= o->least)
            continue;
        if (o->least == ABOVE_0)
            VH_CHECK(0, VHEM_EINVAL, "%s is %g, must be a positive number", o->name, x);
        VH_CHECK(0, VHEM_EINVAL, "%s is %g, must be at least %g", o->name, x, o->least);
    }
    return VHEM_OK;
}

static bool is_used(const vh_option *row, const char *method)
{
    return !row->shown.methods || vh_has_word(row->shown.methods, ' ', method);
}

/* True if the option has no effect: left at its default, or a flag set to its default. */
static bool is_idle(const vh_option *row, const void *record)
{
    bool flag = row->shown.type == VHEM_OPTION_FLAG;
    return vh_option_unset(row, record)
           || (flag && (vh_option_number(row, record) > 0) == (row->shown.fallback[0] == '1'));
}

vhem_status vh_options_check_uses(vhem_ctx *ctx, vhem_option_set set, const void *record, const char *method)
{
    for (const vh_option *row = vh_options(set); row->shown.name; row++) {
        VH_CHECK(is_used(row, method) || is_idle(row, record), VHEM_EINVAL, "method %s does not use %s",
                 method, row->shown.name);
    }
    return VHEM_OK;
}

void vh_options_drop_unused(vhem_option_set set, const char *method, void *record)
{
    for (const vh_option *row = vh_options(set); row->shown.name; row++)
        if (!is_used(row, method) && is_text(row))
            *vh_option_text(row, record) = NULL;
        else if (!is_used(row, method))
            vh_option_set_number(row, -1, record);
}

void vh_options_fill(vhem_option_set set, void *record)
{
    for (const vh_option *row = vh_options(set); row->shown.name; row++) {
        const vhem_option *o = &row->shown;
        char *end;
        if (!vh_option_unset(row, record))
            continue;
        if (is_text(row)) {
            if (o->type == VHEM_OPTION_CHOICE && vh_has_word(o->argument, '|', o->fallback))
                *vh_option_text(row, record) = o->fallback;
            continue;
        }
        double x = vh_number_read(o->fallback, &end);
        if (*end == '\0')
            vh_option_set_number(row, x, record);
    }
}

vhem_status vh_options_own(vhem_ctx *ctx, vhem_option_set set, vh_texts *texts, void *record)
{
    for (const vh_option *row = vh_options(set); row->shown.name; row++)
        if (is_text(row) && text_of(row, record))
            VH_TRY(vh_texts_keep(ctx, texts, text_of(row, record), vh_option_text(row, record)));
    return VHEM_OK;
}

/* ---- files and fingerprints ---------------------------------------------------------------------------- */

/* The number as files and fingerprints write it: 0 for a size left at its default (-1). */
static double written_number(const vh_option *row, const void *record)
{
    double x = vh_option_number(row, record);
    bool size = row->shown.type == VHEM_OPTION_INT && row->shown.least >= 1;
    return x < 0 && size ? 0 : x;
}

bool vh_option_in_files(const vh_option *row, const void *record)
{
    return row->use & VH_IN_FILES && (!(row->use & VH_IF_SET) || !vh_option_unset(row, record));
}

void vh_options_hash(vh_hash *hash, const vh_option *row, const void *record)
{
    vh_hash_text(hash, row->shown.name);
    if (is_text(row))
        vh_hash_text(hash, text_of(row, record));
    else
        vh_hash_number(hash, written_number(row, record));
}

void vh_option_print(FILE *f, const char *lead, const vh_option *row, const void *record, bool flags)
{
    char number[VH_NUMBER_SIZE];
    const vhem_option *o = &row->shown;

    fprintf(f, "%s\"%s\": ", lead, strcmp(o->name, "min_items") == 0 ? "min_things" : o->name);
    if (is_text(row) && text_of(row, record))
        vh_text_json(f, text_of(row, record));
    else if (is_text(row))
        fputs("null", f);
    else if (o->type == VHEM_OPTION_REAL)
        fwrite(number, 1, vh_number_text(vh_option_number(row, record), number), f);
    else if (o->type == VHEM_OPTION_FLAG && flags)
        fputs(vh_option_number(row, record) > 0 ? "true" : "false", f);
    else
        fprintf(f, "%.0f", written_number(row, record));
}
