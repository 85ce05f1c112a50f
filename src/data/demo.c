/* SPDX-License-Identifier: BSD-3-Clause */
/* demo.c - data sets for examples, made with random numbers: chains of places, of symbols, of steps and
 * turns, and noisy drawings.  Values are rounded, so that systems whose sines differ in the last bit write
 * the same bytes. */
#include "core/alloc.h"
#include "core/object.h"
#include "core/rng.h"
#include "data/values.h"
#include "data/data.h"
#include "vhem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.141592653589793

enum { KINDS = 6, STATES = 3, SYMBOLS = 6 };

/* A row for each state of a Markov chain: where it goes next, what its frames are drawn around, how far. */
typedef double chain[STATES][STATES + 4];

/* ---- frames of the states of chains -------------------------------------------------------------------- */

static void draw_place(vh_rng *rng, const double *at, const double *by, double *y)
{
    for (int k = 0; k < 2; k++)
        y[k] = at[k] + by[k] * vh_rng_normal(rng);
}

/* Two symbols: the first, or with a small probability the second. */
static void draw_symbol(vh_rng *rng, const double *at, const double *by, double *y)
{
    *y = at[vh_rng_uniform(rng) < *by];
}

/* A length with a gamma distribution of shape 3, and an angle around a mean. */
static void draw_step(vh_rng *rng, const double *at, const double *by, double *y)
{
    y[0] = at[0] / 3 * (vh_rng_exponential(rng) + vh_rng_exponential(rng) + vh_rng_exponential(rng));
    y[1] = remainder(at[1] + by[1] * vh_rng_normal(rng), 2 * PI);
}

/* clang-format off */
static const chain gaze[] = {
    { { .2, .4, .4,  200, 220,  14, 14 },   /* from eye to eye */
      { .2, .2, .6,  150, 160,  14, 14 },
      { .2, .6, .2,  250, 160,  14, 14 } },
    { { .5, .3, .2,  200, 220,  14, 14 },   /* from the nose to the mouth and back */
      { .5, .4, .1,  200, 290,  18, 12 },
      { .7, .1, .2,  200, 170,  14, 14 } },
};

enum { SCHOOL, TRAINING, UNIVERSITY, WORK, HOME, JOBLESS };
static const chain courses[] = {
    { { .80, .20, 0,  SCHOOL, SCHOOL,  0 },       /* an apprenticeship, then work */
      { 0, .75, .25,  TRAINING, WORK,  .05 },
      { 0,  0,   1,   WORK, JOBLESS,   .05 } },
    { { .90, .10, 0,  SCHOOL, SCHOOL,  0 },       /* university, then work */
      { 0, .85, .15,  UNIVERSITY, WORK,  .05 },
      { 0,  0,   1,   WORK, HOME,      .03 } },
    { { .75, .25, 0,  SCHOOL, SCHOOL,  0 },       /* odd jobs, then at home */
      { 0, .80, .20,  JOBLESS, WORK,   .35 },
      { 0,  0,   1,   HOME, JOBLESS,   .10 } },
};

static const chain tracks[] = {
    { { .95, .05, 0,  .1, PI,   0, 1.2 },   /* residents stay in one place */
      { .30, .70, 0,  1, 0,     0, .5 } },
    { { .80, .20, 0,  .1, PI,   0, 1.2 },   /* migrants rest, and go far */
      { .05, .95, 0,  1, 0,     0, .3 } },
    { { .85, .15, 0,  .1, PI,   0, 1.2 },   /* searchers turn in wide circles */
      { .10, .90, 0,  .5, 1.2,  0, .4 } },
};
/* clang-format on */

/* ---- drawings: a place for every phase u, a course of 2 pi or a multiple of it ------------------------- */

static void circle(double u, double *y)
{
    y[0] = cos(u);
    y[1] = sin(u);
}

static void figure_eight(double u, double *y)
{
    y[0] = sin(u);
    y[1] = .7 * sin(2 * u);
}

static void zigzag(double u, double *y)
{
    y[0] = 2 * fmod(u / (2 * PI), 1) - 1;
    y[1] = fabs(4 * fmod(u / PI, 1) - 2) - 1;
}

static void spiral(double u, double *y)
{
    double r = .15 + .85 * fmod(u / (6 * PI), 1);
    y[0] = r * cos(u);
    y[1] = r * sin(u);
}

static void line(double u, double *y)
{
    y[0] = 2 * fabs(fmod(u / PI, 2) - 1) - 1;
    y[1] = .5 * y[0];
}

/* Out and back along four arms, one after the other. */
static void cross(double u, double *y)
{
    double arm = 4 * fmod(u / (2 * PI), 1), out = 1 - fabs(2 * fmod(arm, 1) - 1);
    int axis = (int)arm % 2;
    y[axis] = arm < 2 ? out : -out;
    y[1 - axis] = 0;
}

static void (*const drawing[])(double u, double *y) = { circle, figure_eight, zigzag, spiral, line, cross };

