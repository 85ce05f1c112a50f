/* SPDX-License-Identifier: BSD-3-Clause */
/* tree_write.c - writes clustering and tree files, docs/formats.md.  Numbers are streamed, so a table of a
 * million assignments needs no JSON tree in memory.  The reader is tree_read.c. */
#include "cluster/tree_file.h"

#include "core/atomic_file.h"
#include "core/array2.h"
#include "core/number.h"
#include "core/options.h"
#include "core/text.h"
#include "dtm/dtm.h"
#include "hmm/hmm_set.h"
#include "files/hmm_file.h"
#include "vhem.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void print_number(FILE *f, double x)
{
    char text[VH_NUMBER_SIZE];
    fwrite(text, 1, vh_number_text(x, text), f);
}

static void print_numbers(FILE *f, int64_t n, const double *x)
{
    putc('[', f);
    for (int64_t k = 0; k < n; k++) {
        if (k > 0)
            fputs(", ", f);
        print_number(f, x[k]);
    }
    putc(']', f);
}

static void print_ints(FILE *f, int64_t n, const int *x)
{
    putc('[', f);
    for (int64_t k = 0; k < n; k++)
        fprintf(f, "%s%d", k > 0 ? ", " : "", x[k]);
    putc(']', f);
}

/* Prints [rows][columns], one row per line. */
static void print_table(FILE *f, const char *key, int64_t rows, int columns, const double *x)
{
    fprintf(f, ",\n \"%s\": [", key);
    for (int64_t i = 0; i < rows && !ferror(f); i++) {
        fputs(i > 0 ? ",\n  " : "\n  ", f);
        print_numbers(f, columns, x + vh_row(i, columns));
    }
    putc(']', f);
}

static void print_text(FILE *f, const char *lead, const char *key, const char *text)
{
    fprintf(f, "%s\"%s\": ", lead, key);
    if (text)
        vh_text_json(f, text);
    else
        fputs("null", f);
}

static void print_real(FILE *f, const char *key, double x)
{
    fprintf(f, ", \"%s\": ", key);
    print_number(f, x);
}

/* A key that is left out where its value is not known. */
static void print_known(FILE *f, const char *key, double x)
{
    if (isfinite(x))
        print_real(f, key, x);
}

/* Prints the options used, with the number of clusters and by_group among them. */
static void print_options(FILE *f, const vh_clustering *c)
{
    const char *lead = ",\n \"options\": {";
    for (const vh_option *row = vh_options(VHEM_CLUSTER_OPTIONS); row->shown.name; row++) {
        if (!vh_option_in_files(row, &c->options))
            continue;
        if (strcmp(row->shown.name, "S") == 0)
            fprintf(f, ", \"K\": %d", c->Kr);
        if (strcmp(row->shown.name, "emission") == 0)
            fprintf(f, ", \"by_group\": %s", c->by_group ? "true" : "false");
        vh_option_print(f, lead, row, &c->options, true);
        lead = ", ";
    }
    putc('}', f);
}

