/* SPDX-License-Identifier: BSD-3-Clause */
/* agreement.c - how well clusters agree with classes. */
#include "cli.h"

#include <stdlib.h>

bool cli_agreement(cli *c, int64_t n, const char *const *class_of, const int *cluster, vhem_agreement *out)
{
    int *number = malloc(((size_t)n + 1) * sizeof *number), n_names;
    bool known = number && vhem_number_names(c->ctx, n, class_of, number, &n_names) == VHEM_OK
                 && vhem_partition_compare(n, cluster, number, out) > 1; /* purity is that of clusters */
    free(number);
    return known;
}

json_t *cli_agreement_json(cli *c, int64_t n, const char *const *class_of, const int *cluster)
{
    vhem_agreement g;
    if (!cli_agreement(c, n, class_of, cluster, &g))
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o}", "rand", cli_json_real(g.rand), "adjusted_rand",
                     cli_json_real(g.adjusted_rand), "nmi", cli_json_real(g.nmi), "purity",
                     cli_json_real(g.purity));
}
