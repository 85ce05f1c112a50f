/* SPDX-License-Identifier: BSD-3-Clause */
/* presets.c - see presets.h.  The paper's own setting, and that of the toolbox for eye movements. */
#include "cluster/presets.h"

#include <assert.h>
#include <string.h>

static const vh_preset presets[] = {
    /* the first is what no preset means */
    { NULL, 1e4, 10, 200, 1, 20, 1e-5, 1e-6, 0, false, false, false },
    { "paper", 1e4, 10, 200, 1, 0, 1e-5, 0, 0, false, true, false },
    { "emhmm", 0, 10, 101, 2, 20, 1e-5, 0, 1e-3, true, false, true },
};
enum { N_PRESET = sizeof presets / sizeof presets[0] };

const vh_preset *vh_preset_find(const char *name)
{
    for (int i = 1; name && i < N_PRESET; i++)
        if (strcmp(name, presets[i].name) == 0)
            return &presets[i];
    return name ? NULL : &presets[0];
}

bool vh_cluster_wants_full(const vhem_cluster_options *opt)
{
    return vh_preset_find(opt->preset)->full;
}

bool vh_cluster_runs_all(const vhem_cluster_options *opt)
{
    return vh_preset_find(opt->preset)->plain;
}

bool vh_cluster_wants_candidates(int64_t K, const vhem_cluster_options *opt)
{
    bool alone = strcmp(opt->search, "restarts") == 0, settles = vh_preset_find(opt->preset)->settles;
    return K > 1 && (!alone || (settles && strcmp(opt->init, "auto") == 0));
}

int vh_cluster_min_iter(const vhem_cluster_options *opt)
{
    return vh_preset_find(opt->preset)->min_iter;
}

double vh_cluster_work(const vh_h3m *h3m, int64_t K, const vhem_cluster_options *o)
{
    assert(h3m);
    double work = 0, dd = (double)vh_param_size(h3m->family, h3m->family->n_param - 1, &h3m->shape);
    for (int64_t i = 0; i < h3m->K; i++) {
        double Sb = h3m->hmm[i].S, Mb = h3m->hmm[i].M;
        work += K * (3 * o->tau * Sb * o->S + 0.1 * dd * Sb * Mb * o->S * o->M);
    }
    return work;
}
