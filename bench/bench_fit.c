/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_fit.c - times a number of Baum-Welch iterations on one HMM, through the public interface alone.
 *
 *   bench_fit [--backend B] [--iter N] [--repeat R] START.json DATA.npy OUT.json
 *
 * The data has a column `group`, the same for all: every sequence belongs to the one HMM.  Prints one JSON
 * object; OUT.json is the model after the iterations, for comparison with what other programs come to. */
#include "common.h"
#include "vhem.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct {
    const char *backend, *start, *data, *out;
    int n_iter, repeat;
} arguments;

static arguments parse(int argc, char **argv)
{
    static const struct option options[] = { { "backend", required_argument, NULL, 'b' },
                                             { "iter", required_argument, NULL, 'i' },
                                             { "repeat", required_argument, NULL, 'r' },
                                             { NULL, 0, NULL, 0 } };
    arguments a = { .n_iter = 5, .repeat = 10 };
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (c) {
        case 'b': a.backend = optarg; break;
        case 'i': a.n_iter = atoi(optarg); break;
        case 'r': a.repeat = atoi(optarg); break;
        default: exit(2);
        }
    if (argc - optind != 3 || a.n_iter < 1 || a.repeat < 1) {
        fprintf(stderr,
                "usage: bench_fit [--backend B] [--iter N] [--repeat R] START.json DATA.npy OUT.json\n");
        exit(2);
    }
    a.start = argv[optind];
    a.data = argv[optind + 1];
    a.out = argv[optind + 2];
    return a;
}

int main(int argc, char **argv)
{
    arguments a = parse(argc, argv);
    vhem_ctx_options how;
    vhem_data_options columns;
    vhem_ctx *ctx = NULL;
    vhem_data *data = NULL;
    vhem_models *start = NULL, *out = NULL;
    vhem_fit_report *report = NULL;
    vhem_fit_options opt;
    double *seconds = calloc((size_t)a.repeat, sizeof *seconds), loglik = 0;

    VHEM_INIT(VHEM_CTX_OPTIONS, &how);
    how.threads = 1;
    how.backend = a.backend;
    bench_need(NULL, seconds ? vhem_ctx_new(&how, &ctx) : VHEM_ENOMEM);
    VHEM_INIT(VHEM_DATA_OPTIONS, &columns);
    columns.group = "group";
    bench_need(ctx, vhem_data_load(ctx, a.data, &columns, &data));
    bench_need(ctx, vhem_models_load(ctx, a.start, &start));
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.start = start;
    opt.max_iter = a.n_iter;
    opt.tol = 0; /* plain maximum likelihood, always all iterations */
    opt.cov_floor = 0;
    opt.repair = 0;
    opt.by_group = 1;
    for (int r = 0; r < a.repeat; r++) {
        vhem_free(out);
        vhem_free(report);
        double t0 = bench_process();
        bench_need(ctx, vhem_fit(ctx, data, &opt, &out, &report));
        seconds[r] = bench_process() - t0;
        loglik = report->run[0].loglik;
    }
    qsort(seconds, (size_t)a.repeat, sizeof *seconds, ascending);
    bench_need(ctx, vhem_models_save(ctx, out, NULL, a.out));
    printf("{\"backend\": \"%s\", \"best\": %.9f, \"median\": %.9f, \"loglik\": %.17g}\n",
           vhem_ctx_backend(ctx), seconds[0], seconds[a.repeat / 2], loglik);
    vhem_free(report);
    vhem_free(out);
    vhem_free(start);
    vhem_free(data);
    vhem_free(ctx);
    free(seconds);
    return 0;
}
