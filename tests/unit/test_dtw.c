/* SPDX-License-Identifier: BSD-3-Clause */
/* test_dtw.c - time warping against recursion over all paths, and against aeon; gaps, angles, units, order,
 * threads. */
#include "engine.h"

#include "distance/dtw.h"

#include <float.h>

enum { MOST_D = 8 };

typedef struct { /* sequences with options, as the definition has them */
    int N, d;
    const int *T;
    const double *y; /* [sum T][d] */
    struct {
        double window;
        int frames;
        const bool *circular;
    } opt;
} sequences;

/* ---- by definition ------------------------------------------------------------------------------------- */

typedef struct {
    const sequences *s;
    double mean[MOST_D], deviation[MOST_D]; /* 0: the column does not count */
    double unrelated[MOST_D];               /* average squared difference of two frames */
    int step;
    const double *x, *y; /* a pair; x is the shorter */
    int S, L;
    double *known; /* [S][L]  cells; NaN: not computed */
} definition;

static bool is_angle(const definition *f, int k)
{
    return f->s->opt.circular && f->s->opt.circular[k];
}

static void look_at_column(definition *f, int k)
{
    const sequences *s = f->s;
    double n = 0, sum = 0, square = 0, c = 0, z = 0, lo = INFINITY, hi = -INFINITY;
    int frames = 0;
    for (int i = 0; i < s->N; i++)
        frames += s->T[i];
    for (int t = 0; t < frames; t++) {
        double y = s->y[t * s->d + k];
        if (isnan(y))
            continue;
        n++;
        sum += y;
        c += cos(y);
        z += sin(y);
        lo = fmin(lo, y);
        hi = fmax(hi, y);
    }
    for (int t = 0; t < frames; t++)
        square += isnan(s->y[t * s->d + k]) ? 0 : pow(s->y[t * s->d + k] - sum / n, 2);
    f->mean[k] = sum / n;
    f->deviation[k] = lo < hi ? sqrt(square / n) : 0;
    f->unrelated[k] = f->deviation[k] == 0 ? 0 : is_angle(f, k) ? 2 - 2 * (c * c + z * z) / (n * n) : 2;
    f->step = (int)fmax(1, floor((double)frames / s->N / s->opt.frames));
}

static double cost(const definition *f, int i, int j)
{
    const double *x = f->x + i * f->step * f->s->d, *y = f->y + j * f->step * f->s->d;
    double sum = 0, all = 0, both = 0;
    for (int k = 0; k < f->s->d; k++) {
        if (f->deviation[k] == 0)
            continue;
        all += f->unrelated[k];
        if (isnan(x[k]) || isnan(y[k]))
            continue;
        both += f->unrelated[k];
        sum += is_angle(f, k) ? pow(cos(x[k]) - cos(y[k]), 2) + pow(sin(x[k]) - sin(y[k]), 2)
                              : pow((x[k] - y[k]) / f->deviation[k], 2);
    }
    return both > 0 ? sum * all / both : all;
}

static double cheapest(const definition *f, int i, int j)
{
    int centre = (j + 1) * f->S / (f->L + 1);
    if (i < 0 || j < 0 || abs(i - centre) > (int)(f->s->opt.window * f->S))
        return INFINITY;
    double *cell = &f->known[i * f->L + j];
    if (isnan(*cell)) {
        double before =
            i + j == 0 ? 0
                       : fmin(cheapest(f, i - 1, j - 1), fmin(cheapest(f, i - 1, j), cheapest(f, i, j - 1)));
        *cell = cost(f, i, j) + before;
    }
    return *cell;
}

static double by_definition(definition *f, int a, int b)
{
    const sequences *s = f->s;
    const double *at[] = { s->y, s->y };
    int shorter = s->T[a] <= s->T[b] ? a : b, longer = shorter == a ? b : a;
    for (int i = 0; i < s->N; i++) {
        at[0] += i < shorter ? s->T[i] * s->d : 0;
        at[1] += i < longer ? s->T[i] * s->d : 0;
    }
    f->x = at[0];
    f->y = at[1];
    f->S = (s->T[shorter] + f->step - 1) / f->step;
    f->L = (s->T[longer] + f->step - 1) / f->step;
    f->known = malloc(sizeof *f->known * (size_t)(f->S * f->L));
    for (int c = 0; c < f->S * f->L; c++)
        f->known[c] = NAN;
    double d = cheapest(f, f->S - 1, f->L - 1);
    free(f->known);
    return d;
}

