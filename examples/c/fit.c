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
    vhem_h3m *models = NULL;
    vhem_fit_options opt;

    vhem_fit_options_init(&opt);
    opt.S = 2;
    vhem_status st = vhem_data_load(ctx, input, NULL, &data);
    if (st == VHEM_OK)
        st = vhem_fit_each(ctx, data, &opt, &models, NULL);
    if (st == VHEM_OK)
        st = vhem_h3m_save(ctx, models, output);
    for (int i = 0; st == VHEM_OK && i < vhem_h3m_size(models); i++) {
        vhem_hmm_view hmm;
        vhem_h3m_view(models, i, &hmm);
        for (int s = 0; s < hmm.S; s++)
            printf("%s state %d: mean of the first column %.3f\n", hmm.name, s, hmm.mu[s * hmm.M * hmm.d]);
    }
    if (st != VHEM_OK)
        fprintf(stderr, "fit: %s\n", vhem_ctx_error(ctx));
    vhem_h3m_free(models);
    vhem_data_free(data);
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
    vhem_ctx_free(ctx);
    return failed;
}
