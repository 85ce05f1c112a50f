/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sequence_search.c - views of sequences by hand, which graphs serve which sequences, and the search:
 * kinds that differ in the order of what happens, their number, shares, order, threads, stops. */
#include "cluster_samples.h"
#include "engine.h"

#include "distance/dtw.h"
#include "emission/layout.h"
#include "fit/frames.h"
#include "math/agreement.h"
#include "search/sequence_search.h"

/* ---- sequences ----------------------------------------------------------------------------------------- */

enum { KINDS = 4, LONG = 40 };

/* Frames of kind k: circles and eights, which pass through the same places in another order. */
static void draw_shape(vh_rng *rng, int k, int T, double *y)
{
    double phase = 0.6 * (vh_rng_uniform(rng) - 0.5);
    for (int t = 0; t < T; t++) {
        double a = 2 * 3.14159265358979 * t / T + phase;
        y[2 * t] = sin(k == 1 ? -a : k == 2 ? 2 * a : a) + 0.1 * vh_rng_normal(rng);
        y[2 * t + 1] = cos(k == 3 ? 2 * a : a) + 0.1 * vh_rng_normal(rng);
    }
}

/* Sequence i of n is of kind order[i] % kinds (NULL: i); three follow each other in a group. */
static vhem_data *shapes(vhem_ctx *ctx, int kinds, int n, const int *order, const char *grouped)
{
    vh_builder *b = NULL;
    assert_ok(ctx, vh_builder_new(ctx, 2, &b));
    for (int i = 0; i < n; i++) {
        int which = order ? order[i] : i, T = LONG + which % 7;
        double y[2 * (LONG + 7)];
        char name[16], group[16];
        vh_rng rng;
        vh_rng_init(&rng, 5, VH_RNG_TEST, (uint64_t)which);
        draw_shape(&rng, grouped ? which / 3 % kinds : which % kinds, T, y);
        snprintf(name, sizeof name, "s%d", which);
        snprintf(group, sizeof group, "g%d", which / 3);
        add_sequence(ctx, b, y, T, name, NULL, grouped ? group : NULL, 1);
    }
    return finish(ctx, b);
}

typedef struct {
    vhem_data *data;
    vh_sets sets;
    vh_graph_source from;
} problem;

static problem problem_of(vhem_ctx *ctx, vhem_data *data, bool by_group)
{
    problem p = { .data = data };
    assert_ok(ctx, vh_sets_new(ctx, data, by_group, &p.sets));
    p.from = (vh_graph_source){
        .data = data, .by_group = by_group, .emission = "gaussian-diag", .S = -1, .M = -1
    };
    return p;
}

static void free_problem(problem *p)
{
    vh_sets_free(&p->sets);
    vhem_free(p->data);
}

static void search(vhem_ctx *ctx, problem *p, int n_K, const int64_t *K, vh_seq_search *s)
{
    *s = (vh_seq_search){ 0 };
    p->from.sets = &p->sets;
    assert_ok(ctx, vh_seq_search_run(ctx, &p->from, n_K, K, 1, s));
}

static double agree(int64_t n, const int *a, const int *b)
{
    vhem_agreement g;
    vh_agreement(n, a, b, &g);
    return g.adjusted_rand;
}

/* ---- 1. views ------------------------------------------------------------------------------------------ */

