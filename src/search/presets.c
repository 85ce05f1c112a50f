/* SPDX-License-Identifier: BSD-3-Clause */
/* presets.c - see presets.h: the defaults, the paper's settings, and those of the toolbox for eye
 * movements. */
#include "search/presets.h"

#include <assert.h>
#include <string.h>

typedef struct {
    const char *name;
    double nv; /* virtual samples per model; 0: Kb / tau */
    int tau, max_iter, min_iter, soft;
    double tol, cov_floor, cov_add;
    bool full;    /* full covariances */
    bool plain;   /* no repairs, and all restarts run to their end */
    bool settles; /* settle the best restart, even in a search by restarts alone */
} preset;

static const preset presets[] = {
    /* defaults, without a preset */
    { NULL, 1e4, 10, 200, 1, 20, 1e-5, 1e-6, 0, false, false, false },
    { "paper", 1e4, 10, 200, 1, 0, 1e-5, 0, 0, false, true, false },
    { "emhmm", 0, 10, 101, 2, 20, 1e-5, 0, 1e-3, true, false, true },
};
enum { N_PRESET = sizeof presets / sizeof presets[0] };

static const preset *find_preset(const char *name)
{
    for (int i = 1; name && i < N_PRESET; i++)
        if (strcmp(name, presets[i].name) == 0)
            return &presets[i];
    return name ? NULL : &presets[0];
}

void vh_preset_numbers(const char *name, vhem_cluster_options *out)
{
    const preset *p = find_preset(name);
    out->nv = p->nv;
    out->tau = p->tau;
    out->max_iter = p->max_iter;
    out->soft = p->soft;
    out->tol = p->tol;
    out->cov_floor = p->cov_floor;
    out->cov_add = p->cov_add;
}

bool vh_cluster_wants_full(const vhem_cluster_options *opt)
{
    return find_preset(opt->preset)->full;
}

bool vh_cluster_runs_all(const vhem_cluster_options *opt)
{
    return find_preset(opt->preset)->plain;
}

bool vh_cluster_wants_candidates(int64_t K, const vhem_cluster_options *opt)
{
    bool alone = strcmp(opt->search, "restarts") == 0, settles = find_preset(opt->preset)->settles;
    return K > 1 && (!alone || (settles && strcmp(opt->init, "auto") == 0));
}

int vh_cluster_min_iter(const vhem_cluster_options *opt)
{
    return find_preset(opt->preset)->min_iter;
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
