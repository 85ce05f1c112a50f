/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.c - fits one HMM with two states to each sequence of a file and prints where its states are.
 *
 *   cc fit.c -o fit $(pkg-config --cflags --libs vhem)
 *   ./fit sequences.csv models.json */
#include <vhem/vhem.h>

#include <stdio.h>

static int fit(vhem_ctx *ctx, const char *input, const char *output)
{
    vhem_data *data = NULL;
    vhem_models *models = NULL;
    vhem_models_facts facts = { 0 };
    vhem_fit_options opt;

    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.S = 2;
    vhem_status st = vhem_data_load(ctx, input, NULL, &data);
    if (st == VHEM_OK)
        st = vhem_fit(ctx, data, &opt, &models, NULL);
    if (st == VHEM_OK)
        st = vhem_models_save(ctx, models, NULL, output);
    if (st == VHEM_OK)
        vhem_models_info(models, &facts);
    for (int64_t i = 0; i < facts.K && st == VHEM_OK; i++) {
        vhem_hmm_view hmm = { 0 };
        st = vhem_models_hmm(models, i, &hmm);
        for (int s = 0; s < hmm.S; s++)
            printf("%s state %d: mean of the first column %.3f\n", hmm.name, s, hmm.mu[s * hmm.M * hmm.d]);
    }
    if (st != VHEM_OK)
        fprintf(stderr, "fit: %s\n", vhem_ctx_error(ctx));
    vhem_free(models);
    vhem_free(data);
    return st != VHEM_OK;
}

int main(int argc, char **argv)
{
    vhem_ctx *ctx = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: fit DATA MODELS\n");
        return 2;
    }
    if (vhem_ctx_new(NULL, &ctx) != VHEM_OK)
        return 1;
    int failed = fit(ctx, argv[1], argv[2]);
    vhem_free(ctx);
    return failed;
}
