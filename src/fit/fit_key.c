/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_key.c - see fit_key.h. */
#include "fit/fit_key.h"

#include "core/options.h"
#include "emission/layout.h"

#include <string.h>

/* Symbols and background, by what they are. */
static void hash_layout(vh_hash *hash, const vh_layout *layout)
{
    const vh_background *b = layout->background;
    for (int c = 0; c < layout->n_channel; c++)
        for (int v = 0; v < layout->channel[c].shape.V; v++)
            vh_hash_text(hash, layout->channel[c].symbol[v]);
    if (b) {
        size_t size = sizeof *b->mu * (size_t)b->G * (size_t)b->d;
        vh_hash_bytes(hash, b->mu, size);
        vh_hash_bytes(hash, b->cov, size);
    }
}

void vh_hash_columns(vh_hash *hash, const vhem_data *data)
{
    vh_hash_number(hash, data->d);
    if (data->layout)
        hash_layout(hash, data->layout);
}

void vh_hash_sequences(vh_hash *hash, const vhem_data *data, const int64_t *seq, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t T = vh_data_length(data, seq[i]);
        vh_hash_text(hash, data->name ? data->name[seq[i]] : "");
        vh_hash_number(hash, vh_data_weight(data, seq[i]));
        vh_hash_number(hash, (double)T);
        vh_hash_bytes(hash, vh_data_frames(data, seq[i]), (size_t)(T * data->d) * sizeof *data->y);
    }
}

/* Without a prior fits are as they were before there were any. */
static bool is_no_prior(const vh_option *row, const vhem_fit_options *opt)
{
    return strcmp(row->shown.name, "prior") == 0 && strcmp(opt->prior, "none") == 0;
}

void vh_fit_options_hash(vh_hash *hash, const vhem_fit_options *opt)
{
    const char *path;
    vhem_fit_options o = *opt;
    const vh_emission *of_file = o.emission ? vh_emission_of_file(o.emission, &path) : NULL;
    if (of_file) /* what is in the file counts, not where it is: see hash_layout */
        o.emission = of_file->name;
    for (const vh_option *row = vh_options(VHEM_FIT_OPTIONS); row->shown.name; row++)
        if (vh_option_in_files(row, &o) && !is_no_prior(row, &o))
            vh_options_hash(hash, row, &o);
}
