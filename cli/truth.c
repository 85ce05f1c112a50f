/* SPDX-License-Identifier: BSD-3-Clause */
/* truth.c - the classes that clusters are compared with: a table of names and classes, a column of the
 * sequences, or the labels of the models; and how well the clusters agree with them. */
#include "csv.h"
#include "vhem.h"
#include "vhem/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool cli_truth_is_file(const char *truth)
{
    return truth && cli_is_path(truth);
}

/* Which class each name of the table has.  Without a header the columns are the first two. */
static int read_table(cli *c, const char *path, const csv *t, json_t *class_of)
{
    int name_at = csv_column(t, (const char *const[]){ "name", "id", "seq", NULL });
    int class_at = csv_column(t, (const char *const[]){ "label", "class", "truth", NULL });
    bool header = name_at >= 0 && class_at >= 0;
    CLI_CHECK(t->columns >= 2, "%s: line %d has no class; each line must have a name and a class", path,
              t->line[0]);
    for (int r = header; r < t->rows; r++) {
        const char *name = csv_cell(t, r, header ? name_at : 0);
        const char *text = csv_cell(t, r, header ? class_at : 1);
        const json_t *known = json_object_get(class_of, name);
        CLI_CHECK(!known || strcmp(json_string_value(known), text) == 0,
                  "%s: line %d: '%s' is of class '%s', but '%s' before", path, t->line[r], name, text,
                  json_string_value(known));
        if (!known)
            json_object_set_new_nocheck(class_of, name, json_string_nocheck(text));
    }
    return CLI_GO;
}

/* An item without a name is known by its number. */
static const char *class_text(const json_t *known, const vhem_clustering *cl, int64_t i)
{
    char buf[32];
    return json_string_value(json_object_get(known, cli_name(cl->name, i, buf, sizeof buf)));
}

/* Array and texts in one block. */
static const char **collect_classes(const vhem_clustering *cl, const json_t *known, int64_t *found)
{
    size_t n = (size_t)cl->Kb, size = (n + 1) * sizeof(char *);
    for (size_t i = 0; i < n; i++) {
        const char *text = class_text(known, cl, (int64_t)i);
        size += text ? strlen(text) + 1 : 1;
    }
    const char **all = malloc(size);
    char *next = all ? (char *)(all + n + 1) : NULL;
    *found = 0;
    for (size_t i = 0; all && i < n; i++) {
        const char *text = class_text(known, cl, (int64_t)i);
        *found += text != NULL;
        all[i] = strcpy(next, text ? text : "");
        next += strlen(next) + 1;
    }
    return all;
}

static int classes_of_table(cli *c, const char *path, const vhem_clustering *cl, const char ***class_of)
{
    CLI_CLEANUP(csv_free) csv t = { 0 };
    json_auto_t *known = json_object();
    char buf[32];
    int64_t found = 0;
    if (cli_ends_with(path, cli_model_endings))
        return cli_misuse(c,
                          "--truth %s: that is a file of models or clusters; --truth takes a table of names "
                          "and classes (CSV), or a column of --data; for the labels of models, give --models",
                          path);
    CLI_TRY(csv_load(c, path, 1, &t));
    CLI_TRY(read_table(c, path, &t, known));
    *class_of = collect_classes(cl, known, &found);
    CLI_CHECK(*class_of, "out of memory");
    CLI_CHECK(found > 0, "%s: none of its %zu names is that of a model, '%s' for instance", path,
              json_object_size(known), cl->Kb > 0 ? cli_name(cl->name, 0, buf, sizeof buf) : "");
    if (found < cl->Kb)
        cli_say(c, "%lld of %lld models have no class in %s and are left out of comparisons",
                (long long)(cl->Kb - found), (long long)cl->Kb, path);
    return CLI_GO;
}

static int classes_of_data(cli *c, const vhem_data *data, const vhem_clustering *cl, const char ***class_of)
{
    json_auto_t *known = json_object();
    char buf[32];
    int64_t found = 0;
    const vhem_data_facts facts = cli_data_facts(data);
    for (int64_t k = 0; k < facts.N; k++) {
        vhem_seq_view seq = cli_sequence_at(data, k);
        if (seq.label[0] && seq.group[0])
            json_object_set_new_nocheck(known, seq.group, json_string_nocheck(seq.label));
        if (seq.label[0])
            json_object_set_new_nocheck(known, seq.name, json_string_nocheck(seq.label));
    }
    *class_of = collect_classes(cl, known, &found);
    CLI_CHECK(*class_of, "out of memory");
    if (found == 0 && json_object_size(known) > 0)
        cli_say(c, "no sequence has the name of a model, '%s' for instance: no classes to compare with",
                cl->Kb > 0 ? cli_name(cl->name, 0, buf, sizeof buf) : "");
    return CLI_GO;
}

/* The texts stay those of the models. */
static int classes_of_models(cli *c, const vhem_models *models, int64_t n, const char ***class_of)
{
    CLI_TRY(cli_models_read(c, models, n));
    *class_of = calloc((size_t)n + 1, sizeof **class_of);
    for (int64_t i = 0; *class_of && i < n; i++)
        (*class_of)[i] = cli_model_at(models, i).label;
    CLI_CHECK(*class_of, "out of memory");
    return CLI_GO;
}

int cli_truth_find(cli *c, const cli_truth *from, const vhem_clustering *cl, const char ***class_of)
{
    if (cli_truth_is_file(from->truth))
        return classes_of_table(c, from->truth, cl, class_of);
    if (from->data && (from->truth || !from->models))
        return classes_of_data(c, from->data, cl, class_of);
    if (from->models && (!from->truth || strcmp(from->truth, "label") == 0))
        return classes_of_models(c, from->models, cl->Kb, class_of);
    if (from->truth)
        return cli_misuse(
            c,
            "--truth %s names a column, but no --data was given; give the sequences with --data, "
            "or a table of names and classes as a file",
            from->truth);
    return CLI_GO;
}

/* ---- agreement ----------------------------------------------------------------------------------------- */

static vhem_status compare(cli *c, int64_t n, const char *const *class_of, const int *cluster,
                           vhem_agreement *out)
{
    CLI_AUTOFREE int *number = malloc(((size_t)n + 1) * sizeof *number);
    int n_names;
    vhem_status st = number ? vhem_number_names(c->ctx, n, class_of, number, &n_names) : VHEM_ENOMEM;
    if (st == VHEM_OK && vhem_partition_compare(n, cluster, number, out) < 0) /* purity is that of clusters */
        st = VHEM_ENOMEM;
    return st;
}

int cli_agreement(cli *c, int64_t n, const char *const *class_of, const int *cluster, vhem_agreement *out)
{
    vhem_status st = compare(c, n, class_of, cluster, out);
    CLI_CHECK(st != VHEM_ENOMEM, "out of memory");
    return cli_status(c, st);
}

json_t *cli_agreement_json(cli *c, int64_t n, const char *const *class_of, const int *cluster)
{
    vhem_agreement g;
    if (compare(c, n, class_of, cluster, &g) != VHEM_OK) {
        cli_json_lacks();
        return json_null();
    }
    if (isnan(g.rand))
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o}", "rand", cli_json_real(g.rand), "adjusted_rand",
                     cli_json_real(g.adjusted_rand), "nmi", cli_json_real(g.nmi), "purity",
                     cli_json_real(g.purity));
}
