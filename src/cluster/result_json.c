/* SPDX-License-Identifier: BSD-3-Clause */
/* result_json.c - writing clustering and tree files, the formats of docs/formats.md.  Numbers are streamed: a
 * table of a million assignments needs no tree in memory.  The reader is result_read.c. */
#include "cluster/result_json.h"

#include "core/file.h"
#include "core/number.h"
#include "core/text.h"
#include "model/dtm.h"
#include "model/h3m.h"

#include <inttypes.h>
#include <math.h>

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

/* [rows][columns], a row on each line. */
static void print_table(FILE *f, const char *key, int rows, int columns, const double *x)
{
    fprintf(f, ",\n \"%s\": [", key);
    for (int i = 0; i < rows && !ferror(f); i++) {
        fputs(i > 0 ? ",\n  " : "\n  ", f);
        print_numbers(f, columns, x + (size_t)i * (size_t)columns);
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

static void print_options(FILE *f, const vhem_cluster_options *o)
{
    print_text(f, ",\n \"options\": {", "preset", o->preset);
    fprintf(f, ", \"K\": %d, \"S\": %d, \"M\": %d, \"tau\": %d", o->K, o->S, o->M, o->tau);
    print_real(f, "nv", o->nv);
    fprintf(f, ", \"max_iter\": %d, \"restarts\": %d", o->max_iter, o->restarts);
    print_real(f, "tol", o->tol);
    print_real(f, "cov_floor", o->cov_floor);
    print_real(f, "cov_add", o->cov_add);
    print_text(f, ", ", "init", o->init);
    fprintf(f, ", \"soft\": %d, \"repair\": %s, \"weighted_omega\": %s, \"by_group\": %s", o->soft,
            o->repair ? "true" : "false", o->weighted_omega ? "true" : "false",
            o->by_group ? "true" : "false");
    print_text(f, ", ", "emission", o->emission);
    print_real(f, "lambda", o->lambda);
    print_text(f, ", ", "kernel", o->kernel);
    print_text(f, ", ", "diagonal", o->diagonal);
    print_text(f, ", ", "linkage", o->linkage);
    print_text(f, ", ", "search", o->search);
    fprintf(f, ", \"neighbours\": %d, \"candidate\": %d", o->neighbours, o->candidate);
    putc('}', f);
}

static bool all_finite(size_t n, const double *x)
{
    for (size_t k = 0; k < n; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

/* JSON has no word for infinity: a restart that came to nothing is not told of, and one that only went
 * through it has no curve. */
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
        if (isfinite(u->modularity))
            print_real(f, "modularity", u->modularity);
        if (isfinite(u->agreement))
            print_real(f, "agreement", u->agreement);
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

static void print_models(FILE *f, const vh_clustering *c)
{
    fputs(",\n \"names\": [", f);
    for (int i = 0; i < c->Kb; i++) {
        fputs(i > 0 ? ", " : "", f);
        vh_text_json(f, c->name[i]);
    }
    fputs("],\n \"labels\": ", f);
    print_ints(f, c->Kb, c->label);
}

static void print_state_map(FILE *f, const vh_clustering *c)
{
    fputs(",\n \"state_map\": [", f);
    for (int i = 0; i < c->Kb; i++) {
        fputs(i > 0 ? ", " : "", f);
        print_ints(f, c->state_map_at[i + 1] - c->state_map_at[i], c->state_map + c->state_map_at[i]);
    }
    putc(']', f);
}

/* What the clusters themselves are must be numbers. */
static vhem_status check_finite(vhem_ctx *ctx, const char *key, int rows, int columns, const double *x)
{
    vhem_status st = VHEM_OK;
    for (size_t k = 0; x && k < (size_t)rows * (size_t)columns; k++)
        VH_CHECK(isfinite(x[k]), VHEM_ENUMERIC, "%s[%zu][%zu] is %g, cannot be written", key,
                 k / (size_t)columns, k % (size_t)columns, x[k]);
done:
    return st;
}

static vhem_status check(vhem_ctx *ctx, const vh_clustering *c)
{
    vhem_status st = VHEM_OK;
    VH_TRY(check_finite(ctx, "z", c->Kb, c->Kr, c->z));
    VH_TRY(check_finite(ctx, "L_hmm", c->Kb, c->Kr, c->L_hmm));
    VH_TRY(check_finite(ctx, "bound", 1, c->n_iter + 1, c->bound));
    if (c->centers)
        VH_TRY(vh_h3m_require_finite(ctx, c->centers));
    if (c->textures)
        VH_TRY(vh_dtm_require_finite(ctx, c->textures));
    if (c->provenance)
        VH_TRY(vh_model_check_object(ctx, "provenance", c->provenance));
done:
    return st;
}

/* base_labels [n_base] is NULL for a clustering by itself. */
static vhem_status print_clustering(vhem_ctx *ctx, const vh_clustering *c, int n_base, const int *base_labels,
                                    FILE *f)
{
    vhem_status st = VHEM_OK;
    VH_TRY(check(ctx, c));
    fprintf(f, "{\"format\": \"vhem-clustering\", \"version\": %d", VH_CLUSTERING_VERSION);
    print_text(f, ", ", "method", c->method);
    print_options(f, &c->options);
    print_models(f, c);
    if (base_labels) {
        fputs(",\n \"base_labels\": ", f);
        print_ints(f, n_base, base_labels);
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
    if (c->run)
        print_runs(f, c);
    if (c->state_map)
        print_state_map(f, c);
    if (c->centers || c->textures)
        fputs(",\n \"centers\": ", f);
    if (c->centers)
        VH_TRY(vh_model_print_json(ctx, c->centers, f));
    else if (c->textures)
        VH_TRY(vh_dtm_print_json(ctx, c->textures, f));
    if (c->provenance)
        fprintf(f, ",\n \"provenance\": %s", c->provenance);
    putc('}', f);
done:
    return st;
}

vhem_status vh_clustering_save(vhem_ctx *ctx, const vh_clustering *c, const char *path)
{
    vhem_status st = VHEM_OK;
    vh_out out = { 0 };

    VH_TRY(vh_out_open(ctx, path, &out));
    st = vh_out_end(ctx, print_clustering(ctx, c, 0, NULL, out.f), &out);
done:
    vh_out_close(&out);
    return st;
}

static vhem_status print_tree(vhem_ctx *ctx, const vhem_tree *tree, FILE *f)
{
    vhem_status st = VHEM_OK;
    fprintf(f, "{\"format\": \"vhem-tree\", \"version\": %d, \"levels\": [\n", VH_CLUSTERING_VERSION);
    for (int l = 0; l < tree->n; l++) {
        VH_TRY(print_clustering(ctx, tree->level[l], tree->level[0]->Kb, tree->base_labels[l], f));
        fputs(l + 1 < tree->n ? ",\n" : "]", f);
    }
    if (tree->provenance)
        fprintf(f, ",\n \"provenance\": %s", tree->provenance);
    putc('}', f);
done:
    return st;
}

vhem_status vh_tree_save(vhem_ctx *ctx, const vhem_tree *tree, const char *path)
{
    vhem_status st = VHEM_OK;
    vh_out out = { 0 };

    VH_TRY(vh_out_open(ctx, path, &out));
    st = vh_out_end(ctx, print_tree(ctx, tree, out.f), &out);
done:
    vh_out_close(&out);
    return st;
}
