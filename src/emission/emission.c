/* SPDX-License-Identifier: BSD-3-Clause */
/* emission.c - the table of emission families: a new one is a file and an entry here.  And what starts and
 * repairs do to the components of families that have no place to be moved from. */
#include "emission/emission.h"

#include "emission/layout.h"

#include <string.h>

static const vh_emission *const families[] = {
    &vh_gaussian_diag, &vh_gaussian_full,       &vh_poisson,      &vh_bernoulli, &vh_gamma, &vh_von_mises,
    &vh_categorical,   &vh_product_of_channels, &vh_gaussian_tied
};
enum { N_FAMILIES = sizeof families / sizeof families[0] };

const vh_emission *vh_emission_find(const char *name)
{
    for (int i = 0; i < N_FAMILIES; i++)
        if (strcmp(families[i]->name, name) == 0)
            return families[i];
    return NULL;
}

const vh_emission *vh_emission_of_file(const char *text, const char **path)
{
    size_t n = strlen(vh_gaussian_tied.name);
    *path = text + n + 1;
    return strncmp(text, vh_gaussian_tied.name, n) == 0 && text[n] == ':' ? &vh_gaussian_tied : NULL;
}

const char *vh_emission_names(void)
{
    return "gaussian-diag, gaussian-full, poisson, bernoulli, gamma, von-mises, categorical, product, "
           "gaussian-tied";
}

int vh_param_extent(const vh_param *p, int k, const vh_shape *shape)
{
    return p->dim[k] == VH_PER_SYMBOL     ? shape->V
           : p->dim[k] == VH_PER_CHANNEL  ? shape->layout->size
           : p->dim[k] == VH_PER_GAUSSIAN ? shape->G
                                          : shape->d;
}

void vh_emission_copy(const vh_emission *f, const vh_shape *shape, const double *const *from,
                      double *const *to)
{
    for (int p = 0; p < f->n_param; p++)
        memcpy(to[p], from[p], sizeof *to[p] * vh_param_size(f, p, shape));
}

static size_t most_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t vh_emission_room(const vh_emission *f, const vh_shape *shape)
{
    size_t d = (size_t)shape->d, V = (size_t)shape->V, widest = 0;
    if (f->slim)
        return 40 * d + 2 * V;
    if (!vh_param_is_channels(&f->param[0]))
        return vh_emission_work(shape);
    for (int c = 0; c < shape->layout->n_channel; c++) {
        const vh_channel *ch = &shape->layout->channel[c];
        const vh_emission *gaps = ch->family->with_gaps ? ch->family->with_gaps : ch->family;
        size_t stats = most_of((size_t)ch->family->n_stat(&ch->shape), (size_t)gaps->n_stat(&ch->shape));
        widest = most_of(
            widest,
            stats + most_of(vh_emission_room(ch->family, &ch->shape), vh_emission_room(gaps, &ch->shape)));
    }
    return (60 + VH_CHANNEL_BLOCK) * d + 4 * V + 64 + VH_CHANNEL_BLOCK + widest;
}

/* ---- what starts and repairs do ------------------------------------------------------------------------ */

size_t vh_nudge_work(const vh_emission *f, const vh_shape *shape)
{
    return 2 * (size_t)f->n_stat(shape) + 2 * (size_t)shape->d + vh_param_size(f, f->n_param - 1, shape)
           + vh_emission_room(f, shape);
}

/* The mean statistics of the component with a share of those of the frame, which is in the user's
 * coordinates. */
static void lean_to(const vh_emission *f, const vh_coords *x, double share, const double *y,
                    double *const *par, double *work)
{
    int n = f->n_stat(&x->shape);
    double *stat = work, *of_frame = work + n, *floor = of_frame + n;
    f->stats_of_component(x, (const double *const *)par, stat);
    f->stats_of_obs(x, y, 1, of_frame);
    for (int e = 0; e < n; e++)
        stat[e] += share * (of_frame[e] - stat[e]);
    for (int k = 0; k < x->shape.d; k++) /* nothing may come out singular */
        floor[k] = 1e-6 * x->scale[k] * x->scale[k];
    f->maximise(x, stat, floor, par, floor + x->shape.d);
}

/* The same with a frame drawn from the component itself. */
static void lean_at_random(const vh_emission *f, const vh_coords *x, double share, vh_rng *rng,
                           double *const *par, double *work)
{
    const double *const *from = (const double *const *)par;
    double *y = work, *root = y + x->shape.d, *rest = root + vh_param_size(f, f->n_param - 1, &x->shape);
    if (!f->root(&x->shape, from, root, rest))
        return;
    f->draw(rng, &x->shape, from, root, y);
    lean_to(f, x, share, y, par, rest);
}

void vh_emission_sit(const vh_emission *f, const vh_coords *x, const double *y, double *const *par,
                     double *work)
{
    if (f->location && f->location->sit) {
        f->location->sit(x, y, par);
        return;
    }
    for (int k = 0; k < x->shape.d; k++)
        work[k] = x->origin[k] + x->scale[k] * y[k];
    lean_to(f, x, 0.5, work, par, work + x->shape.d);
}

void vh_emission_part(const vh_emission *f, const vh_coords *x, vh_rng *rng, double *const *a,
                      double *const *b, double *work)
{
    if (f->location && f->location->part) {
        f->location->part(&x->shape, x->scale, rng, a, b);
        return;
    }
    lean_at_random(f, x, 0.3, rng, a, work);
    lean_at_random(f, x, 0.3, rng, b, work);
}

void vh_emission_jitter(const vh_emission *f, const vh_coords *x, vh_rng *rng, double *const *par,
                        double *work)
{
    if (f->location && f->location->jitter)
        f->location->jitter(&x->shape, x->scale, rng, par);
    else
        lean_at_random(f, x, 0.2, rng, par, work);
}
