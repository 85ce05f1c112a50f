/* SPDX-License-Identifier: BSD-3-Clause */
/* test_model_json.c - model files as JSON: exact round trips, unknown keys, every sentence, damaged files. */
#include "files/hmm_file.h"
#include "model_samples.h"

#include "core/atomic_file.h"
#include "files/json.h"
#include "vhem.h"

/* A small good file.  Parts are replaced by the tests below. */
static const char good[] =
    "{\"format\": \"vhem-h3m\", \"version\": 1, \"emission\": \"gaussian-diag\", \"d\": 1,\n"
    " \"omega\": [0.25, 0.75],\n"
    " \"hmms\": [{\"S\": 1, \"M\": 1, \"pi\": [1], \"A\": [[1]], \"c\": [[1]], \"mu\": [[[2]]],"
    " \"cov\": [[[3]]]},\n"
    "  {\"name\": \"walk_01\", \"label\": \"walk\", \"S\": 2, \"M\": 1, \"pi\": [0.5, 0.5],\n"
    "   \"A\": [[0.5, 0.5], [0, 1]], \"c\": [[1], [1]], \"mu\": [[[0.5]], [[-1.5]]],"
    " \"cov\": [[[1]], [[2]]]}]}";

static vhem_status read_text(vhem_ctx *ctx, const char *text, vh_h3m **out)
{
    return vh_model_read_json(ctx, text, strlen(text), "models.json", out);
}

/* good with the first `from` replaced by `to`; the caller frees it. */
static char *changed(const char *from, const char *to)
{
    const char *at = strstr(good, from);
    if (!at)
        fail_msg("no %s in the good file", from);
    char *text = malloc(sizeof good + strlen(to));
    sprintf(text, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    return text;
}

static void expect(const char *from, const char *to, const char *sentence)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = NULL;
    char *text = changed(from, to), whole[512];
    snprintf(whole, sizeof whole, "models.json: %s", sentence);
    vhem_status st = read_text(ctx, text, &h3m);
    if (st != VHEM_EFORMAT || strncmp(vhem_ctx_error(ctx), whole, strlen(whole)) != 0)
        fail_msg("%s -> %s: wanted \"%s\", got %s: %s", from, to, whole, vhem_status_text(st),
                 vhem_ctx_error(ctx));
    assert_null(h3m);
    free(text);
    vhem_free(ctx);
}

static vh_h3m *accept(vhem_ctx *ctx, const char *from, const char *to)
{
    vh_h3m *h3m = NULL;
    char *text = changed(from, to);
    assert_ok(ctx, read_text(ctx, text, &h3m));
    free(text);
    return h3m;
}

