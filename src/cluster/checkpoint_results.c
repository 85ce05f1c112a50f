/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoint_results.c - see checkpoint_results.h. */
#include "cluster/checkpoint_results.h"

#include "core/backend.h"
#include "core/alloc.h"
#include "core/atomic_file.h"
#include "core/journal.h"
#include "core/options.h"
#include "math/blas.h"
#include "files/layout_json.h"
#include "vhem.h"
#include "os/path.h"

#include <string.h>

vhem_status vh_checkpoint_init(vhem_ctx *ctx, const vh_h3m *models, const char *path, vh_checkpoint *out)
{
    VH_OWN(vh_hash) *h = NULL;
    VH_AUTOFREE char *layout = NULL;

    *out = (vh_checkpoint){ .path = path };
    if (!path)
        return VHEM_OK;
    VH_TRY(vh_hash_new(ctx, &h));
    if (models->shape.layout) {
        layout = vh_layout_text(models->shape.layout);
        VH_CHECK(layout, VHEM_ENOMEM, "out of memory");
    }
    vh_hash_text(h, models->family->name);
    vh_hash_text(h, layout);
    vh_hash_text(h, models->prior);
    vh_hash_number(h, models->d);
    vh_hash_number(h, (double)models->K);
    vh_hash_bytes(h, &models->lengths, sizeof models->lengths);
    vh_hash_bytes(h, models->omega, sizeof *models->omega * (size_t)models->K);
    for (int64_t i = 0; i < models->K; i++) {
        const vh_hmm *m = &models->hmm[i];
        vh_hash_number(h, m->S);
        vh_hash_number(h, m->M);
        vh_hash_bytes(h, m->pi, vh_hmm_numbers(m) * sizeof *m->pi);
    }
    vh_hash_key(h, &out->models);
    return VHEM_OK;
}

/* Hashes the contents of the file that an option names, if any. */
static vhem_status hash_file(vhem_ctx *ctx, const char *path, vh_hash *h)
{
    VH_AUTOFREE char *text = NULL;
    size_t size = 0;

    if (!path || strcmp(path, "-") == 0 || !vh_path_readable(path))
        return VHEM_OK;
    VH_TRY(vh_read_all(ctx, path, &text, &size));
    vh_hash_bytes(h, text, size);
    return VHEM_OK;
}

static vhem_status result_key(vhem_ctx *ctx, const vh_checkpoint *of, vh_key *out)
{
    VH_OWN(vh_hash) *h = NULL;

    VH_TRY(vh_hash_new(ctx, &h));
    vh_hash_text(h, vhem_version());
    vh_hash_text(h, ctx->backend->name);
    vh_hash_text(h, vh_blas_kernel());
    vh_hash_bytes(h, &ctx->opt.seed, sizeof ctx->opt.seed);
    vh_hash_text(h, of->models.text);
    vh_hash_text(h, of->what);
    vh_hash_number(h, of->K);
    vh_hash_number(h, (double)of->number);
    for (const vh_option *row = vh_options(VHEM_CLUSTER_OPTIONS); row->shown.name; row++)
        if (strcmp(row->shown.name, "checkpoint") != 0 && strcmp(row->shown.name, "memory") != 0)
            vh_options_hash(h, row, of->opt);
    VH_TRY(hash_file(ctx, of->opt->prior, h));
    vh_hash_key(h, out);
    return VHEM_OK;
}

/* Computes the key of the result and opens the file. */
static vhem_status open_for(vhem_ctx *ctx, const vh_checkpoint *of, vh_key *key, vh_journal **journal)
{
    VH_TRY(result_key(ctx, of, key));
    return vh_journal_open(ctx, of->path, journal);
}

vhem_status vh_checkpoint_find(vhem_ctx *ctx, const vh_checkpoint *of, size_t n, double *x, bool *known)
{
    vh_journal *journal = NULL;
    vh_key key;
    vhem_status st = of->path ? open_for(ctx, of, &key, &journal) : VHEM_OK;
    *known = journal && vh_journal_find(journal, &key, n, x);
    vh_journal_free(journal);
    return st;
}

vhem_status vh_checkpoint_add(vhem_ctx *ctx, const vh_checkpoint *of, size_t n, const double *x)
{
    vh_journal *journal = NULL;
    vh_key key;
    vhem_status st = of->path ? open_for(ctx, of, &key, &journal) : VHEM_OK;
    if (journal)
        vh_journal_add(ctx, journal, &key, n, x);
    vh_journal_free(journal);
    return st;
}
