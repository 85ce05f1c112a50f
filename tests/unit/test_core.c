/* SPDX-License-Identifier: BSD-3-Clause */
/* test_core.c - core: error sentences, memory, numbers and text in files, random numbers,
 * jobs. */
#include "support.h"

#include "core/alloc.h"
#include "core/ctx.h"
#include "core/atomic_file.h"
#include "core/array2.h"
#include "parallel/map.h"
#include "core/number.h"
#include "core/text.h"
#include "os/stream.h"
#include "vhem.h"

#include <locale.h>

/* ---- errors and memory --------------------------------------------------------------------------------- */

static void error_prefix(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    char path[3000];
    assert_string_equal(vhem_ctx_error(ctx), "");
    assert_int_equal(vh_fail(ctx, VHEM_EFORMAT, "row %d of A sums to %g, must be 1", 2, 0.97), VHEM_EFORMAT);
    vh_error_prefix(ctx, "HMM 7");
    vh_error_prefix(ctx, "models.json");
    assert_string_equal(vhem_ctx_error(ctx), "models.json: HMM 7: row 2 of A sums to 0.97, must be 1");

    memset(path, 'x', sizeof path); /* too long: cut, never past the buffer */
    path[sizeof path - 1] = '\0';
    vh_error_prefix(ctx, path);
    assert_int_equal(strlen(vhem_ctx_error(ctx)), sizeof ctx->error - 1);
    vh_fail(ctx, VHEM_EIO, "%s", path);
    assert_int_equal(strlen(vhem_ctx_error(ctx)), sizeof ctx->error - 1);
    vh_error_prefix(ctx, "file");
    assert_memory_equal(vhem_ctx_error(ctx), "file: xxx", 9);
    assert_int_equal(strlen(vhem_ctx_error(ctx)), sizeof ctx->error - 1);
    vhem_free(ctx);
}

static void memory(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double *p = vh_alloc(ctx, 100, sizeof *p);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % VH_ALIGN, 0);
    for (int k = 0; k < 100; k++)
        assert_true(p[k] == 0);
    free(p);
    void *none = vh_alloc(ctx, 0, 8);
    assert_non_null(none);
    free(none);

    assert_null(vh_alloc(ctx, SIZE_MAX / 4, 8)); /* the product does not fit */
    assert_non_null(strstr(vhem_ctx_error(ctx), "out of memory"));
    assert_null(vh_alloc(ctx, SIZE_MAX - 10, 1)); /* the rounding up to VH_ALIGN does not fit */

    int *grown = NULL;
    size_t cap = 0;
    for (size_t n = 1; n <= 1000; n++) {
        assert_ok(ctx, vh_grow(ctx, &grown, &cap, n, sizeof *grown));
        assert_true(cap >= n);
        grown[n - 1] = (int)n;
    }
    for (int k = 0; k < 1000; k++)
        assert_int_equal(grown[k], k + 1);
    size_t before = cap;
    assert_fails(ctx, vh_grow(ctx, &grown, &cap, SIZE_MAX / 2, sizeof *grown), VHEM_ENOMEM, "out of memory");
    assert_int_equal(cap, before);
    assert_int_equal(grown[999], 1000);
    free(grown);
    vhem_free(ctx);
}

/* ---- numbers and text ---------------------------------------------------------------------------------- */

static void check_number(double x)
{
    char text[VH_NUMBER_SIZE];
    size_t n = vh_number_text(x, text);
    assert_int_equal(n, strlen(text));
    assert_true(n < VH_NUMBER_SIZE);
    double back = strtod(text, NULL);
    if (memcmp(&back, &x, sizeof x) != 0)
        fail_msg("%.17g was written as %s, which reads as %.17g", x, text, back);
    assert_true(strchr(text, '.') || strchr(text, 'e'));
    int shorter = snprintf(text, sizeof text, "%.15g", x);
    if (strtod(text, NULL) == x) /* 15 digits would do: no more were spent */
        assert_true(n <= (size_t)shorter + 3);
}

