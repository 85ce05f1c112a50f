/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_v1.h - writes model files of version 1 of the HDF5 format, a group for each HMM, which are still
 * read. */
#ifndef VH_TESTS_HDF5_V1_H
#define VH_TESTS_HDF5_V1_H

#include "hmm/hmm_set.h"
#include "files/hdf5.h"
#include "files/hmm_file.h"

static inline bool put_hmm_v1(const vh_h5_writer *w, hid_t hmms, const vh_h3m *h3m, int64_t i)
{
    const vh_hmm *h = &h3m->hmm[i];
    int64_t states[] = { h->S, h->S }, component[4] = { h->S, h->M };
    char name[24];

    snprintf(name, sizeof name, "%lld", (long long)i);
    hid_t g = vh_h5_put_group(w, hmms, name);
    bool ok = g >= 0 && vh_h5_put_text(w, g, "name", h->name) && vh_h5_put_text(w, g, "label", h->label)
              && vh_h5_put_int(w, g, "S", h->S) && vh_h5_put_int(w, g, "M", h->M)
              && vh_h5_put_numbers(w, g, "pi", 1, states, h->pi)
              && vh_h5_put_numbers(w, g, "A", 2, states, h->A)
              && vh_h5_put_numbers(w, g, "c", 2, component, vh_hmm_c(h))
              && vh_h5_put_long_text(w, g, "extra", h->extra);
    for (int p = 0; ok && p < h3m->family->n_param; p++) {
        const vh_param *param = &h3m->family->param[p];
        for (int k = 0; k < param->rank; k++)
            component[2 + k] = vh_param_extent(param, k, &h3m->shape);
        ok = vh_h5_put_numbers(w, g, param->name, 2 + param->rank, component, vh_hmm_param(h3m, h, p));
    }
    vh_h5_drop(g);
    return ok;
}

static inline bool put_h3m_v1(const vh_h5_writer *w, const void *what)
{
    const vh_h3m *h3m = what;
    hid_t hmms = -1;
    char lengths[VH_LENGTHS_SIZE];
    vh_lengths_text(&h3m->lengths, lengths);
    bool ok = vh_h5_put_text(w, w->file, "format", "vhem-h3m") && vh_h5_put_int(w, w->file, "version", 1)
              && vh_h5_put_text(w, w->file, "emission", h3m->family->name)
              && vh_h5_put_int(w, w->file, "d", h3m->d)
              && vh_h5_put_numbers(w, w->file, "omega", 1, &h3m->K, h3m->omega)
              && vh_h5_put_long_text(w, w->file, "lengths", h3m->lengths.max > 0 ? lengths : NULL)
              && vh_h5_put_long_text(w, w->file, "prior", h3m->prior)
              && vh_h5_put_long_text(w, w->file, "provenance", h3m->provenance)
              && vh_h5_put_long_text(w, w->file, "extra", h3m->extra);
    if (ok)
        hmms = vh_h5_put_group(w, w->file, "hmms");
    ok = ok && hmms >= 0;
    for (int64_t i = 0; ok && i < h3m->K; i++)
        ok = put_hmm_v1(w, hmms, h3m, i);
    vh_h5_drop(hmms);
    return ok;
}

static inline vhem_status save_v1(vhem_ctx *ctx, const vh_h3m *h3m, const char *path)
{
    return vh_h5_save(ctx, path, put_h3m_v1, h3m);
}

#endif