static void test_views(void **state)
{
    static const double first[] = { 1, 7, 2, 7, 4, 7, 8, 7 }, second[] = { 3, NAN, 5, 1, NAN, 3 },
                        third[] = { 2, 9 };
    static const double moved[] = { 1, 7, 1, 0, 2, 7, 1.5, 0, 4, 7, 3, 0, 8, 7, 4, 0 };
    vhem_ctx *ctx = test_ctx();
    vh_builder *b = NULL;
    vhem_data *seen = NULL;
    (void)state;
    assert_ok(ctx, vh_builder_new(ctx, 2, &b));
    add_sequence(ctx, b, first, 4, "a", "x", "g", 1);
    add_sequence(ctx, b, second, 3, "b", "y", "h", 2);
    add_sequence(ctx, b, third, 1, "c", "y", "h", 2);
    vhem_data *data = finish(ctx, b);

    assert_ok(ctx, vh_view_make(ctx, VH_WITH_DIFFERENCES, data, &seen));
    assert_int_equal(seen->d, 4);
    assert_int_equal(seen->N, 3);
    for (int e = 0; e < 16; e++)
        assert_near(vh_data_frames(seen, 0)[e], moved[e], 0, 0);
    const double *y = vh_data_frames(seen, 1);
    assert_near(y[2], 2, 0, 0); /* one-sided at the beginning */
    assert_true(isnan(y[3]) && isnan(y[1]));
    assert_true(isnan(y[4 + 2])); /* one of its neighbours is missing */
    assert_near(y[2 * 4 + 3], 2, 0, 0);
    assert_true(vh_data_frames(seen, 2)[2] == 0 && vh_data_frames(seen, 2)[3] == 0); /* a single frame */
    assert_string_equal(seen->name[1], "b");
    assert_string_equal(seen->group[1], "h");
    assert_true(seen->weight[1] == 2);
    vhem_free(seen);

    seen = NULL;
    assert_ok(ctx, vh_view_make(ctx, VH_EACH_STANDARDISED, data, &seen));
    assert_int_equal(seen->d, 2);
    double mean = 15.0 / 4, deviation = sqrt((1 + 4 + 16 + 64) / 4.0 - mean * mean);
    for (int t = 0; t < 4; t++) {
        assert_near(vh_data_frames(seen, 0)[2 * t], (first[2 * t] - mean) / deviation, 1e-14, 0);
        assert_true(vh_data_frames(seen, 0)[2 * t + 1] == 0); /* the column is the same throughout */
    }
    y = vh_data_frames(seen, 1);
    assert_near(y[0], -1, 1e-14, 0);
    assert_near(y[2], 1, 1e-14, 0);
    assert_true(isnan(y[4]) && isnan(y[1]));
    assert_near(y[3], -1, 1e-14, 0);
    vhem_free(seen);

    seen = NULL;
    assert_ok(ctx, vh_view_make(ctx, VH_AS_THEY_ARE, data, &seen));
    assert_int_equal(vh_data_fingerprint(seen) != 0, 1);
    for (int n = 0; n < 3; n++)
        for (int64_t e = 0; e < vh_data_length(data, n) * 2; e++)
            assert_near(vh_data_frames(seen, n)[e], vh_data_frames(data, n)[e], 0, 0);
    vhem_free(seen);
    vhem_free(data);
    vhem_free(ctx);
}

/* Views of sequences in other units: differences too, and those that are standardised do not change. */
static void test_views_in_other_units(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = shapes(ctx, KINDS, 6, NULL, NULL), *plain = NULL, *seen = NULL;
    vh_builder *b = NULL;
    (void)state;
    assert_ok(ctx, vh_builder_new(ctx, 2, &b));
    for (int n = 0; n < 6; n++) {
        double y[2 * (LONG + 7)];
        for (int64_t e = 0; e < vh_data_length(data, n) * 2; e++)
            y[e] = 1024 * vh_data_frames(data, n)[e] + 5;
        add_sequence(ctx, b, y, (int)vh_data_length(data, n), data->name[n], NULL, NULL, 1);
    }
    vhem_data *other = finish(ctx, b);
    for (int view = VH_WITH_DIFFERENCES; view < VH_N_VIEWS; view++) {
        assert_ok(ctx, vh_view_make(ctx, (vh_view)view, data, &plain));
        assert_ok(ctx, vh_view_make(ctx, (vh_view)view, other, &seen));
        for (int64_t e = 0; e < plain->start[6] * plain->d; e++) {
            bool moved = view == VH_WITH_DIFFERENCES && e % 4 >= 2, same = view == VH_EACH_STANDARDISED;
            assert_near(seen->y[e], (same ? 1 : 1024) * plain->y[e] + (moved || same ? 0 : 5), 1e-9, 1e-9);
        }
        assert_int_equal(vh_view_is_same(seen), view == VH_EACH_STANDARDISED);
        vhem_free(plain);
        vhem_free(seen);
        plain = seen = NULL;
    }
    assert_true(!vh_view_is_same(data));
    vhem_free(data);
    vhem_free(other);
    vhem_free(ctx);
}