static double *distances(vhem_ctx *ctx, const sequences *s)
{
    double *D = malloc(sizeof *D * (size_t)(s->N * s->N));
    vhem_data *data = wrap(ctx, s->N, s->T, s->d, s->y);
    assert_ok(ctx, vh_dtw(ctx, data, s->opt.window, s->opt.frames, s->opt.circular, D));
    vhem_free(data);
    return D;
}

static void compare(const sequences *s)
{
    vhem_ctx *ctx = test_ctx();
    definition f = { .s = s };
    double *D = distances(ctx, s);
    for (int k = 0; k < s->d; k++)
        look_at_column(&f, k);
    for (int a = 0; a < s->N; a++)
        for (int b = 0; b < s->N; b++) {
            assert_near(D[a * s->N + b], a == b ? 0 : by_definition(&f, a, b), 1e-12, 1e-25);
            assert_true(D[a * s->N + b] == D[b * s->N + a]);
        }
    free(D);
    vhem_free(ctx);
}

/* N sequences of 1 to `longest` frames, walks at random, of which a share is missing. */
static double *walks(uint64_t seed, int N, int longest, int d, double missing, int *T)
{
    vh_rng rng;
    int frames = 0, at = 0;
    vh_rng_init(&rng, seed, VH_RNG_TEST, 0);
    for (int n = 0; n < N; n++)
        frames += T[n] = 1 + (int)vh_rng_below(&rng, longest);
    double *y = malloc(sizeof *y * (size_t)(frames * d));
    for (int n = 0; n < N; n++) {
        double now[MOST_D] = { 0 };
        for (int t = 0; t < T[n]; t++)
            for (int k = 0; k < d; k++) {
                now[k] += (1 + k) * vh_rng_normal(&rng);
                y[at++] = vh_rng_uniform(&rng) < missing ? NAN : now[k];
            }
    }
    return y;
}

static const double windows[] = { 0, 0.2, 0.5, 1 };

/* Bands of all widths, more columns than are added at once, one frame beside many. */
static void against_definition(void **state)
{
    int T[7];
    (void)state;
    for (int r = 0; r < 96; r++) {
        int longest[] = { 5, 12, 40, 130 }, d = 1 + r % MOST_D;
        double *y = walks((uint64_t)r, 7, longest[r % 4], d, r % 3 ? 0.1 * (r % 3) : 0, T);
        compare(&(sequences){ 7, d, T, y, { windows[r / 4 % 4], VH_DTW_FRAMES, NULL } });
        free(y);
    }
}

static void thinned(void **state)
{
    int T[7];
    (void)state;
    for (int r = 0; r < 8; r++) {
        double *y = walks((uint64_t)r, 7, 90, 2, r % 2 * 0.1, T);
        compare(&(sequences){ 7, 2, T, y, { 0.2, 10 + r, NULL } });
        free(y);
    }
}

static void columns_that_do_not_count(void **state)
{
    const int T[] = { 3, 2, 1, 2 };
    /* never varies; never known; varies; constant where it is known */
    const double y[] = { 0.1, NAN, 1, 7,   0.1, NAN, 4, 7,   0.1, NAN, 2, NAN, 0.1, NAN, 5, 7,
                         0.1, NAN, 1, NAN, 0.1, NAN, 0, NAN, NAN, NAN, 3, 7,   0.1, NAN, 9, 7 };
    double alone[8];
    vhem_ctx *ctx = test_ctx();
    (void)state;
    compare(&(sequences){ 4, 4, T, y, { 1, 150, NULL } });
    for (int t = 0; t < 8; t++)
        alone[t] = y[4 * t + 2];
    double *D = distances(ctx, &(sequences){ 4, 4, T, y, { 1, 150, NULL } });
    double *want = distances(ctx, &(sequences){ 4, 1, T, alone, { 1, 150, NULL } });
    assert_memory_equal(D, want, sizeof *D * 16);
    free(D);
    const double same[] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    D = distances(ctx, &(sequences){ 4, 1, T, same, { 1, 150, NULL } });
    for (int i = 0; i < 16; i++)
        assert_true(D[i] == 0);
    free(D);
    free(want);
    vhem_free(ctx);
}

