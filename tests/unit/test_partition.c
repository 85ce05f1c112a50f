/* SPDX-License-Identifier: BSD-3-Clause */
/* test_partition.c - the agreement of partitions against its definition, pair by pair and cell by cell. */
#include "support.h"

#include "math/agreement.h"
#include "vhem.h"
#include "vhem/analysis.h"

static void brute(int n, const int *a, const int *b, vhem_agreement *out)
{
    double same = 0, both = 0, in_a = 0, in_b = 0, all = 0, ha = 0, hb = 0, mutual = 0, pure = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) {
            int p = a[i] == a[k], q = b[i] == b[k];
            all++;
            same += p == q;
            both += p && q;
            in_a += p;
            in_b += q;
        }
    for (int i = 0; i < n; i++) { /* every thing carries 1/n of its cell */
        double na = 0, nb = 0, nab = 0, top = 0;
        for (int k = 0; k < n; k++) {
            double cell = 0;
            na += a[k] == a[i];
            nb += b[k] == b[i];
            nab += a[k] == a[i] && b[k] == b[i];
            for (int q = 0; q < n; q++)
                cell += a[q] == a[i] && b[q] == b[k];
            top = fmax(top, cell);
        }
        ha -= log(na / n) / n;
        hb -= log(nb / n) / n;
        mutual += log(nab * n / (na * nb)) / n;
        pure += top / na / n;
    }
    out->rand = same / all;
    out->adjusted_rand = (both - in_a * in_b / all) / ((in_a + in_b) / 2 - in_a * in_b / all);
    out->nmi = mutual / ((ha + hb) / 2);
    out->purity = pure;
}

static void test_brute(void **state)
{
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 5, VH_RNG_TEST, 0);
    for (int c = 0; c < 200; c++) {
        int n = 4 + (int)vh_rng_below(&rng, 20), a[24], b[24], Ka = 2 + c % 4, Kb = 2 + c % 3;
        vhem_agreement got, want;
        for (int i = 0; i < n; i++) {
            a[i] = (int)vh_rng_below(&rng, Ka) * 1000003 + 7;
            b[i] = vh_rng_uniform(&rng) < 0.5 ? a[i] : (int)vh_rng_below(&rng, Kb);
        }
        a[0] = 5; /* never all in one part */
        b[1] = 9;
        assert_int_equal(vhem_partition_compare(n, a, b, &got), n);
        brute(n, a, b, &want);
        assert_near(got.rand, want.rand, 1e-12, 1e-12);
        if (!isnan(want.adjusted_rand)) /* 0/0: both are all single things */
            assert_near(got.adjusted_rand, want.adjusted_rand, 1e-10, 1e-12);
        assert_near(got.nmi, want.nmi, 1e-10, 1e-12);
        assert_near(got.purity, want.purity, 1e-12, 1e-12);
    }
}

static void test_edges(void **state)
{
    static const int one[] = { 3, 3, 3, 3 }, two[] = { 1, 1, 2, 2 }, single[] = { 1, 2, 3, 4 },
                     owt[] = { 9, 9, 0, 0 };
    vhem_agreement g;
    (void)state;
    vhem_partition_compare(4, two, owt, &g);
    assert_true(g.rand == 1 && g.adjusted_rand == 1 && g.purity == 1);
    assert_near(g.nmi, 1, 1e-15, 0);
    vhem_partition_compare(4, one, one, &g);
    assert_true(g.rand == 1 && g.adjusted_rand == 1 && g.nmi == 1 && g.purity == 1);
    vhem_partition_compare(4, one, single, &g);
    assert_true(g.rand == 0 && g.adjusted_rand == 0 && g.nmi == 0 && g.purity == 0.25);
    assert_int_equal(vhem_partition_compare(0, one, one, &g), 0);
    assert_true(isnan(g.rand) && isnan(g.purity));
    static const int left_out[] = { 1, -1, 2, 2 }; /* what has no class does not count */
    assert_int_equal(vhem_partition_compare(4, two, left_out, &g), 3);
    assert_true(g.rand == 1 && g.purity == 1);
}

/* The most things that agree under any numbering of K groups, from `from` on. */
static int most(int n, int K, const int *a, const int *b, int *to, int from)
{
    int best = 0;
    if (from == K)
        for (int i = 0; i < n; i++)
            best += to[b[i]] == a[i];
    for (int k = from; k < K; k++) {
        int first = to[from];
        to[from] = to[k];
        to[k] = first;
        int found = most(n, K, a, b, to, from + 1);
        best = found > best ? found : best;
        to[k] = to[from];
        to[from] = first;
    }
    return best;
}

static void test_matched(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 6, VH_RNG_TEST, 0);
    for (int round = 0; round < 200; round++) {
        enum { MOST = 24 };
        int K = 1 + (int)vh_rng_below(&rng, 6), n = 1 + (int)vh_rng_below(&rng, MOST), a[MOST], b[MOST];
        int to[6], all[6] = { 0, 1, 2, 3, 4, 5 }, agree = 0, seen = 0;
        for (int i = 0; i < n; i++) {
            a[i] = (int)vh_rng_below(&rng, K);
            b[i] = round % 2 ? (int)vh_rng_below(&rng, K) : (a[i] + (i % 5 == 0) + 1) % K;
        }
        assert_int_equal(vh_match_groups(ctx, n, K, a, b, to), VHEM_OK);
        for (int k = 0; k < K; k++)
            seen |= 1 << to[k];
        assert_int_equal(seen, (1 << K) - 1);
        for (int i = 0; i < n; i++)
            agree += to[b[i]] == a[i];
        assert_int_equal(agree, most(n, K, a, b, all, 0));
    }
    vhem_free(ctx);
}

static void test_large(void **state)
{
    int n = 300000, *a = malloc(sizeof *a * (size_t)n), *b = malloc(sizeof *b * (size_t)n);
    vhem_agreement g;
    (void)state;
    for (int i = 0; i < n; i++) {
        a[i] = i % 100000;
        b[i] = i % 50000;
    }
    vhem_partition_compare(n, a, b, &g);
    assert_true(g.rand > 0.99 && g.rand < 1 && g.purity == 1 && g.nmi < 1);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_brute), cmocka_unit_test(test_edges),
                                        cmocka_unit_test(test_matched), cmocka_unit_test(test_large) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