/* ---- 2. which graphs ----------------------------------------------------------------------------------- */

static const char *names_of(vhem_ctx *ctx, problem *p)
{
    static char all[1024];
    vh_graph_kind kind[VH_MOST_GRAPHS];
    p->from.sets = &p->sets;
    int n = vh_graph_kinds(ctx, &p->from, kind);
    all[0] = '\0';
    for (int k = 0; k < n; k++) {
        char name[80];
        assert_ptr_equal(vh_graph_name(&kind[k], name, sizeof name), name);
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", k ? "; " : "", name);
    }
    return all;
}

#define ALL_MODELS                                                                                     \
    "free models of 3 states; linear models of 5 states; linear models of 8 states; linear models of " \
    "8 states, with differences; linear models of 8 states, each standardised"

static void test_kinds(void **state)
{
    vhem_ctx *ctx = test_ctx();
    problem p = problem_of(ctx, shapes(ctx, 2, 12, NULL, "g"), false);
    (void)state;
    assert_string_equal(names_of(ctx, &p), ALL_MODELS "; elastic distance");
    p.from.by_group = true; /* a warped path joins two sequences */
    assert_string_equal(names_of(ctx, &p), ALL_MODELS);
    p.from.by_group = false;
    p.from.S = 4; /* and then only one linear shape is left */
    assert_string_equal(names_of(ctx, &p),
                        "free models of 4 states; linear models of 4 states; linear models of 4 "
                        "states, with differences; linear models of 4 states, each standardised");
    p.from.S = 1;
    p.from.topology = "left-right";
    assert_string_equal(names_of(ctx, &p), "left-right models of 1 state; left-right models of 1 state, with "
                                           "differences; left-right models of 1 state, each standardised");
    p.from.S = -1;
    p.from.topology = "free";
    assert_string_equal(names_of(ctx, &p), "free models of 3 states");
    p.from.topology = NULL;
    p.from.M = 2; /* the elastic distance has no components */
    assert_string_equal(names_of(ctx, &p), ALL_MODELS);
    p.from.M = -1;
    p.from.emission = "poisson"; /* counts have no views */
    assert_string_equal(names_of(ctx, &p),
                        "free models of 3 states; linear models of 5 states; linear models of 8 "
                        "states; elastic distance");
    free_problem(&p);
    vhem_free(ctx);
}

/* n sequences of T frames of one column. */
static vhem_data *short_ones(vhem_ctx *ctx, int n, int T)
{
    vh_builder *b = NULL;
    vh_rng rng;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 0);
    assert_ok(ctx, vh_builder_new(ctx, 1, &b));
    for (int i = 0; i < n; i++) {
        double y[64];
        for (int t = 0; t < T; t++)
            y[t] = 6 * (i % 2) + vh_rng_normal(&rng);
        add_sequence(ctx, b, y, T, NULL, NULL, NULL, 1);
    }
    return finish(ctx, b);
}