/* By hand: columns have mean 0 and deviation 1.  Frames with nothing in common cost 2 for each column. */
static void gaps_by_hand(void **state)
{
    const int T[] = { 2, 2, 1, 1 };
    const double y[] = { 1, -1, -1, 1, -1, NAN, 1, NAN, NAN, 1, NAN, -1 };
    vhem_ctx *ctx = test_ctx();
    (void)state;
    double *D = distances(ctx, &(sequences){ 4, 2, T, y, { 0, 150, NULL } });
    assert_near(D[0 * 4 + 1], 2 * 4 + 2 * 4, 1e-14, 0); /* in the first column, times two */
    assert_near(D[1 * 4 + 2], 4 + 4, 1e-14, 0);         /* two pairs */
    assert_near(D[2 * 4 + 3], 2 * 4, 1e-14, 0);
    assert_near(D[0 * 4 + 2], 2 * 4 + 0, 1e-14, 0);
    free(D);
    vhem_free(ctx);
}

/* dtw_distance(x, y, window) of aeon 1.6.0, of frames standardised by NumPy. */
static void against_aeon(void **state)
{
    const int T[] = { 12, 12, 7, 16 };
    const double y[] = { 1, 0, 4, 1, 9, 1, 8, 3, 5, 2, 1, 5, 1, 4, 0, 4, 1, 7, 0, 6, 1, 9, 0, 8,
                         0, 1, 1, 1, 0, 0, 1, 2, 0, 4, 2, 3, 4, 6, 9, 5, 9, 5, 5, 8, 1, 7, 0, 9,
                         5, 9, 0, 7, 9, 8, 8, 5, 1, 3, 0, 2, 2, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 2,
                         0, 2, 1, 3, 1, 3, 0, 4, 1, 5, 3, 6, 9, 7, 8, 7, 8, 8, 4, 8, 1, 9, 0, 9 };
    const struct {
        double window, D[6];
    } aeon[] = {
        { 0.1,
          { 33.06949446508155, 65.69269178553992, 36.054659123995734, 79.54889843023192, 4.979010412620162,
            123.94495095371599 } },
        { 0.3,
          { 25.456554236072172, 42.65980003541058, 34.87855122703034, 46.304465334819504, 3.957856278091856,
            68.89055479358586 } },
        { 1,
          { 16.574148678246054, 42.65980003541058, 32.45211043401858, 46.304465334819504, 3.957856278091856,
            59.825286115948096 } },
    };
    vhem_ctx *ctx = test_ctx();
    (void)state;
    for (int w = 0; w < 3; w++) {
        double *D = distances(ctx, &(sequences){ 4, 2, T, y, { aeon[w].window, 150, NULL } });
        for (int a = 0, c = 0; a < 4; a++)
            for (int b = a + 1; b < 4; b++)
                assert_near(D[a * 4 + b], aeon[w].D[c++], 1e-13, 0);
        free(D);
    }
    vhem_free(ctx);
}

static void angles(void **state)
{
    const bool circular[] = { false, true, true };
    int T[7];
    vhem_ctx *ctx = test_ctx();
    (void)state;
    for (int r = 0; r < 12; r++) {
        double *y = walks((uint64_t)r, 7, 30, 3, r % 2 * 0.2, T);
        sequences s = { 7, 3, T, y, { 0.2, 150, circular } };
        compare(&s);
        double *D = distances(ctx, &s);
        int frames = 0;
        for (int n = 0; n < 7; n++)
            frames += T[n];
        for (int t = 0; t < frames; t++) /* a full turn more or less changes nothing */
            y[t * 3 + 1] += t % 2 ? 4 * acos(0) : -4 * acos(0);
        double *turned = distances(ctx, &s);
        for (int c = 0; c < 49; c++)
            assert_near(D[c], turned[c], 1e-11, 1e-13);
        free(D);
        free(turned);
        free(y);
    }
    vhem_free(ctx);
}

