/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - a clustering or tree and the sequences of persons: the text of the one, a NUL, the CSV text of
 * the other.  Statistics of whatever the two are: probabilities are probabilities, groups and clusters are
 * there, or there is a sentence.  The same of where sequences belong, and of measures. */
#include "cluster/tree_file.h"

#include "document.h"
#include "vhem.h"
#include "vhem/analysis.h"

#include <math.h>
#include <string.h>

static vhem_tree *read_tree(const char *text, size_t size)
{
    vhem_tree *tree = NULL;
    vh_parsed_file doc;
    if (!fuzz_document(text, size, &doc))
        return NULL;
    if (vh_tree_from_parsed(fuzz_ctx(), &doc, &tree) != VHEM_OK)
        tree = NULL;
    vh_parsed_file_close(&doc);
    return tree;
}

static vhem_data *read_data(const void *text, size_t size)
{
    vhem_data *data = NULL;
    vhem_data_options opt;
    VHEM_INIT(VHEM_DATA_OPTIONS, &opt);
    opt.format = "csv";
    return vhem_data_load(fuzz_ctx(), fuzz_file("in.csv", text, size), &opt, &data) == VHEM_OK ? data : NULL;
}

static void check_share(const char *what, double p)
{
    fuzz_require(isnan(p) || (p >= 0 && p <= 1), "%s is %g", what, p);
}

static void check_tests(const vhem_statistics *s)
{
    for (int k = 0; k < s->n_test; k++) {
        const vhem_test *t = &s->test[k];
        check_share("p", t->p);
        check_share("p, one-sided", t->p_greater);
        check_share("p, adjusted", t->p_adjusted);
        fuzz_require(isnan(t->p) || t->p_adjusted >= t->p, "p %g was adjusted to %g", t->p, t->p_adjusted);
        fuzz_require(t->centre >= -1 && t->centre < s->K && t->other >= -1 && t->other < s->K,
                     "centres %d, %d", t->centre, t->other);
        fuzz_require(t->n_a >= 0 && t->n_a <= s->n && t->n_b >= 0 && t->n_b <= s->n, "%lld persons",
                     (long long)t->n_a);
    }
}

static void check_statistics(const vhem_stats_input *in)
{
    vhem_statistics *s = (vhem_statistics *)fuzz_untouched;
    vhem_status st = vhem_stats(fuzz_ctx(), in, &s);
    if (st != VHEM_OK) {
        fuzz_check_failure(st, s, fuzz_untouched);
        return;
    }
    for (int64_t i = 0; i < s->n; i++) {
        fuzz_require(s->cluster[i] >= 0 && s->cluster[i] < s->K, "cluster %d of %d", s->cluster[i], s->K);
        fuzz_require(s->group_of[i] >= -1 && s->group_of[i] < s->n_group, "group %d", s->group_of[i]);
        fuzz_require(isnan(s->uncertainty[i]) || s->uncertainty[i] >= 0, "entropy %g", s->uncertainty[i]);
        for (int j = 0; j < s->K; j++) {
            double L = s->loglik[i * s->K + j], scale = s->scale[i * s->K + j];
            fuzz_require(!(L > 1e308), "log-likelihood %g", L);
            fuzz_require(isnan(scale) || fabs(scale) <= 1, "scale %g", scale);
        }
    }
    check_tests(s);
    vhem_free(s);
}

static void check_assignment(const vhem_tree *tree, const vhem_source *source)
{
    vhem_tree_facts tf;
    vhem_data_facts df;
    vhem_tree_info(tree, &tf);
    vhem_data_info(source->data, &df);
    int *label = calloc((size_t)(df.N * tf.levels), sizeof *label);
    double *score = calloc((size_t)df.N, sizeof *score);
    vhem_status st = vhem_assign(fuzz_ctx(), tree, source, label, NULL, score);
    if (st != VHEM_OK)
        fuzz_check_failure(st, NULL, NULL);
    for (int64_t i = 0; st == VHEM_OK && i < df.N; i++)
        fuzz_require(label[i * tf.levels] >= 0 && label[i * tf.levels] < vhem_tree_level(tree, 0)->Kr
                         && !isnan(score[i]),
                     "sequence %lld: cluster %d, %g", (long long)i, label[i * tf.levels], score[i]);
    free(label);
    free(score);
}

static void check_uses(vhem_tree *tree, vhem_data *data)
{
    vhem_stats_input in;
    vhem_measures m;
    VHEM_INIT(VHEM_STATS_INPUT, &in);
    in.tree = tree;
    in.data = data;
    check_statistics(&in);
    const vhem_source source = { .data = data };
    vhem_status st = vhem_measure(fuzz_ctx(), tree, 0, &source, NULL, &m);
    if (st != VHEM_OK)
        fuzz_check_failure(st, NULL, NULL);
    else
        fuzz_require(!(m.loglik > 1e308), "log-likelihood %g", m.loglik);
    check_assignment(tree, &source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *end = size ? memchr(bytes, 0, size) : NULL;
    if (!end)
        return 0;
    vhem_tree *tree = read_tree((const char *)bytes, (size_t)(end - bytes));
    vhem_data *data = tree ? read_data(end + 1, size - (size_t)(end - bytes) - 1) : NULL;
    if (data)
        check_uses(tree, data);
    vhem_free(data);
    vhem_free(tree);
    return 0;
}