/* ---- the sets ------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    int d, kinds, each, members; /* kinds x each x members sequences; members share a group */
    int least, most;             /* frames */
    double unit;                 /* values are multiples of 1 / unit */
    const char *kind[KINDS], *column[2];
    const char *symbol[SYMBOLS]; /* none: the columns hold numbers */
    const char *group;           /* begins the names of groups; NULL: there are none */
    const chain *chain;          /* [kinds]; NULL: drawings */
    void (*draw)(vh_rng *rng, const double *at, const double *by, double *y); /* a frame of a state */
} demos[] = {
    { "gaze", .d = 2, .kinds = 2, .each = 6, .members = 5, .least = 10, .most = 20, .unit = 10,
      .kind = { "eyes", "nose" }, .column = { "x", "y" }, .group = "viewer", .chain = gaze,
      .draw = draw_place },
    { "motions", .d = 2, .kinds = 6, .each = 10, .members = 1, .least = 60, .most = 140, .unit = 1000,
      .kind = { "circle", "figure_eight", "zigzag", "spiral", "line", "cross" }, .column = { "x", "y" } },
    { "courses", .d = 1, .kinds = 3, .each = 20, .members = 1, .least = 25, .most = 35, .unit = 1,
      .kind = { "training", "university", "home" }, .column = { "state" },
      .symbol = { "school", "training", "university", "work", "home", "jobless" }, .chain = courses,
      .draw = draw_symbol },
    { "tracks", .d = 2, .kinds = 3, .each = 12, .members = 1, .least = 100, .most = 160, .unit = 1000,
      .kind = { "resident", "migrant", "searcher" }, .column = { "step", "turn" }, .chain = tracks,
      .draw = draw_step },
};
enum { DEMOS = sizeof demos / sizeof *demos };

/* ---- sequences ----------------------------------------------------------------------------------------- */

static double between(vh_rng *rng, double least, double most)
{
    return least + (most - least) * vh_rng_uniform(rng);
}

/* Adds the T frames of a sequence of a kind, which begins in the first state or anywhere in its course. */
static vhem_status put_frames(int set, int kind, int T, vh_rng *rng, vh_builder *b)
{
    double y[2], phase = between(rng, 0, 2 * PI), pace = between(rng, .22, .34),
                 size = between(rng, .92, 1.08);
    int state = 0;

    for (int t = 0; t < T; t++) {
        if (demos[set].chain) {
            const double *row = demos[set].chain[kind][state];
            demos[set].draw(rng, row + STATES, row + STATES + 2, y);
            state = (int)vh_rng_pick(rng, STATES, row);
        } else {
            drawing[kind](phase, y);
            for (int k = 0; k < 2; k++)
                y[k] = size * y[k] + .05 * vh_rng_normal(rng);
            phase += pace * between(rng, .8, 1.2);
        }
        for (int k = 0; k < demos[set].d; k++)
            y[k] = rint(y[k] * demos[set].unit) / demos[set].unit + 0.0; /* + 0: not -0 */
        VH_TRY(vh_builder_frame(b, y));
    }
    return VHEM_OK;
}

/* Sequence n; the kinds take turns. */
static vhem_status put_sequence(vhem_ctx *ctx, int set, int n, vh_builder *b)
{
    char name[64], group[48];
    vh_rng rng;
    int who = n / demos[set].members, kind = who % demos[set].kinds;
    const char *label = demos[set].kind[kind];

    vh_rng_init(&rng, ctx->opt.seed, VH_RNG_DEMO, (uint64_t)n);
    int T = demos[set].least + (int)vh_rng_below(&rng, demos[set].most - demos[set].least + 1);
    VH_TRY(put_frames(set, kind, T, &rng, b));
    if (!demos[set].group) {
        snprintf(name, sizeof name, "%s%02d", label, who / demos[set].kinds + 1);
        return vh_builder_end(b, name, label, NULL, 1.0);
    }
    snprintf(group, sizeof group, "%s%02d", demos[set].group, who + 1);
    snprintf(name, sizeof name, "%s_%d", group, n % demos[set].members + 1);
    return vh_builder_end(b, name, label, group, 1.0);
}

static vhem_status put_symbols(vhem_ctx *ctx, int set, vh_builder *b)
{
    VH_AUTOFREE char **name = NULL;

    if (!demos[set].symbol[0])
        return VHEM_OK;
    VH_NEW(name, SYMBOLS);
    VH_TRY(vh_builder_symbols(b, 0, name, SYMBOLS));
    char **texts = vh_take(name);
    for (int k = 0; k < SYMBOLS; k++)
        VH_DUP(texts[k], demos[set].symbol[k]);
    return VHEM_OK;
}

vhem_status vhem_demo(vhem_ctx *ctx, const char *name, vhem_data **out)
{
    VH_ENTER(name, out);
    VH_OWN(vh_builder) *b = NULL;
    int set = 0;

    while (set < DEMOS && strcmp(demos[set].name, name) != 0)
        set++;
    VH_CHECK(set < DEMOS, VHEM_EINVAL,
             "there is no data set '%s'; there are gaze, motions, courses and tracks",
             VH_SHOW(name, strlen(name)));
    VH_TRY(vh_builder_new(ctx, demos[set].d, &b));
    VH_TRY(vh_builder_columns(b, demos[set].column));
    VH_TRY(put_symbols(ctx, set, b));
    for (int n = 0; n < demos[set].kinds * demos[set].each * demos[set].members; n++)
        VH_TRY(put_sequence(ctx, set, n, b));
    return vh_builder_finish(b, "memory", out);
}