/* ---- what must not matter ------------------------------------------------------------------------------ */

/* Nor do the largest and the smallest numbers there are. */
static void units(void **state)
{
    double unit[][2] = { { 1000, 7 }, { -3, 1e6 }, { 1e305, -1e306 }, { 1e-307, 0 }, { 0, 0 } };
    int T[7], frames = 0;
    double *y = walks(3, 7, 30, 2, 0.1, T);
    vhem_ctx *ctx = test_ctx();
    sequences s = { 7, 2, T, y, { 0.2, 150, NULL } };
    double *D = distances(ctx, &s);
    (void)state;
    for (int n = 0; n < 7; n++)
        frames += T[n];
    double *other = malloc(sizeof *other * (size_t)(2 * frames)), lo = 0, hi = 0;
    for (int t = 0; t < frames; t++) {
        lo = fmin(lo, y[2 * t + 1]);
        hi = fmax(hi, y[2 * t + 1]);
    }
    unit[4][0] = DBL_MAX / fmax(-lo, hi);
    assert_true(isinf(hi * unit[4][0] - lo * unit[4][0]));
    for (int u = 0; u < 5; u++) {
        for (int t = 0; t < frames; t++) {
            other[2 * t] = y[2 * t];
            other[2 * t + 1] = y[2 * t + 1] * unit[u][0] + unit[u][1];
        }
        s.y = other;
        double *got = distances(ctx, &s);
        for (int c = 0; c < 49; c++)
            assert_near(D[c], got[c], 1e-8, 0);
        free(got);
    }
    free(D);
    free(y);
    free(other);
    vhem_free(ctx);
}

/* Rows and columns of D move with the sequences, and no bit changes. */
static void order(void **state)
{
    enum { N = 30 };
    int T[N], moved_T[N], from[N];
    const bool circular[] = { true, false, false, false, false };
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 11, VH_RNG_TEST, 1);
    for (int r = 0; r < 6; r++) {
        vhem_ctx *ctx = test_ctx();
        int d = r < 3 ? 5 : 2;
        double *y = walks((uint64_t)r, N, 20, d, r % 3 * 0.1, T), *at[N + 1] = { y };
        for (int n = 0; n < N; n++) {
            at[n + 1] = at[n] + T[n] * d;
            from[n] = n;
        }
        for (int n = N - 1; n > 0; n--) {
            int m = (int)vh_rng_below(&rng, n + 1), kept = from[n];
            from[n] = from[m];
            from[m] = kept;
        }
        double *moved = malloc(sizeof *moved * (size_t)(at[N] - y)), *to = moved;
        for (int n = 0; n < N; n++) {
            moved_T[n] = T[from[n]];
            memcpy(to, at[from[n]], sizeof *to * (size_t)(moved_T[n] * d));
            to += moved_T[n] * d;
        }
        double *D = distances(ctx, &(sequences){ N, d, T, y, { 0.2, 6, circular } });
        double *other = distances(ctx, &(sequences){ N, d, moved_T, moved, { 0.2, 6, circular } });
        for (int a = 0; a < N; a++)
            for (int b = 0; b < N; b++)
                assert_true(other[a * N + b] == D[from[a] * N + from[b]]);
        free(D);
        free(other);
        free(moved);
        free(y);
        vhem_free(ctx);
    }
}

static void threads(void **state)
{
    enum { N = 40 };
    int T[N];
    double *y = walks(9, N, 60, 4, 0.02, T), *first = NULL;
    const int n[] = { 1, 2, 5 };
    (void)state;
    for (int i = 0; i < 3; i++) {
        vhem_ctx *ctx = test_ctx_with(NULL, n[i], 1);
        double *D = distances(ctx, &(sequences){ N, 4, T, y, { 0.2, 150, NULL } });
        if (first)
            assert_memory_equal(D, first, sizeof *D * N * N);
        free(i ? D : NULL);
        first = i ? first : D;
        vhem_free(ctx);
    }
    free(first);
    free(y);
}

