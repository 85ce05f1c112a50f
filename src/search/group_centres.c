/* SPDX-License-Identifier: BSD-3-Clause */
/* group_centres.c - see group_centres.h.
 *
 * With one centre, every model belongs to it for any N.  The objective is sum_i omega_i L_i over the members;
 * the number of virtual samples and a soft phase do not matter. */
#include "search/group_centres.h"

#include "search/hmm_search.h"
#include "core/alloc.h"
#include "parallel/map.h"
#include "parallel/ranks.h"
#include "core/rng.h"
#include "math/logsum.h"
#include "hmm/convert.h"
#include "vhem/start.h"

#include <math.h>
#include <string.h>

enum {
    MANY_MEMBERS = 1000, /* larger groups use this many members, evenly spaced */
    FEW_MEMBERS = 35,    /* smaller groups get more restarts, */
    MOST_TIMES = 5,      /* at most this many times as many */
};

struct vh_known_centre {
    const vh_base *base;
    int n;
    int64_t *member; /* [n] */
    uint64_t key;    /* hash of the members */
    int tries;       /* restarts so far */
    double J;        /* bound of the centre; -infinity: none yet */
    vh_h3m *centre;
};

typedef struct { /* one group of the current partition */
    const vh_known_centre *known;
    const vh_h3m *current;
    int64_t j; /* its index */
    int restarts;
    double J;
    vh_h3m *centre; /* NULL: no improvement on the cache */
} centre_group;

typedef struct {
    const vh_group_centres *centres;
    centre_group *group; /* [K] */
} group_work;

static void work_free(group_work *w)
{
    for (int64_t g = 0; w->group && g < w->centres->K; g++)
        vh_h3m_free(w->group[g].centre);
    free(w->group);
}

/* ---- the cache ----------------------------------------------------------------------------------------- */

void vh_group_centres_free(vh_group_centres *s)
{
    for (size_t k = 0; k < s->n; k++) {
        free(s->all[k].member);
        vh_h3m_free(s->all[k].centre);
    }
    free(s->all);
    s->all = NULL;
    s->n = s->cap = 0;
}

/* FNV-1a of the members. */
static uint64_t members_key(int n, const int64_t *member)
{
    uint64_t key = 0xcbf29ce484222325u;
    for (int i = 0; i < n; i++)
        key = (key ^ (uint64_t)member[i]) * 0x100000001b3u;
    return key;
}

/* Writes the members of group j, at most MANY_MEMBERS, to member [Kb]; returns their number. */
static int members_of(int64_t Kb, const int *label, int64_t j, int64_t *member)
{
    int64_t all = 0, seen = 0;
    int n = 0;
    for (int64_t i = 0; i < Kb; i++)
        all += label[i] == j;
    int wanted = all < MANY_MEMBERS ? (int)all : MANY_MEMBERS;
    for (int64_t i = 0; i < Kb; i++)
        if (label[i] == j && seen++ * wanted / all == n)
            member[n++] = i;
    return n;
}

/* Finds the entry of a group or adds one; *at is its index. */
static vhem_status look_up(vhem_ctx *ctx, vh_group_centres *s, const vh_base *base, int n,
                           const int64_t *member, size_t *at)
{
    uint64_t key = members_key(n, member);
    vh_known_centre new = { .base = base, .n = n, .key = key, .J = -INFINITY };
    VH_AUTOFREE int64_t *own = NULL;
    size_t k = 0;

    for (; k < s->n; k++)
        if (s->all[k].key == key && s->all[k].base == base && s->all[k].n == n
            && memcmp(s->all[k].member, member, sizeof *member * (size_t)n) == 0)
            break;
    *at = k;
    if (k < s->n)
        return VHEM_OK;
    VH_NEW(own, n);
    memcpy(own, member, sizeof *member * (size_t)n);
    VH_TRY(vh_grow(ctx, &s->all, &s->cap, s->n + 1, sizeof *s->all));
    new.member = vh_take(own);
    s->all[s->n++] = new;
    return VHEM_OK;
}

/* ---- one group ----------------------------------------------------------------------------------------- */

/* Copies the members as a base of their own, with normalised weights. */
static vhem_status take_members(vhem_ctx *ctx, const vh_known_centre *g, vh_h3m **models, vh_base **base)
{
    VH_TRY(vh_h3m_subset(ctx, g->base->h3m, g->member, g->n, models));
    bool weighty = vh_normalise(g->n, (*models)->omega);
    for (int i = 0; !weighty && i < g->n; i++) /* all weights are 0: use equal ones */
        (*models)->omega[i] = 1.0 / g->n;
    return vh_base_new(ctx, *models, base);
}