static void test_kinds_of_short_sequences(void **state)
{
    vhem_ctx *ctx = test_ctx();
    problem p = problem_of(ctx, short_ones(ctx, 12, 6), false);
    (void)state;
    assert_string_equal(names_of(ctx, &p),
                        "free models of 3 states; linear models of 5 states; elastic distance");
    p.from.topology = "linear"; /* who asks for it gets it */
    assert_string_equal(names_of(ctx, &p),
                        "linear models of 5 states; linear models of 8 states; linear models of "
                        "8 states, with differences; linear models of 8 states, each "
                        "standardised");
    free_problem(&p);
    p = problem_of(ctx, short_ones(ctx, 12, 1), false); /* of one frame there are no differences */
    assert_string_equal(names_of(ctx, &p), "free models of 3 states; elastic distance");
    free_problem(&p);
    vhem_free(ctx);
}

static void test_kinds_of_symbols(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_frames frames = { 0 };
    vhem_data *data = short_ones(ctx, 12, 30);
    (void)state;
    for (int64_t e = 0; e < data->start[12]; e++)
        ((double *)data->y)[e] = data->y[e] > 3;
    assert_ok(ctx, vh_frames_to_fit(ctx, data, "categorical", NULL, NULL, &frames));
    problem p = problem_of(ctx, data, false);
    p.from.data = frames.data;
    p.from.emission = "categorical";
    assert_string_equal(names_of(ctx, &p),
                        "free models of 3 states; linear models of 5 states; linear models of 8 "
                        "states");
    vh_frames_free(&frames);
    free_problem(&p);
    vhem_free(ctx);
}

/* ---- 3. neighbours ------------------------------------------------------------------------------------- */

/* The elastic distance is that of time warping, by mutual rank. */
static void test_elastic_neighbours(void **state)
{
    enum { N = 10 };
    vhem_ctx *ctx = test_ctx();
    problem p = problem_of(ctx, shapes(ctx, KINDS, N, NULL, NULL), false);
    const vh_graph_kind elastic = { VH_AS_THEY_ARE, NULL, 0 };
    vh_near near = { 0 }, want = { 0 };
    double D[N * N];
    (void)state;
    p.from.sets = &p.sets;
    assert_ok(ctx, vh_dtw(ctx, p.data, VH_DTW_WINDOW, VH_DTW_FRAMES, NULL, D));
    assert_ok(ctx, vh_near_mutual(ctx, N, D, 24, &want));
    assert_ok(ctx, vh_graph_neighbours(ctx, &p.from, &elastic, &near));
    assert_int_equal(near.k, want.k);
    assert_memory_equal(near.near, want.near, sizeof *near.near * N * (size_t)near.k);
    vh_near_free(&near);
    vh_near_free(&want);
    free_problem(&p);
    vhem_free(ctx);
}

/* A group is as near to others as its sequences, whatever their number. */
static void test_neighbours_are_of_the_kind(void **state)
{
    enum { N = 36, GROUPS = N / 3 };
    static const vh_graph_kind kinds[] = { { VH_AS_THEY_ARE, "linear", 5 },
                                           { VH_WITH_DIFFERENCES, "linear", 8 },
                                           { VH_EACH_STANDARDISED, "linear", 8 } };
    vhem_ctx *ctx = test_ctx();
    problem one = problem_of(ctx, shapes(ctx, KINDS, N, NULL, NULL), false);
    problem group = problem_of(ctx, shapes(ctx, KINDS, N, NULL, "g"), true);
    (void)state;
    one.from.sets = &one.sets;
    group.from.sets = &group.sets;
    for (int k = 0; k < 3; k++) {
        vh_near near = { 0 };
        assert_ok(ctx, vh_graph_neighbours(ctx, &one.from, &kinds[k], &near));
        for (int i = 0; i < N; i++)
            for (int e = 0; e < N / KINDS - 1; e++)
                assert_int_equal(near.near[i * near.k + e] % KINDS, i % KINDS);
        vh_near_free(&near);
        assert_ok(ctx, vh_graph_neighbours(ctx, &group.from, &kinds[k], &near));
        assert_int_equal(near.n, GROUPS);
        for (int i = 0; i < GROUPS; i++)
            for (int e = 0; e < GROUPS / KINDS - 1; e++)
                assert_int_equal(near.near[i * near.k + e] % KINDS, i % KINDS);
        vh_near_free(&near);
    }
    free_problem(&one);
    free_problem(&group);
    vhem_free(ctx);
}