/* A few sequences of a set are compared as if they were the set. */
static void subset(void **state)
{
    const int64_t seq[] = { 5, 2, 0 };
    int T[7], few_T[3], at[8] = { 0 };
    double *y = walks(13, 7, 20, 2, 0.1, T), few[3 * 20 * 2], *to = few, D[9];
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = wrap(ctx, 7, T, 2, y), *part = NULL;
    (void)state;
    for (int n = 0; n < 7; n++)
        at[n + 1] = at[n] + 2 * T[n];
    for (int i = 0; i < 3; i++) {
        few_T[i] = T[seq[i]];
        memcpy(to, y + at[seq[i]], sizeof *to * (size_t)(2 * few_T[i]));
        to += 2 * few_T[i];
    }
    assert_ok(ctx, vh_data_subset(ctx, data, seq, 3, &part));
    assert_ok(ctx, vh_dtw(ctx, part, VH_DTW_WINDOW, VH_DTW_FRAMES, NULL, D));
    double *want = distances(ctx, &(sequences){ 3, 2, few_T, few, { VH_DTW_WINDOW, VH_DTW_FRAMES, NULL } });
    assert_memory_equal(D, want, sizeof D);
    free(want);
    free(y);
    vhem_free(part);
    vhem_free(data);
    vhem_free(ctx);
}

/* ---- what ends it -------------------------------------------------------------------------------------- */

static void failures(void **state)
{
    const int T[] = { 2, 2 };
    const double y[] = { 1, 2, INFINITY, 4 };
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = wrap(ctx, 2, T, 1, y);
    double D[] = { 1, 2, 3, 4 };
    (void)state;
    assert_fails(ctx, vh_dtw(ctx, data, VH_DTW_WINDOW, VH_DTW_FRAMES, NULL, D), VHEM_EINVAL,
                 "sequence 1: frame 0");
    assert_true(D[0] == 1 && D[1] == 2 && D[2] == 3 && D[3] == 4);
    vhem_free(data);
    vhem_free(ctx);
}

static vhem_ctx *to_stop;

static void stop_at_second(void *arg, const char *what, int64_t done, int64_t total)
{
    (void)arg;
    (void)what;
    (void)total;
    if (done == 2)
        vhem_ctx_stop(to_stop);
}

/* Before it begins, and between two rows of the table. */
static void stops(void **state)
{
    enum { N = 12 };
    int T[N];
    double *y = walks(1, N, 30, 2, 0, T), D[N * N] = { 0 };
    (void)state;
    for (int early = 0; early < 2; early++) {
        vhem_ctx_options opt;
        VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
        opt.threads = 1;
        opt.progress = stop_at_second;
        assert_int_equal(vhem_ctx_new(&opt, &to_stop), VHEM_OK);
        vhem_data *data = wrap(to_stop, N, T, 2, y);
        if (early)
            vhem_ctx_stop(to_stop);
        assert_fails(to_stop, vh_dtw(to_stop, data, VH_DTW_WINDOW, VH_DTW_FRAMES, NULL, D), VHEM_ESTOPPED,
                     "stopped");
        for (int c = 0; c < N * N; c++)
            assert_true(D[c] == 0);
        vhem_free(data);
        vhem_free(to_stop);
    }
    free(y);
}

static void one_sequence(void **state)
{
    const int T[] = { 1 };
    const double y[] = { 5 };
    vhem_ctx *ctx = test_ctx();
    double *D = distances(ctx, &(sequences){ 1, 1, T, y, { 0.2, 150, NULL } });
    (void)state;
    assert_true(D[0] == 0);
    free(D);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_definition),
        cmocka_unit_test(thinned),
        cmocka_unit_test(columns_that_do_not_count),
        cmocka_unit_test(gaps_by_hand),
        cmocka_unit_test(against_aeon),
        cmocka_unit_test(angles),
        cmocka_unit_test(units),
        cmocka_unit_test(order),
        cmocka_unit_test(threads),
        cmocka_unit_test(subset),
        cmocka_unit_test(failures),
        cmocka_unit_test(stops),
        cmocka_unit_test(one_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