static bool all_finite(size_t n, const double *x)
{
    for (size_t k = 0; k < n; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

/* JSON cannot represent infinity: a restart with an infinite bound is omitted, and one with infinite values
 * in between has no curve. */
static void print_runs(FILE *f, const vh_clustering *c)
{
    int told = 0;
    fputs(",\n \"restarts\": [", f);
    for (int r = 0; r < c->n_run; r++) {
        const vhem_cluster_run *u = &c->run[r];
        if (!isfinite(u->bound))
            continue;
        fprintf(f, "%s{\"seed\": %" PRIu64, told++ > 0 ? ",\n  " : "\n  ", u->seed);
        print_real(f, "bound", u->bound);
        fprintf(f, ", \"n_iter\": %d, \"converged\": %s", u->n_iter, u->converged ? "true" : "false");
        print_text(f, ", ", "init", u->init);
        fprintf(f, ", \"finished\": %s", u->finished ? "true" : "false");
        print_known(f, "modularity", u->modularity);
        print_known(f, "agreement", u->agreement);
        if (u->as_good)
            fputs(", \"as_good\": true", f);
        if (u->label) {
            fputs(", \"labels\": ", f);
            print_ints(f, c->Kb, u->label);
        }
        if (u->bounds && all_finite((size_t)u->n_iter + 1, u->bounds)) {
            fputs(", \"bounds\": ", f);
            print_numbers(f, u->n_iter + 1, u->bounds);
        }
        putc('}', f);
    }
    putc(']', f);
}

/* The graphs of sequences that were partitioned; the one that was kept has no labels of its own. */
static void print_graphs(FILE *f, const vh_clustering *c)
{
    fputs(",\n \"graphs\": [", f);
    for (int r = 0; r < c->n_run; r++) {
        const vhem_cluster_run *u = &c->run[r];
        print_text(f, r > 0 ? ",\n  {" : "\n  {", "graph", u->init);
        if (u->topology) {
            print_text(f, ", ", "topology", u->topology);
            fprintf(f, ", \"S\": %d", u->S);
        }
        print_known(f, "modularity", u->modularity);
        print_known(f, "stability", u->stability);
        print_known(f, "agreement", u->agreement);
        if (u->label) {
            fputs(", \"labels\": ", f);
            print_ints(f, c->Kb, u->label);
        }
        if (u->as_good)
            fputs(", \"kept\": true", f);
        putc('}', f);
    }
    putc(']', f);
}

/* The numbers of groups that were tried. */
static void print_choice(FILE *f, const vh_clustering *c)
{
    fputs(",\n \"choice\": [", f);
    for (int t = 0; t < c->n_choice; t++) {
        fprintf(f, "%s{\"K\": %" PRId64, t > 0 ? ", " : "", c->choice[t].K);
        print_known(f, "modularity", c->choice[t].modularity);
        print_known(f, "stability", c->choice[t].stability);
        putc('}', f);
    }
    putc(']', f);
}

static void print_models(FILE *f, const vh_clustering *c)
{
    fputs(",\n \"names\": [", f);
    for (int64_t i = 0; i < c->Kb; i++) {
        fputs(i > 0 ? ", " : "", f);
        vh_text_json(f, c->name[i]);
    }
    for (int64_t i = 0; c->fingerprint && i < c->Kb; i++)
        fprintf(f, c->fingerprint[i] ? "%s\"%016" PRIx64 "\"" : "%snull",
                i > 0 ? ", " : "],\n \"fingerprints\": [", c->fingerprint[i]);
    fputs("],\n \"labels\": ", f);
    print_ints(f, c->Kb, c->label);
}

static void print_state_map(FILE *f, const vh_clustering *c)
{
    fputs(",\n \"state_map\": [", f);
    for (int64_t i = 0; i < c->Kb; i++) {
        fputs(i > 0 ? ", " : "", f);
        print_ints(f, c->state_map_at[i + 1] - c->state_map_at[i], c->state_map + c->state_map_at[i]);
    }
    putc(']', f);
}

/* The clusters themselves must be finite. */
static vhem_status check_finite(vhem_ctx *ctx, const char *key, int64_t rows, int columns, const double *x)
{
    for (size_t k = 0; x && k < vh_cells(rows, columns); k++)
        VH_CHECK(isfinite(x[k]), VHEM_ENUMERIC, "%s[%zu][%zu] is %g, cannot be written", key,
                 k / (size_t)columns, k % (size_t)columns, x[k]);
    return VHEM_OK;
}

static vhem_status check_clustering(vhem_ctx *ctx, const vh_clustering *c)
{
    VH_TRY(check_finite(ctx, "z", c->Kb, c->Kr, c->z));
    VH_TRY(check_finite(ctx, "L_hmm", c->Kb, c->Kr, c->L_hmm));
    VH_TRY(check_finite(ctx, "bound", 1, c->n_iter + 1, c->bound));
    if (c->centers)
        VH_TRY(vh_h3m_require_finite(ctx, c->centers));
    if (c->textures)
        VH_TRY(vh_dtm_require_finite(ctx, c->textures));
    return VHEM_OK;
}

static vhem_status print_centers(vhem_ctx *ctx, const vh_clustering *c, FILE *f)
{
    if (!c->centers && !c->textures)
        return VHEM_OK;
    fputs(",\n \"centers\": ", f);
    const vhem_models centers = vh_clustering_models(c);
    return vh_models_print_json(ctx, &centers, f);
}

/* How the clusters were found: runs of a method, or graphs of sequences, whose bounds are NaN. */
static void print_search(FILE *f, const vh_clustering *c)
{
    if (c->run)
        (c->n_run > 0 && isnan(c->run[0].bound) ? print_graphs : print_runs)(f, c);
    if (c->choice)
        print_choice(f, c);
}

/* base_labels [n_base] is NULL for a single clustering. */
static vhem_status print_clustering(vhem_ctx *ctx, const vh_clustering *c, int64_t n_base,
                                    const int *base_labels, const char *provenance, FILE *f)
{
    VH_CHECK(c->Kb > 0, VHEM_EINVAL, "these are models, not clusters; save them as models");
    VH_TRY(check_clustering(ctx, c));
    fprintf(f, "{\"format\": \"vhem-clustering\", \"version\": %d", VH_CLUSTERING_VERSION);
    print_text(f, ", ", "method", c->method);
    print_options(f, c);
    print_models(f, c);
    if (base_labels) {
        fputs(",\n \"base_labels\": ", f);
        print_ints(f, n_base, base_labels);
    }
    if (c->share) {
        fputs(",\n \"share\": ", f);
        print_numbers(f, c->Kb, c->share);
    }
    if (c->z)
        print_table(f, "z", c->Kb, c->Kr, c->z);
    if (c->bound) {
        fputs(",\n \"bound\": ", f);
        print_numbers(f, c->n_iter + 1, c->bound);
    }
    fprintf(f, ",\n \"n_iter\": %d, \"converged\": %s", c->n_iter, c->converged ? "true" : "false");
    if (c->L_hmm)
        print_table(f, "L_hmm", c->Kb, c->Kr, c->L_hmm);
    fprintf(f, ",\n \"repairs\": {\"empty_clusters\": %d, \"revived_states\": %d, \"bound_fell\": %d}",
            c->n_empty, c->n_revived, c->n_fell);
    print_search(f, c);
    if (c->state_map)
        print_state_map(f, c);
    if (c->lacking) {
        fputs(",\n \"lacking\": ", f);
        print_ints(f, c->Kb, c->lacking);
    }
    if (c->K_max > c->Kr)
        fprintf(f, ",\n \"K_max\": %d", c->K_max);
    if (c->prior)
        fprintf(f, ",\n \"prior\": %s", c->prior);
    if (c->posterior)
        fprintf(f, ",\n \"posterior\": %s", c->posterior);
    VH_TRY(print_centers(ctx, c, f));
    if (provenance)
        fprintf(f, ",\n \"provenance\": %s", provenance);
    putc('}', f);
    return VHEM_OK;
}

static vhem_status print_tree(vhem_ctx *ctx, const vhem_tree *tree, const char *provenance, FILE *f)
{
    if (tree->n == 1)
        return print_clustering(ctx, tree->level[0], 0, NULL, provenance, f);
    fprintf(f, "{\"format\": \"vhem-tree\", \"version\": %d, \"levels\": [\n", VH_CLUSTERING_VERSION);
    for (int l = 0; l < tree->n; l++) {
        VH_TRY(print_clustering(ctx, tree->level[l], tree->level[0]->Kb, tree->base_labels[l],
                                tree->level[l]->provenance, f));
        fputs(l + 1 < tree->n ? ",\n" : "]", f);
    }
    if (provenance)
        fprintf(f, ",\n \"provenance\": %s", provenance);
    putc('}', f);
    return VHEM_OK;
}

vhem_status vhem_tree_save(vhem_ctx *ctx, const vhem_tree *tree, const char *provenance, const char *path)
{
    VH_ENTER(tree, path);
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file out = { 0 };

    if (provenance)
        VH_TRY(vh_model_check_object(ctx, "provenance", provenance));
    VH_TRY(vh_atomic_file_open(ctx, path, &out));
    return vh_atomic_file_end(ctx, print_tree(ctx, tree, provenance ? provenance : tree->provenance, out.f),
                              &out);
}
