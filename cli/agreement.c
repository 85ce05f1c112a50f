/* SPDX-License-Identifier: BSD-3-Clause */
/* agreement.c - how well clusters agree with classes. */
#include "cli.h"
#include "vhem/analysis.h"

#include <math.h>
#include <stdlib.h>

static vhem_status compare(cli *c, int64_t n, const char *const *class_of, const int *cluster,
                           vhem_agreement *out)
{
    int *number = malloc(((size_t)n + 1) * sizeof *number), n_names;
    vhem_status st = number ? vhem_number_names(c->ctx, n, class_of, number, &n_names) : VHEM_ENOMEM;
    if (st == VHEM_OK && vhem_partition_compare(n, cluster, number, out) < 0) /* purity is that of clusters */
        st = VHEM_ENOMEM;
    free(number);
    return st;
}

int cli_agreement(cli *c, int64_t n, const char *const *class_of, const int *cluster, vhem_agreement *out)
{
    vhem_status st = compare(c, n, class_of, cluster, out);
    return st == VHEM_ENOMEM ? cli_fail(c, "out of memory") : st != VHEM_OK ? cli_status(c, st) : CLI_GO;
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