/* Runs more restarts for a group, one of them from its current centre. */
static vhem_status settle_one(vhem_ctx *ctx, void *arg, int64_t i, int worker)
{
    const group_work *w = arg;
    centre_group *g = &w->group[i];
    const vh_known_centre *known = g->known;
    vhem_cluster_options o = *w->centres->opt;
    VH_OWN(vh_h3m) *start = NULL, *models = NULL;
    VH_OWN(vh_base) *base = NULL;
    VH_CLEANUP(vh_hmm_search_free) vh_hmm_search s = { .opt = &o, .K = 1, .floor = w->centres->floor };

    (void)worker;
    o.soft = 0;
    o.init = "auto";
    o.restarts = g->restarts + (g->current != NULL);
    if (o.restarts == 0)
        return VHEM_OK;
    VH_TRY(take_members(ctx, known, &models, &base));
    s.base = s.trial = base;
    if (g->current) {
        VH_TRY(vh_h3m_subset(ctx, g->current, &g->j, 1, &start));
        start->omega[0] = 1;
        s.start = start;
    }
    uint64_t seed = vh_rng_seed(w->centres->seed, known->key);
    VH_TRY(vh_hmm_search_new(ctx, &s, vh_rng_seed(seed, (uint64_t)known->tries << 32)));
    if (g->current)
        s.search.all[0].kind = NULL;
    VH_TRY(vh_search_run(ctx, &s.search));
    vh_restart *best = &s.search.all[s.search.best];
    if (best->J > known->J) {
        g->J = best->J;
        g->centre = best->centers;
        best->centers = NULL;
    }
    return VHEM_OK;
}

/* ---- all groups ---------------------------------------------------------------------------------------- */

/* The centre of a small group has more local optima, and is cheaper to search for. */
static int wanted_restarts(int restarts, int members)
{
    double times = (double)FEW_MEMBERS / members;
    return (int)(restarts * (times < 1 ? 1 : times > MOST_TIMES ? MOST_TIMES : times));
}

/* Saves the result of a group for later partitions that contain it. */
static void remember(vh_known_centre *known, centre_group *g)
{
    known->tries += g->restarts;
    if (!g->centre)
        return;
    vh_h3m_free(known->centre);
    known->centre = g->centre;
    known->J = g->J;
    g->centre = NULL;
}

/* Copies the cached or the current centre of its group to centre j. */
static vhem_status place(vhem_ctx *ctx, const vh_group_centres *s, const vh_base *base,
                         const vh_known_centre *known, int64_t j, const vh_h3m *current, vh_h3m *out)
{
    const vh_h3m *from = known ? known->centre : current;
    int64_t at = known ? 0 : j;
    vh_rng rng;

    if (from) {
        VH_TRY(vh_h3m_shape(ctx, out, j, from->hmm[at].S, from->hmm[at].M));
        vh_hmm_copy(&out->hmm[j], &from->hmm[at]);
    } else { /* no members: any start will do, repairs will move it */
        vh_rng_init(&rng, s->seed, VH_RNG_INIT, (uint64_t)j);
        VH_TRY(vh_h3m_shape(ctx, out, j, s->opt->S, s->opt->M));
        VH_CHECK(vh_center_from_base(base, j % base->Kb, &rng, out, j), VHEM_ENOMEM,
                 "out of memory: no room for a centre");
    }
    return VHEM_OK;
}

/* Weights of the centres: their current ones, or the share of models in each group. */
static void weigh(const vh_group_centres *s, const vh_base *base, const int *label, const vh_h3m *current,
                  vh_h3m *out)
{
    for (int64_t j = 0; j < out->K; j++)
        out->omega[j] = current ? current->omega[j] : 0;
    for (int64_t i = 0; !current && i < base->Kb; i++)
        out->omega[label[i]] += s->opt->weighted_omega ? base->h3m->omega[i] : 1;
    vh_normalise(out->K, out->omega);
}

vhem_status vh_group_centres_find(vhem_ctx *ctx, vh_group_centres *s, const vh_base *base, const int *label,
                                  const vh_h3m *current, int restarts, vh_h3m **out)
{
    int64_t K = s->K, failed;
    VH_OWN(vh_h3m) *centers = NULL;
    VH_AUTOFREE size_t *at = NULL;
    VH_AUTOFREE int64_t *member = NULL;
    VH_CLEANUP(work_free) group_work w = { .centres = s };

    VH_NEW(member, base->Kb);
    VH_NEW(at, K);
    VH_NEW(w.group, K);
    vh_work work = { .what = "centres", .nested = true, .run = settle_one, .arg = &w };
    for (int64_t j = 0; j < K; j++) {
        int n = members_of(base->Kb, label, j, member);
        if (n == 0)
            continue;
        VH_TRY(look_up(ctx, s, base, n, member, &at[work.n]));
        w.group[work.n++] = (centre_group){ .j = j, .current = current };
    }
    for (int64_t g = 0; g < work.n; g++) { /* the entries no longer move */
        w.group[g].known = &s->all[at[g]];
        int wanted = wanted_restarts(restarts, s->all[at[g]].n), tries = s->all[at[g]].tries;
        w.group[g].restarts = wanted > tries ? wanted - tries : 0;
    }
    vh_ranks_leave(ctx);
    VH_TRY(vh_ranks_join(ctx, vh_map(ctx, &work, &failed)));
    VH_TRY(vh_h3m_new(ctx, base->h3m->family, base->h3m->shape, K, &centers));
    for (int64_t g = 0, j = 0; j < K; j++) {
        bool used = g < work.n && w.group[g].j == j;
        if (used)
            remember(&s->all[at[g]], &w.group[g]);
        VH_TRY(place(ctx, s, base, used ? &s->all[at[g]] : NULL, j, current, centers));
        g += used;
    }
    weigh(s, base, label, current, centers);
    *out = vh_take(centers);
    return VHEM_OK;
}