/* ---- 4. the search ------------------------------------------------------------------------------------- */

/* The best sum of all, of graphs and of numbers that may be recommended. */
static void check_choice(const vh_seq_search *s, bool given)
{
    double top = -INFINITY;
    for (int k = 0; k < s->n_all; k++) {
        const vh_seq_candidate *c = &s->all[k];
        if (!c->label)
            continue;
        double best = -INFINITY;
        for (int t = 0; t < (given || c->n_judged == 1 ? c->n_judged : c->n_judged - 1); t++)
            if (c->judged[t].K > 1 || c->n_judged == 1)
                best = fmax(best, c->judged[t].modularity + c->judged[t].stability);
        assert_true(c->best.modularity + c->best.stability == best);
        top = fmax(top, best);
    }
    const vh_seq_candidate *won = &s->all[s->best];
    assert_true(won->best.modularity + won->best.stability == top);
}

/* Groups are numbered by first appearance, and all are there. */
static void check_labels(const vh_seq_candidate *c, int64_t n)
{
    int next = 0;
    for (int64_t i = 0; i < n; i++) {
        assert_in_range(c->label[i], 0, next);
        next = c->label[i] == next ? next + 1 : next;
        assert_true(c->share[i] >= 0 && c->share[i] <= 1);
    }
    assert_true(next <= c->best.K);
}

static void test_finds_kinds_and_their_number(void **state)
{
    vhem_ctx *ctx = test_ctx();
    (void)state;
    for (int kinds = 2; kinds <= KINDS; kinds++) {
        enum { EACH = 12 };
        int n = EACH * kinds, truth[EACH * KINDS];
        problem p = problem_of(ctx, shapes(ctx, kinds, n, NULL, NULL), false);
        vh_seq_search s;
        for (int i = 0; i < n; i++)
            truth[i] = i % kinds;
        for (int asked = 0; asked < 2; asked++) {
            const int64_t K = kinds;
            search(ctx, &p, asked, asked ? &K : NULL, &s);
            const vh_seq_candidate *won = &s.all[s.best];
            assert_int_equal(s.n, n);
            assert_int_equal(won->best.K, kinds);
            assert_true(agree(n, truth, won->label) == 1);
            if (asked) /* that of one number of several counts its neighbours, too */
                assert_true(won->best.stability == 1); /* and not nearly */
            else
                assert_true(won->best.stability > 0.8);
            for (int i = 0; i < n; i++)
                assert_true(won->share[i] == 1);
            for (int k = 0; k < s.n_all; k++)
                check_labels(&s.all[k], n);
            check_choice(&s, asked);
            assert_int_equal(won->n_judged > 1, !asked);
            vh_seq_search_free(&s);
        }
        free_problem(&p);
    }
    vhem_free(ctx);
}

/* Four of each kind are enough. */
static void test_finds_few_of_each(void **state)
{
    vhem_ctx *ctx = test_ctx();
    problem p = problem_of(ctx, shapes(ctx, 3, 12, NULL, NULL), false);
    vh_seq_search s;
    (void)state;
    search(ctx, &p, 0, NULL, &s);
    assert_int_equal(s.all[s.best].best.K, 3);
    for (int i = 0; i < 12; i++)
        assert_int_equal(s.all[s.best].label[i], i % 3);
    vh_seq_search_free(&s);
    free_problem(&p);
    vhem_free(ctx);
}

