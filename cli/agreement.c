/* SPDX-License-Identifier: BSD-3-Clause */
/* agreement.c - how clusters match the classes that names in a file give. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

int cli_class_numbers(int n, const char *const *class_of, int *number)
{
    json_t *seen = json_object();
    int known = 0;
    for (int i = 0; i < n; i++) {
        number[i] = -1;
        if (!class_of[i][0])
            continue;
        known++;
        const json_t *k = json_object_get(seen, class_of[i]);
        number[i] = k ? (int)json_integer_value(k) : (int)json_object_size(seen);
        if (!k)
            json_object_set_new_nocheck(seen, class_of[i], json_integer(number[i]));
    }
    json_decref(seen);
    return known;
}

bool cli_agreement(int n, const char *const *class_of, const int *cluster, vhem_agreement *out)
{
    int *a = malloc(2 * (size_t)(n + 1) * sizeof *a), *b = a + n, known = 0;
    if (!a)
        return false;
    cli_class_numbers(n, class_of, a);
    for (int i = 0; i < n; i++) {
        if (a[i] < 0 || cluster[i] < 0)
            continue;
        a[known] = a[i];
        b[known++] = cluster[i];
    }
    if (known > 1)
        vhem_partition_compare(known, b, a, out); /* purity is that of clusters */
    free(a);
    return known > 1;
}

json_t *cli_agreement_json(int n, const char *const *class_of, const int *cluster)
{
    vhem_agreement g;
    if (!cli_agreement(n, class_of, cluster, &g))
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o}", "rand", cli_json_real(g.rand), "adjusted_rand",
                     cli_json_real(g.adjusted_rand), "nmi", cli_json_real(g.nmi), "purity",
                     cli_json_real(g.purity));
}

const char **cli_classes_of_models(const vhem_h3m *h3m)
{
    int K = vhem_h3m_size(h3m);
    const char **class_of = calloc((size_t)K + 1, sizeof *class_of);
    for (int i = 0; class_of && i < K; i++) {
        vhem_hmm_view hmm;
        vhem_h3m_view(h3m, i, &hmm);
        class_of[i] = hmm.label;
    }
    return class_of;
}

typedef struct {
    const char *name;
    int i;
} named;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

const char **cli_classes_of_groups(const vhem_data *data, int n, char **name)
{
    const char **class_of = calloc((size_t)n + 1, sizeof *class_of);
    named *groups = calloc((size_t)n + 1, sizeof *groups);
    for (int i = 0; groups && i < n; i++)
        groups[i] = (named){ name[i], i };
    if (groups)
        qsort(groups, (size_t)n, sizeof *groups, by_name);
    for (int k = 0; class_of && groups && k < vhem_data_size(data); k++) {
        vhem_seq_view seq;
        vhem_data_view(data, k, &seq);
        const named wanted = { seq.group, 0 },
                    *found = bsearch(&wanted, groups, (size_t)n, sizeof *groups, by_name);
        if (!found)
            continue;
        const char **class = &class_of[found->i];
        *class = !*class ? seq.label : strcmp(*class, seq.label) == 0 ? *class : "";
    }
    for (int i = 0; class_of && i < n; i++)
        class_of[i] = class_of[i] ? class_of[i] : "";
    free(groups);
    return class_of;
}

const char **cli_classes_of_data(const vhem_data *data)
{
    int N = vhem_data_size(data);
    const char **class_of = calloc((size_t)N + 1, sizeof *class_of);
    for (int n = 0; class_of && n < N; n++) {
        vhem_seq_view seq;
        vhem_data_view(data, n, &seq);
        class_of[n] = seq.label;
    }
    return class_of;
}