static void number_text(void **state)
{
    (void)state;
    static const struct {
        double x;
        const char *text;
    } known[] = {
        { 0, "0.0" },
        { -0.0, "-0.0" },
        { 1, "1.0" },
        { -1, "-1.0" },
        { 0.1, "0.1" },
        { 0.5, "0.5" },
        { 100, "100.0" },
        { 1e15, "1000000000000000.0" },
        { 1e16, "1.0e+16" },
        { 123.456, "123.456" },
        { 0.0001, "0.0001" },
        { 0.00001, "1.0e-05" },
        { 2.5e-7, "2.5e-07" },
        { 1e308, "1.0e+308" },
        { 1.0 / 3, "0.3333333333333333" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 1e-300, "1.0e-300" },
        { 0.99999999999999999, "1.0" },
        { 9007199254740993.0, "9007199254740992.0" },
        { 12.0, "12.0" },
    };
    char text[VH_NUMBER_SIZE];
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        vh_number_text(known[k].x, text);
        assert_string_equal(text, known[k].text);
    }
    assert_int_equal(vh_number_text(NAN, text), 3);
    vh_number_text(-INFINITY, text);
    assert_string_equal(text, "-inf");
}

/* Text that reads back as the same number, whatever its bits are. */
static void number_text_reads_back(void **state)
{
    (void)state;
    static const double odd[] = { 5e-324,
                                  -5e-324,
                                  2.2250738585072014e-308,
                                  2.225073858507201e-308,
                                  1.7976931348623157e308,
                                  9.9999999999999999e22,
                                  1e22,
                                  1e23,
                                  0.9999999999999999,
                                  0.99999999999999989,
                                  999999999999999.9,
                                  99999999999999990.0,
                                  4503599627370496.5 };
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
        check_number(odd[k]);

    vh_rng rng;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 0);
    for (int k = 0; k < 50000; k++) {
        uint64_t bits = vh_rng_bits(&rng);
        double x;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x))
            check_number(x);
        check_number(vh_rng_normal(&rng));
        check_number(floor(1e6 * vh_rng_uniform(&rng)) / 1e4);
    }
}

static void number_text_locale(void **state)
{
    (void)state;
    static const char *const comma[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
    char text[VH_NUMBER_SIZE];
    bool found = false;
    for (size_t k = 0; !found && k < sizeof comma / sizeof *comma; k++)
        found = setlocale(LC_NUMERIC, comma[k]) != NULL;
    if (!found)
        skip();
    vh_number_text(0.1 + 0.2, text);
    double read = vh_number_read("0.25", NULL);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, "0.30000000000000004");
    assert_true(read == 0.25);
}

static void check_text(const char *from, const char *to)
{
    char *text = NULL;
    size_t n;
    FILE *f = vh_memory_open(&text, &n);
    assert_non_null(f);
    vh_text_json(f, from);
    assert_true(vh_memory_close(f, &text, &n));
    assert_string_equal(text, to);
    free(text);
}