static void test_finds_kinds_of_groups(void **state)
{
    enum { N = 144, GROUPS = N / 3 };
    vhem_ctx *ctx = test_ctx();
    problem p = problem_of(ctx, shapes(ctx, KINDS, N, NULL, "g"), true);
    int truth[GROUPS];
    vh_seq_search s;
    (void)state;
    for (int i = 0; i < GROUPS; i++)
        truth[i] = i % KINDS;
    search(ctx, &p, 0, NULL, &s);
    assert_int_equal(s.n, GROUPS);
    assert_int_equal(s.all[s.best].best.K, KINDS);
    assert_true(agree(GROUPS, truth, s.all[s.best].label) == 1);
    vh_seq_search_free(&s);
    free_problem(&p);
    vhem_free(ctx);
}

/* Every number that is asked for is tried, and the largest may win; a single group has nothing to say. */
static void test_numbers_that_are_given(void **state)
{
    static const int64_t some[] = { 1, 2, 4 }, one[] = { 1 }, all[] = { 36 }, odd[] = { 1, 35 };
    vhem_ctx *ctx = test_ctx();
    problem p = problem_of(ctx, shapes(ctx, KINDS, 36, NULL, NULL), false);
    vh_seq_search s;
    (void)state;
    search(ctx, &p, 3, some, &s);
    assert_int_equal(s.all[s.best].best.K, 4);
    assert_int_equal(s.all[s.best].n_judged, 3);
    check_choice(&s, true);
    vh_seq_search_free(&s);
    search(ctx, &p, 1, one, &s);
    assert_int_equal(s.all[s.best].best.K, 1);
    assert_true(s.all[s.best].best.modularity == 0);
    vh_seq_search_free(&s);
    search(ctx, &p, 1, all, &s); /* everything by itself */
    for (int i = 0; i < 36; i++)
        assert_int_equal(s.all[s.best].label[i], i);
    vh_seq_search_free(&s);
    search(ctx, &p, 2, odd, &s); /* more than are in a sample */
    assert_int_equal(s.all[s.best].best.K, 35);
    vh_seq_search_free(&s);
    free_problem(&p);
    vhem_free(ctx);
}

static void test_few_items(void **state)
{
    vhem_ctx *ctx = test_ctx();
    (void)state;
    for (int n = 1; n <= 9; n++)
        for (int K = 0; K <= n; K++) {
            problem p = problem_of(ctx, shapes(ctx, 2, n, NULL, NULL), false);
            const int64_t given = K;
            vh_seq_search s;
            search(ctx, &p, K > 0, &given, &s);
            const vh_seq_candidate *won = &s.all[s.best];
            assert_int_equal(won->best.K, K > 0 ? K : n < 2 ? n : 2);
            check_labels(won, n);
            assert_true(isfinite(won->best.modularity) && isfinite(won->best.stability));
            vh_seq_search_free(&s);
            free_problem(&p);
        }
    vhem_free(ctx);
}

/* The order of the sequences is nothing to go by. */
static void test_order(void **state)
{
    enum { N = 48 };
    vhem_ctx *ctx = test_ctx();
    int order[N], sorted[N], truth[N];
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 9, VH_RNG_TEST, 0);
    for (int i = 0; i < N; i++) {
        order[i] = i;
        sorted[i] = i % (N / KINDS) * KINDS + i / (N / KINDS); /* kind after kind */
    }
    for (int i = N - 1; i > 0; i--) {
        int k = (int)vh_rng_below(&rng, i + 1), at = order[i];
        order[i] = order[k];
        order[k] = at;
    }
    for (int turn = 0; turn < 2; turn++) {
        const int *now = turn ? sorted : order;
        problem p = problem_of(ctx, shapes(ctx, KINDS, N, now, NULL), false);
        vh_seq_search s;
        for (int i = 0; i < N; i++)
            truth[i] = now[i] % KINDS;
        search(ctx, &p, 0, NULL, &s);
        assert_int_equal(s.all[s.best].best.K, KINDS);
        assert_true(agree(N, truth, s.all[s.best].label) == 1);
        vh_seq_search_free(&s);
        free_problem(&p);
    }
    vhem_free(ctx);
}