static void reads(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_hmm_view v;
    vh_h3m *h3m = accept(ctx, "d", "d");
    assert_int_equal(h3m->K, 2);
    assert_int_equal(vh_h3m_view(h3m, 1, &v), VHEM_OK);
    assert_string_equal(v.name, "walk_01");
    assert_string_equal(v.label, "walk");
    assert_int_equal(v.S, 2);
    assert_true(v.omega == 0.75 && v.A[2] == 0 && v.A[3] == 1 && v.mu[1] == -1.5 && v.cov[1] == 2);
    assert_null(h3m->extra);
    assert_null(h3m->hmm[0].extra);
    vh_h3m_free(h3m);

    static const char last[] =
        "{\"hmms\": [ {\"S\": 1, \"pi\": [1], \"A\": [[1]], \"c\": [[1]], \"mu\": [[[2]]],"
        " \"cov\": [[[3]]], \"of\": \"one ]}\"} ], \"of\": [{}], \"d\": 1, \"emission\":"
        " \"gaussian-diag\", \"version\": 1, \"format\": \"vhem-h3m\"}";
    h3m = NULL;
    assert_ok(ctx, read_text(ctx, last, &h3m)); /* keys come in any order, and unknown ones stay */
    assert_true(vh_hmm_param(h3m, &h3m->hmm[0], 1)[0] == 3);
    assert_string_equal(h3m->hmm[0].extra, "{\"of\": \"one ]}\"}");
    assert_string_equal(h3m->extra, "{\"of\": [{}]}");
    vh_h3m_free(h3m);

    h3m = accept(ctx, "\"S\": 1, \"M\": 1,", "\"S\": 1.0,"); /* M follows from c */
    assert_int_equal(h3m->hmm[0].M, 1);
    vh_h3m_free(h3m);
    h3m = accept(ctx, "\"walk_01\"", "null");
    assert_null(h3m->hmm[1].name);
    vh_h3m_free(h3m);
    h3m = accept(ctx, "[[[2]]]", "[[[100000000000000000000]]]"); /* past 64 bits */
    assert_true(vh_hmm_param(h3m, &h3m->hmm[0], 0)[0] == 1e20);
    vh_h3m_free(h3m);

    static const char single[] =
        "{\"format\": \"vhem-h3m\", \"version\": 1, \"emission\": \"gaussian-full\", \"d\": 2,"
        "\"hmms\": [{\"S\": 1, \"M\": 1, \"pi\": [1], \"A\": [[1]], \"c\": [[1]], \"mu\": [[[2, 3]]],"
        "\"cov\": [[[[2, 1], [1, 4]]]]}]}";
    h3m = NULL;
    assert_ok(ctx, read_text(ctx, single, &h3m)); /* one HMM needs no omega */
    assert_true(h3m->omega[0] == 1);
    assert_true(vh_hmm_param(h3m, &h3m->hmm[0], 1)[3] == 4);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void fit_keys(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("fit_keys.json");
    vh_h3m *again = NULL, *h3m = accept(ctx, "\"d\": 1",
                                        "\"lengths\": {\"min\": 2, \"median\": 7, \"max\": 9},"
                                        " \"prior\": {\"nu\": 3, \"more\": [1]}, \"d\": 1");
    assert_true(h3m->lengths.min == 2 && h3m->lengths.median == 7 && h3m->lengths.max == 9);
    assert_string_equal(h3m->prior, "{\"nu\": 3, \"more\": [1]}");
    assert_null(h3m->extra);
    assert_ok(ctx, vh_model_write_json(ctx, h3m, path));
    assert_ok(ctx, vh_h3m_load(ctx, path, &again));
    assert_same_h3m(h3m, again);
    vh_h3m_free(h3m);
    vh_h3m_free(again);
    expect("\"d\": 1", "\"prior\": 7, \"d\": 1", "prior is a number, must be an object");
    expect("\"d\": 1", "\"lengths\": [], \"d\": 1", "lengths is an array, must be an object");
    expect("\"d\": 1", "\"lengths\": {\"min\": 2, \"median\": 1, \"max\": 9}, \"d\": 1",
           "lengths has no proper median");
    vhem_free(ctx);
}

static void head_sentences(void **state)
{
    (void)state;
    expect("\"format\": \"vhem-h3m\", ", "", "format is missing");
    expect("\"vhem-h3m\"", "3", "format is a number, must be text");
    expect("vhem-h3m", "vhem-tree", "format is 'vhem-tree', must be 'vhem-h3m' or 'vhem-clustering'");
    expect("\"version\": 1", "\"version\": 2", "version 2 of the format, this program reads up to 1");
    expect("\"version\": 1,", "", "version is missing");
    expect("\"version\": 1", "\"version\": \"1\"", "version is text, must be a whole number");
    expect("gaussian-diag", "cauchy", "emission is 'cauchy', must be one of: gaussian-diag");
    expect("\"emission\": \"gaussian-diag\",", "", "emission is missing");
    expect("\"d\": 1,", "", "d is missing");
    expect("\"d\": 1", "\"d\": 0", "d is 0, must be a whole number from 1 to ");
    expect("\"d\": 1", "\"d\": 1.5", "d is 1.5, must be a whole number from 1 to ");
    expect("\"d\": 1", "\"d\": 5000000000", "d is 5000000000, must be a whole number from 1 to ");
    expect("\"hmms\"", "\"models\"", "hmms is missing");
    expect("\"hmms\": [", "\"hmms\": 1, \"old\": [", "hmms is a number, must be an array");
    expect("\"hmms\": [", "\"hmms\": [], \"old\": [", "there are 0 HMMs, must be at least 1");
    expect("\"omega\": [0.25, 0.75],\n", "", "omega is missing");
    expect("[0.25, 0.75]", "[1]", "omega has 1 number, must have K = 2");
    expect("[0.25, 0.75]", "[0.25, 0.7]", "omega sums to 0.95, must be 1");
    expect("[0.25, 0.75]", "[0.25, null]", "omega[1] is null, must be a number");
    expect("\"d\": 1", "\"provenance\": 7, \"d\": 1", "provenance is a number, must be an object");
}

static void hmm_sentences(void **state)
{
    (void)state;
    expect("[{", "[7, {", "omega has 2 numbers, must have K = 3");
    expect("{\"S\": 1, \"M\": 1, \"pi\": [1], \"A\": [[1]], \"c\": [[1]], \"mu\": [[[2]]], "
           "\"cov\": [[[3]]]}",
           "7", "HMM 0: is a number, must be an object");
    expect("\"walk_01\"", "1", "HMM 1: name is a number, must be text");
    expect("\"walk\"", "[]", "HMM 1 ('walk_01'): label is an array, must be text");
    expect("\"S\": 2, ", "", "HMM 1 ('walk_01'): S is missing");
    expect("\"S\": 2", "\"S\": -2", "HMM 1 ('walk_01'): S is -2, must be a whole number");
    expect("\"S\": 2", "\"S\": 3", "HMM 1 ('walk_01'): pi has 2 numbers, must have S = 3");
    expect("\"M\": 1, \"pi\": [0.5", "\"M\": 2, \"pi\": [0.5",
           "HMM 1 ('walk_01'): c[0] has 1 number, must have M = 2");
    expect("\"pi\": [1]", "\"Pi\": [1]", "HMM 0: pi is missing");
    expect("[0, 1]", "[1]", "HMM 1 ('walk_01'): A[1] has 1 number, must have S = 2");
    expect("[[0.5, 0.5], [0, 1]]", "[[0.5, 0.5]]", "HMM 1 ('walk_01'): A has 1 row, must have S = 2");
    expect("[0, 1]", "[0.1, 0.87]", "HMM 1 ('walk_01'): row 1 of A sums to 0.97, must be 1");
    expect("[0, 1]", "[-1, 2]", "HMM 1 ('walk_01'): entry 0 of row 1 of A is -1, must be a finite number");
    expect("[0, 1]", "[\"0\", 1]", "HMM 1 ('walk_01'): A[1][0] is text, must be a number");
    expect("[[[2]]]", "[[2]]", "HMM 0: mu[0][0] is a number, must be an array of d = 1 numbers");
    expect("[[[2]]]", "[[[2], [3]]]", "HMM 0: mu[0] has 2 rows, must have M = 1");
    expect("[[[2]]]", "2", "HMM 0: mu is a number, must be an array of S = 1 arrays");
    expect("[[[2]]]", "[[[2, 3]]]", "HMM 0: mu[0][0] has 2 numbers, must have d = 1");
    expect("[[[2]]]", "[[[null]]]",
           "HMM 0: state 0, component 0: cov[0] is 3, but state 0, component 0 has null in that column: a "
           "column is null throughout or nowhere");
    expect("[[[2]]]", "[[[true]]]", "HMM 0: mu[0][0][0] is true, must be a number");
    expect("[[[3]]]", "[[[-3]]]", "HMM 0: state 0, component 0: cov[0] is -3, a variance must be");
    expect("\"d\": 1", "\"d\": 2", "HMM 0: mu[0][0] has 1 number, must have d = 2");
    expect("gaussian-diag", "gaussian-full",
           "HMM 0: cov[0][0][0] is a number, must be an array of d = 1 numbers");
}

static void syntax_sentences(void **state)
{
    (void)state;
    expect("[0.25, 0.75]", "[0.25 0.75]", "line 2, column ");
    expect("[[[2]]]", "[[[NaN]]]", "line 3, column ");
    expect("[[[2]]]", "[[[1e999]]]", "line 3, column ");
    expect("\"d\": 1", "\"d\": 1, \"d\": 1", "line 1, column ");
    expect("\"S\": 2", "\"S\": 2, \"S\": 2", "line 4, column "); /* in an HMM that is parsed by itself */
    expect("walk_01", "\xff", "line 4, column ");
    expect("[[[1]], [[2]]]}]}", "[[[1]], [[2]]]}]", "line 5, column ");
    expect("[[[1]], [[2]]]}]}", "[[[1]], [[2]]]}], \"hmms\": []}", "line 5, column ");
    expect(good, "[1, 2]", "the file holds an array, must hold an object");
    expect(good, "", "the file is empty, must be a model file");
    expect(good, "x,y\n1,2\n", "line 1, column ");

    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = NULL;
    size_t n = 1000000;
    char *deep = malloc(n + 1);
    memset(deep, '[', n);
    deep[n] = '\0';
    assert_fails(ctx, read_text(ctx, deep, &h3m), VHEM_EFORMAT, "maximum parsing depth reached");
    free(deep);
    vhem_free(ctx);
}

static void centres_of_clustering(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = NULL, *same = NULL;
    char text[4096];
    snprintf(text, sizeof text,
             "{\"format\": \"vhem-clustering\", \"version\": 1, \"method\": \"vhem\","
             " \"labels\": [0, 1], \"centers\": %s}",
             good);
    assert_ok(ctx, read_text(ctx, text, &h3m));
    assert_ok(ctx, read_text(ctx, good, &same));
    assert_same_h3m(h3m, same);
    vh_h3m_free(same);
    vh_h3m_free(h3m);
    h3m = NULL;
    char *bad = changed("[0, 1]", "[0, 2]");
    snprintf(text, sizeof text, "{\"format\": \"vhem-clustering\", \"version\": 1, \"centers\": %s}", bad);
    assert_fails(ctx, read_text(ctx, text, &h3m), VHEM_EFORMAT,
                 "models.json: centers: HMM 1 ('walk_01'): row 1 of A sums to 2, must be 1");
    free(bad);
    assert_fails(ctx, read_text(ctx, "{\"format\": \"vhem-clustering\", \"version\": 1}", &h3m), VHEM_EFORMAT,
                 "models.json: a clustering without centers: no models in it");
    assert_fails(ctx, read_text(ctx, "{\"format\": \"vhem-clustering\", \"version\": 2}", &h3m), VHEM_EFORMAT,
                 "models.json: version 2 of the format, this program reads up to 1");
    assert_fails(ctx,
                 read_text(ctx,
                           "{\"format\": \"vhem-clustering\", \"version\": 1, \"centers\": "
                           "{\"format\": \"vhem-clustering\"}}",
                           &h3m),
                 VHEM_EFORMAT, "models.json: centers: format is 'vhem-clustering', must be 'vhem-h3m'");
    assert_null(h3m);
    vhem_free(ctx);
}

static void round_trip(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("round.json"), *twice = test_scratch("twice.json");
    char *one, *two;
    size_t n_one, n_two;
    vh_h3m *h3m = hard_h3m(ctx), *back = NULL;
    assert_ok(ctx, vh_model_set_provenance(ctx, &h3m->provenance, "{\"command\": \"fit\", \"seed\": 3}"));
    assert_ok(ctx, vh_h3m_save(ctx, h3m, path));
    assert_ok(ctx, vh_h3m_load(ctx, path, &back));
    assert_same_h3m(h3m, back);
    assert_ok(ctx, vh_h3m_save(ctx, back, twice)); /* same model, same bytes */
    assert_ok(ctx, vh_read_all(ctx, path, &one, &n_one));
    assert_ok(ctx, vh_read_all(ctx, twice, &two, &n_two));
    assert_int_equal(n_one, n_two);
    assert_memory_equal(one, two, n_one);
    free(one);
    free(two);
    vh_h3m_free(back);
    vh_h3m_free(h3m);

    vh_rng rng;
    vh_rng_init(&rng, 7, VH_RNG_TEST, 0);
    for (int full = 0; full < 2; full++) {
        h3m = random_h3m(ctx, &rng, 20, 3, 2, 4, full, 1e3);
        back = NULL;
        assert_ok(ctx, vh_h3m_save(ctx, h3m, path));
        assert_ok(ctx, vh_h3m_load(ctx, path, &back));
        assert_same_h3m(h3m, back);
        vh_h3m_free(back);
        vh_h3m_free(h3m);
    }
    remove(path);
    remove(twice);
    vhem_free(ctx);
}

static void unknown_keys_stay(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("extra.json");
    char *text =
        changed("\"d\": 1,", "\"d\": 1, \"note\": {\"a\": [1, 2.5, null, true], \"b\": \"\\u00e9\\\"\"},"
                             " \"provenance\": {\"seed\": 18446744073709551615, \"p\": 0.1}, \"empty\": {},");
    char *at = strstr(text, "\"S\": 1"), *more = malloc(strlen(text) + 100);
    sprintf(more, "%.*s\"extra\": \"x\", \"tempo\": 120.5, %s", (int)(at - text), text, at);
    vh_h3m *h3m = NULL, *back = NULL;
    assert_ok(ctx, read_text(ctx, more, &h3m));
    assert_string_equal(h3m->hmm[0].extra, "{\"extra\": \"x\", \"tempo\": 120.5}");
    assert_null(h3m->hmm[1].extra);
    assert_string_equal(h3m->provenance, "{\"seed\": 1.8446744073709552e+19, \"p\": 0.1}");
    assert_non_null(strstr(h3m->extra, "2.5, null, true]"));
    assert_non_null(strstr(h3m->extra, "\"empty\": {}"));
    assert_ok(ctx, vh_h3m_save(ctx, h3m, path));
    assert_ok(ctx, vh_h3m_load(ctx, path, &back));
    assert_same_h3m(h3m, back);
    assert_ok(ctx, vh_h3m_set_text(ctx, &h3m->extra, " { } ")); /* nothing to write is no stray comma */
    assert_ok(ctx, vh_h3m_save(ctx, h3m, path));
    vh_h3m_free(back);
    back = NULL;
    assert_ok(ctx, vh_h3m_load(ctx, path, &back));
    vh_h3m_free(back);
    vh_h3m_free(h3m);
    free(more);
    free(text);
    remove(path);
    vhem_free(ctx);
}

static void bad_names_stay_readable(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("names.json");
    vh_h3m *h3m = hard_h3m(ctx), *back = NULL;
    assert_ok(ctx, vh_h3m_set_text(ctx, &h3m->hmm[0].name, "\xE9t\xE9\x01\x7f\\"));
    assert_ok(ctx, vh_h3m_save(ctx, h3m, path));
    assert_ok(ctx, vh_h3m_load(ctx, path, &back));
    assert_string_equal(back->hmm[0].name, "\xEF\xBF\xBDt\xEF\xBF\xBD\x01\x7f\\");
    vh_h3m_free(back);
    vh_h3m_free(h3m);
    remove(path);
    vhem_free(ctx);
}

static void failed_writes(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("kept.json");
    vh_h3m *h3m = hard_h3m(ctx), *back = NULL;
    assert_fails(ctx, vh_h3m_save(ctx, h3m, "/no/such/x.json"), VHEM_EIO,
                 "/no/such/x.json: cannot write: No such");

    assert_ok(ctx, vh_h3m_save(ctx, h3m, path));
    h3m->hmm[1].A[4] = NAN;
    assert_fails(ctx, vh_h3m_save(ctx, h3m, path), VHEM_ENUMERIC, "a number in A is nan, cannot be written");
    assert_non_null(strstr(vhem_ctx_error(ctx), "kept.json: HMM 1 ('caf"));
    h3m->hmm[1].A[4] = 1.0 / 3;
    vh_hmm_param(h3m, &h3m->hmm[0], 1)[3] = INFINITY;
    assert_fails(ctx, vh_h3m_save(ctx, h3m, path), VHEM_ENUMERIC, "HMM 0: a number in cov is inf, cannot be");

    assert_int_equal(files_like(path), 1);         /* no temporary file is left */
    assert_ok(ctx, vh_h3m_load(ctx, path, &back)); /* and the old one stands */
    assert_false(vh_hmm_param(back, &back->hmm[0], 1)[3] == 77);
    vh_h3m_free(back);
    vh_h3m_free(h3m);
    remove(path);
    assert_fails(ctx, vh_h3m_load(ctx, path, &back), VHEM_EIO, "kept.json: cannot read: No such file");
    vhem_free(ctx);
}

static void truncated(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = NULL;
    for (size_t n = 0; n < sizeof good - 1; n++) {
        char *cut = malloc(n ? n : 1); /* no byte more than the text has */
        memcpy(cut, good, n);
        assert_int_equal(vh_model_read_json(ctx, cut, n, "cut.json", &h3m), VHEM_EFORMAT);
        assert_memory_equal(vhem_ctx_error(ctx), "cut.json: ", 10);
        assert_null(h3m);
        free(cut);
    }
    vhem_free(ctx);
}

static void mutated(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int read = 0;
    vh_rng_init(&rng, 11, VH_RNG_TEST, 0);
    for (int k = 0; k < 20000; k++) {
        static const char likely[] = "0123456789-+.eE[]{},:\" nulltrue\\";
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        for (int64_t n = 1 + vh_rng_below(&rng, 3); n > 0; n--)
            text[vh_rng_below(&rng, sizeof good - 1)] = vh_rng_below(&rng, 4)
                                                            ? likely[vh_rng_below(&rng, sizeof likely - 1)]
                                                            : (char)vh_rng_bits(&rng);
        vh_h3m *h3m = NULL;
        vhem_status st = vh_model_read_json(ctx, text, sizeof good - 1, "m.json", &h3m);
        if (st == VHEM_OK) {
            read++;
            assert_ok(ctx, vh_h3m_validate(ctx, h3m)); /* what is read is proper */
        } else {
            assert_int_equal(st, VHEM_EFORMAT);
            assert_memory_equal(vhem_ctx_error(ctx), "m.json: ", 8);
            assert_null(h3m);
        }
        vh_h3m_free(h3m);
    }
    assert_true(read > 100);
    vhem_free(ctx);
}

static void from_stdin(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = NULL;
    const char *path = test_scratch("stdin.json");
    test_write(path, good, sizeof good - 1);
    assert_non_null(freopen(path, "r", stdin));
    assert_ok(ctx, vh_h3m_load(ctx, "-", &h3m));
    assert_int_equal(h3m->K, 2);
    vh_h3m_free(h3m);
    h3m = NULL;
    test_write(path, "{", 1);
    assert_non_null(freopen(path, "r", stdin));
    assert_fails(ctx, vh_h3m_load(ctx, "-", &h3m), VHEM_EFORMAT, "standard input: line 1");
    remove(path);
    vhem_free(ctx);
}

/* ---- memory, and whose it is --------------------------------------------------------------------------- */

static int calls_left; /* allocations of Jansson until one fails */

static void *failing_malloc(size_t size)
{
    return calls_left-- == 0 ? NULL : malloc(size);
}

/* A program that gives Jansson an allocator of its own keeps it, and one that does not has the usual one. */
static void allocator_is_the_programs(void **state)
{
    vhem_ctx *ctx = test_ctx();
    json_malloc_t get;
    json_free_t release;
    vh_h3m *h3m = NULL;
    (void)state;
    assert_ok(ctx, read_text(ctx, good, &h3m));
    json_get_alloc_funcs(&get, &release);
    assert_true(get == malloc && release == free);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* Jansson says "invalid token" when memory runs out, or cuts a number off: every allocation fails in turn. */
static void memory_runs_out(void **state)
{
    static const char text[] =
        "{\"a\": [1, 0.12345678901234567, -2.2250738585072014e-308],"
        " \"b\": {\"c\": \"text\", \"d\": 1234567890123456789}, \"e\": null,"
        " \"name of a key of some length\": \"a text \\u00e9\\n\\ud83d\\ude00 that is longer than"
        " all of those before it, to be sure\"}";
    vhem_ctx *ctx = test_ctx();
    json_t *whole = json_loads(text, 0, NULL), *root = NULL;
    vhem_status st = VHEM_ENOMEM;
    int n = 0;
    (void)state;
    json_set_alloc_funcs(failing_malloc, free);
    for (; st != VHEM_OK || calls_left < 0; n++) {
        calls_left = n;
        st = vh_json_parse(ctx, text, sizeof text - 1, &root);
        if (st == VHEM_OK) {
            assert_true(json_equal(root, whole));
            json_decref(root);
        } else {
            assert_int_equal(st, VHEM_ENOMEM);
        }
        assert_true(n < 1000);
    }
    json_set_alloc_funcs(malloc, free);
    assert_true(n > 20);
    assert_fails(ctx, vh_json_parse(ctx, "[1, 2", 5, &root), VHEM_EFORMAT, "not valid JSON");
    assert_fails(ctx, vh_json_parse(ctx, "[1, x]", 6, &root), VHEM_EFORMAT, "not valid JSON");
    assert_fails(ctx, vh_json_parse(ctx, "[01]", 4, &root), VHEM_EFORMAT, "not valid JSON");
    assert_fails(ctx, vh_json_parse(ctx, "[\"\\ud800\"]", 10, &root), VHEM_EFORMAT, "invalid Unicode");
    assert_fails(ctx, vh_json_parse(ctx, "[\"\\u0000\"]", 10, &root), VHEM_EFORMAT, "not valid JSON");
    assert_fails(ctx, vh_json_parse(ctx, "[1e999]", 7, &root), VHEM_EFORMAT, "real number overflow");
    json_decref(whole);
    vhem_free(ctx);
}

/* A stop ends the reading of a long text; a short one, which may be part of what is saved, is read even
 * then. */
static void stopped(void **state)
{
    enum { SIZE = 4 << 20 };
    vhem_ctx *ctx = test_ctx();
    char *text = malloc(SIZE);
    json_t *root = NULL;
    (void)state;
    memset(text, ' ', SIZE);
    text[0] = '[';
    text[SIZE - 1] = ']';
    assert_ok(ctx, vh_json_parse(ctx, text, SIZE, &root));
    json_decref(root);
    vhem_ctx_stop(ctx);
    assert_fails(ctx, vh_json_parse(ctx, text, SIZE, &root), VHEM_ESTOPPED, "stopped while reading");
    assert_ok(ctx, vh_json_parse(ctx, "[1]", 3, &root));
    json_decref(root);
    free(text);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(fit_keys),
        cmocka_unit_test(head_sentences),
        cmocka_unit_test(hmm_sentences),
        cmocka_unit_test(syntax_sentences),
        cmocka_unit_test(centres_of_clustering),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(unknown_keys_stay),
        cmocka_unit_test(bad_names_stay_readable),
        cmocka_unit_test(failed_writes),
        cmocka_unit_test(truncated),
        cmocka_unit_test(mutated),
        cmocka_unit_test(from_stdin),
        cmocka_unit_test(allocator_is_the_programs),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