static void json_text(void **state)
{
    (void)state;
    check_text("", "\"\"");
    check_text("walk_01", "\"walk_01\"");
    check_text("a\"b\\c/d\n\t\x01\x7f", "\"a\\\"b\\\\c/d\\n\\t\\u0001\\u007f\"");
    check_text("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", "\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"");
    check_text("\xE9t\xE9", "\"\xEF\xBF\xBDt\xEF\xBF\xBD\"");               /* Latin-1 */
    check_text("\xC0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");                 /* overlong */
    check_text("\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""); /* a surrogate */
    check_text("\xF4\x90\x80\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
    check_text("x\xE2\x82", "\"x\xEF\xBF\xBD\xEF\xBF\xBD\""); /* cut short */
    check_text("\xFF", "\"\xEF\xBF\xBD\"");
}

/* Whatever a file holds, a sentence is one line of UTF-8 that no terminal takes for a command. */
static void clean_sentences(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_fail(ctx, VHEM_EFORMAT, "found %s", "\x1b[2J\xE9t\xC3\xA9\n-\xC2\x9b-m\xE2\x82");
    assert_string_equal(vhem_ctx_error(ctx), "found ?[2J?t\xC3\xA9?-\?\?-m\?\?");
    vh_error_prefix(ctx, "a\tb");
    assert_string_equal(vhem_ctx_error(ctx), "a?b: found ?[2J?t\xC3\xA9?-\?\?-m\?\?");
    char *wide = calloc(1, 4097);
    for (size_t k = 0; k < 4096; k += 2)
        memcpy(wide + k, "\xC3\xA9", 2);
    vh_fail(ctx, VHEM_EFORMAT, "!%s", wide); /* cut in the middle of a character */
    const char *last = vhem_ctx_error(ctx) + strlen(vhem_ctx_error(ctx)) - 1;
    assert_true(*last == '?' || *last == '\xA9');
    free(wide);
    vhem_free(ctx);
}

/* ---- files --------------------------------------------------------------------------------------------- */

static void check_file(vhem_ctx *ctx, const char *path, const char *text)
{
    char *got = NULL;
    size_t n;
    assert_ok(ctx, vh_read_all(ctx, path, &got, &n));
    assert_int_equal(n, strlen(text));
    assert_string_equal(got, text);
    free(got);
}

static void read_all(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("read");
    char *text = NULL;
    size_t n = 7, big = 300001;
    assert_fails(ctx, vh_read_all(ctx, "/no/such/file", &text, &n), VHEM_EIO,
                 "/no/such/file: cannot read: No such");
    assert_fails(ctx, vh_read_all(ctx, "/tmp", &text, &n), VHEM_EIO, "/tmp: cannot read: it is a directory");
    assert_null(text);
    assert_int_equal(n, 7);
    char *bytes = malloc(big);
    for (size_t k = 0; k < big; k++)
        bytes[k] = (char)(k * 7);
    test_write(path, bytes, big);
    assert_ok(ctx, vh_read_all(ctx, path, &text, &n));
    assert_int_equal(n, big);
    assert_memory_equal(text, bytes, big);
    assert_int_equal(text[n], '\0');
    free(text);
    test_write(path, "", 0);
    check_file(ctx, path, "");
    free(bytes);
    remove(path);
    assert_true(vh_ends_with("a.JSON", ".json"));
    assert_false(vh_ends_with("json", ".json"));
    vhem_free(ctx);
}

/* ---- random numbers ------------------------------------------------------------------------------------ */

static void rng_streams(void **state)
{
    (void)state;
    vh_rng a, b;
    vh_rng_init(&a, 5, VH_RNG_TEST, 17);
    vh_rng_init(&b, 5, VH_RNG_TEST, 17);
    for (int k = 0; k < 100; k++)
        assert_true(vh_rng_bits(&a) == vh_rng_bits(&b));
    static const struct {
        uint64_t seed;
        uint32_t purpose;
        uint64_t item;
    } other[] = {
        { 6, VH_RNG_TEST, 17 }, { 5, VH_RNG_TEST, 18 }, { 5, VH_RNG_INIT, 17 }, { 17, VH_RNG_TEST, 5 }
    };
    for (size_t o = 0; o < sizeof other / sizeof *other; o++) {
        int same = 0;
        vh_rng_init(&a, 5, VH_RNG_TEST, 17);
        vh_rng_init(&b, other[o].seed, other[o].purpose, other[o].item);
        for (int k = 0; k < 1000; k++)
            same += vh_rng_bits(&a) == vh_rng_bits(&b);
        assert_int_equal(same, 0);
    }
}

/* Bounds are 5 standard errors. */
static void rng_moments(void **state)
{
    (void)state;
    enum { n = 200000 };
    double u1 = 0, u2 = 0, g1 = 0, g2 = 0, g3 = 0, g4 = 0, e1 = 0, lag = 0, before = 0;
    vh_rng rng;
    vh_rng_init(&rng, 1, VH_RNG_TEST, 0);
    for (int k = 0; k < n; k++) {
        double u = vh_rng_uniform(&rng), g = vh_rng_normal(&rng);
        assert_true(u >= 0 && u < 1);
        u1 += u;
        u2 += u * u;
        g1 += g;
        g2 += g * g;
        g3 += g * g * g;
        g4 += g * g * g * g;
        lag += g * before;
        before = g;
        e1 += vh_rng_exponential(&rng);
    }
    double se = 5 / sqrt(n);
    assert_near(u1 / n, 0.5, 0, se * 0.289);
    assert_near(u2 / n, 1.0 / 3, 0, se * 0.299);
    assert_near(g1 / n, 0, 0, se);
    assert_near(g2 / n, 1, 0, se * 1.42);
    assert_near(g3 / n, 0, 0, se * 3.88);
    assert_near(g4 / n, 3, 0, se * 9.8);
    assert_near(lag / n, 0, 0, se);
    assert_near(e1 / n, 1, 0, se);
}

static void rng_below(void **state)
{
    (void)state;
    enum { draws = 30000 };
    vh_rng rng;
    vh_rng_init(&rng, 2, VH_RNG_TEST, 0);
    for (int n = 1; n <= 12; n++) {
        int count[12] = { 0 };
        for (int k = 0; k < draws; k++) {
            int64_t x = vh_rng_below(&rng, n);
            assert_true(x >= 0 && x < n);
            count[x]++;
        }
        for (int x = 0; x < n; x++)
            assert_near(count[x], (double)draws / n, 0, 5 * sqrt((double)draws / n) + 1e-9);
    }
    int64_t huge = INT64_C(3) << 61, high = 0; /* plain remainders would favour the lower third */
    for (int k = 0; k < draws; k++) {
        int64_t x = vh_rng_below(&rng, huge);
        assert_true(x >= 0 && x < huge);
        high += x >= huge / 2;
    }
    assert_near((double)high, draws / 2.0, 0, 5 * sqrt(draws) / 2);
}

static void rng_pick(void **state)
{
    (void)state;
    static const double p[] = { 0, 0.2, 0, 0.5, 0.3, 0 };
    enum { draws = 50000 };
    int count[6] = { 0 };
    vh_rng rng;
    vh_rng_init(&rng, 4, VH_RNG_TEST, 0);
    for (int k = 0; k < draws; k++)
        count[vh_rng_pick(&rng, 6, p)]++;
    for (int i = 0; i < 6; i++)
        assert_near(count[i], draws * p[i], 0, 5 * sqrt(draws * p[i]));
}

/* Ascending, and every choice of 3 of 5 as often as every other. */
static void rng_subset(void **state)
{
    (void)state;
    enum { draws = 50000, choices = 10 };
    int count[1 << 5] = { 0 }, seen = 0;
    int64_t pick[5];
    vh_rng rng;
    vh_rng_init(&rng, 4, VH_RNG_TEST, 0);
    for (int k = 0; k < draws; k++) {
        vh_rng_subset(&rng, 5, 3, pick);
        assert_true(pick[0] < pick[1] && pick[1] < pick[2]);
        count[1 << pick[0] | 1 << pick[1] | 1 << pick[2]]++;
    }
    for (int i = 0; i < 1 << 5; i++) {
        seen += count[i] > 0;
        if (count[i] > 0)
            assert_near(count[i], draws / choices, 0, 5 * sqrt(draws / choices));
    }
    assert_int_equal(seen, choices);
    vh_rng_subset(&rng, 5, 5, pick);
    for (int i = 0; i < 5; i++)
        assert_int_equal(pick[i], i);
    vh_rng_subset(&rng, 5, 0, pick);
}

typedef struct {
    const vhem_ctx *parent;
    int ran[100];
} job_log;

/* Jobs 5 and 6 fail, the later one sooner.  Those after them wait until a failure is known, which may take
 * long where threads are more than cores. */
static vhem_status fail_some(vhem_ctx *ctx, void *arg, int64_t i, int worker)
{
    job_log *log = arg;
    const volatile char *error = log->parent->error;
    assert_true(worker >= 0 && worker < 4 && ctx->threads == 1);
    log->ran[i] = 1;
    if (i == 5)
        vh_sleep(20000000);
    while (i > 6 && !*error)
        vh_sleep(100000);
    return i == 5 || i == 6 ? vh_fail(ctx, VHEM_EINVAL, "job %lld is bad", (long long)i) : VHEM_OK;
}

static void jobs(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads += 3) {
        vhem_ctx *ctx = test_ctx_with(NULL, threads, 1);
        job_log log = { .parent = ctx };
        int *ran = log.ran;
        int64_t failed = 0;
        vh_work all = { .n = 100, .what = "jobs", .inside = true, .run = fail_some, .arg = &log };
        assert_fails(ctx, vh_map(ctx, &all, &failed), VHEM_EINVAL, "job 5 is bad");
        assert_int_equal(failed, 5);
        for (int i = 0; i <= 5; i++)
            assert_int_equal(ran[i], 1);
        assert_int_equal(ran[99], 0);
        all.n = 5;
        assert_ok(ctx, vh_map(ctx, &all, &failed));
        assert_int_equal(failed, -1);
        vhem_ctx_stop(ctx);
        ran[0] = 0;
        assert_int_equal(vh_map(ctx, &all, &failed), VHEM_ESTOPPED);
        assert_int_equal(ran[0], 0);
        vhem_free(ctx);
    }
}

/* Entries of large tables: 50000 squared is more than an int can hold. */
static void large_index(void **state)
{
    (void)state;
    assert_int_equal(vh_cells(50000, 50000), 2500000000u);
    assert_int_equal(vh_row(49999, 50000), 2499950000u);
    assert_int_equal(vh_ij(49999, 50000, 49999), 2499999999u);
}

/* An option in a sentence is a field for C, and has the words of the command and of Python where these
 * ask. */
static void test_words(void **state)
{
    static const struct {
        const char *sentence, *said[3];
    } cases[] = {
        { "a floor (" VH_OPT("cov_floor") ") helps",
          { "a floor (cov_floor) helps", "a floor (--cov-floor) helps", "a floor (cov_floor=) helps" } },
        { "not " VH_OPT("prior=none"), { "not prior = none", "not --prior none", "not prior='none'" } },
        { VH_OPT("first_reduce=2") " must be larger",
          { "first_reduce = 2 must be larger", "--first-reduce 2 must be larger",
            "first_reduce=2 must be larger" } },
        { VH_OPT("emission=gaussian-diag"),
          { "emission = gaussian-diag", "--cov diag", "covariance_type='diag'" } },
        { "add " VH_OPT("missing=-999"),
          { "add missing = -999", "add --missing=-999", "add missing='-999'" } },
        { "with " VH_OPT("model=dtm"),
          { "with model = dtm", "with vhem fit --model dtm", "with vhem.fit_textures" } },
        { "no mark \1 of \2 ours", { "no mark ? of ? ours", "no mark ? of ? ours", "no mark ? of ? ours" } },
    };
    (void)state;
    for (int words = VHEM_WORDS_FIELDS; words <= VHEM_WORDS_PYTHON; words++) {
        vhem_ctx_options opt;
        vhem_ctx *ctx = NULL;
        VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
        opt.words = words;
        assert_int_equal(vhem_ctx_new(&opt, &ctx), VHEM_OK);
        for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
            vh_fail(ctx, VHEM_EINVAL, "%s", cases[k].sentence);
            assert_string_equal(vhem_ctx_error(ctx), cases[k].said[words]);
        }
        vhem_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(large_index),
        cmocka_unit_test(error_prefix),
        cmocka_unit_test(memory),
        cmocka_unit_test(number_text),
        cmocka_unit_test(number_text_reads_back),
        cmocka_unit_test(number_text_locale),
        cmocka_unit_test(json_text),
        cmocka_unit_test(read_all),
        cmocka_unit_test(rng_streams),
        cmocka_unit_test(rng_moments),
        cmocka_unit_test(rng_below),
        cmocka_unit_test(rng_pick),
        cmocka_unit_test(rng_subset),
        cmocka_unit_test(jobs),
        cmocka_unit_test(clean_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