static void test_threads(void **state)
{
    static const int threads[] = { 1, 2, 5 };
    enum { N = 30 };
    vh_seq_search first = { 0 };
    (void)state;
    for (int t = 0; t < 3; t++) {
        vhem_ctx *ctx = test_ctx_with(NULL, threads[t], 11);
        problem p = problem_of(ctx, shapes(ctx, 3, N, NULL, NULL), false);
        vh_seq_search s;
        search(ctx, &p, 0, NULL, &s);
        for (int k = 0; t > 0 && k < s.n_all; k++) {
            const vh_seq_candidate *a = &first.all[k], *b = &s.all[k];
            assert_int_equal(a->n_judged, b->n_judged);
            for (int j = 0; j < a->n_judged; j++)
                assert_true(a->judged[j].modularity == b->judged[j].modularity
                            && a->judged[j].stability == b->judged[j].stability);
            assert_memory_equal(a->label, b->label, sizeof *a->label * N);
            assert_memory_equal(a->share, b->share, sizeof *a->share * N);
            assert_memory_equal(a->near.near, b->near.near, sizeof *a->near.near * N * (size_t)a->near.k);
        }
        assert_int_equal(s.best, t > 0 ? first.best : s.best);
        if (t > 0)
            vh_seq_search_free(&s);
        else
            first = s;
        free_problem(&p);
        vhem_free(ctx);
    }
    vh_seq_search_free(&first);
}

/* How often an item is in its group among samples: one that is between two groups is not always. */
static void test_share_of_samples(void **state)
{
    enum { N = 41 };
    vhem_ctx *ctx = test_ctx();
    const int64_t K = 2;
    vh_builder *b = NULL;
    vh_seq_search s;
    double least = 1, mean = 0;
    (void)state;
    assert_ok(ctx, vh_builder_new(ctx, 1, &b));
    for (int i = 0; i < N; i++) { /* evenly from one end to the other: no group is clear */
        double y[20];
        vh_rng rng;
        vh_rng_init(&rng, 2, VH_RNG_TEST, (uint64_t)i);
        for (int t = 0; t < 20; t++)
            y[t] = 0.2 * i + vh_rng_normal(&rng);
        add_sequence(ctx, b, y, 20, NULL, NULL, NULL, 1);
    }
    problem p = problem_of(ctx, finish(ctx, b), false);
    search(ctx, &p, 1, &K, &s);
    const vh_seq_candidate *won = &s.all[s.best];
    for (int i = 0; i < N; i++) {
        least = fmin(least, won->share[i]);
        mean += won->share[i] / N;
    }
    assert_true(least < 1 && mean > 0.5);
    assert_true(won->share[0] == 1 && won->share[N - 1] == 1); /* both ends are */
    vh_seq_search_free(&s);
    free_problem(&p);
    vhem_free(ctx);
}

static void test_stop(void **state)
{
    vhem_ctx *ctx = test_ctx();
    problem p = problem_of(ctx, shapes(ctx, 2, 12, NULL, NULL), false);
    vh_seq_search s = { 0 };
    (void)state;
    p.from.sets = &p.sets;
    vhem_ctx_stop(ctx);
    assert_fails(ctx, vh_seq_search_run(ctx, &p.from, 0, NULL, 1, &s), VHEM_ESTOPPED, "0 of 6 graphs");
    vh_seq_search_free(&s);
    free_problem(&p);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_views_in_other_units),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_kinds_of_short_sequences),
        cmocka_unit_test(test_kinds_of_symbols),
        cmocka_unit_test(test_elastic_neighbours),
        cmocka_unit_test(test_neighbours_are_of_the_kind),
        cmocka_unit_test(test_finds_kinds_and_their_number),
        cmocka_unit_test(test_finds_few_of_each),
        cmocka_unit_test(test_finds_kinds_of_groups),
        cmocka_unit_test(test_numbers_that_are_given),
        cmocka_unit_test(test_few_items),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_share_of_samples),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
