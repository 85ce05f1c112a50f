/* SPDX-License-Identifier: BSD-3-Clause */
/* test_read_csv.c - long CSV and TSV. */
#include "data_files.h"
#include "vhem.h"

static vhem_data *load(const char *text, const vhem_data_options *opt)
{
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    assert_ok(ctx, load_text(ctx, "long.csv", text, opt, &data));
    vhem_free(ctx);
    return data;
}

#define assert_refused(text, opt, status, sentence)                                          \
    do {                                                                                     \
        vhem_ctx *ctx_ = test_ctx();                                                         \
        vhem_data *none_ = NULL;                                                             \
        assert_fails(ctx_, load_text(ctx_, "bad.csv", text, opt, &none_), status, sentence); \
        assert_non_null(strstr(vhem_ctx_error(ctx_), "bad.csv: "));                          \
        assert_null(none_);                                                                  \
        vhem_free(ctx_);                                                                     \
    } while (0)

static vhem_data_options options(void)
{
    vhem_data_options opt;
    VHEM_INIT(VHEM_DATA_OPTIONS, &opt);
    return opt;
}

static void test_plain(void **state)
{
    (void)state;
    vhem_data *data = load("id,label,x,y\na,walk,1,2.5\na,walk,-3e2,\nb,run,nan,?\nb,run,NA,4\n", NULL);
    assert_int_equal(vh_data_size(data), 2);
    assert_int_equal(vh_data_dim(data), 2);
    assert_string_equal(data->format, "csv");
    assert_string_equal(vh_data_column(data, 0), "x");
    assert_sequence(data, 0, "a", "walk", "", 2);
    assert_sequence(data, 1, "b", "run", "", 2);
    assert_values(data, 0, 1, 2.5, -300, NAN);
    assert_values(data, 1, NAN, NAN, NAN, 4);
    assert_int_equal(data->n_missing, 4);
    vhem_free(data);
}

static void test_dialects(void **state)
{
    (void)state;
    static const char *const same[] = {
        "id,x,y\ns,1,2\ns,3,4\n",
        "id\tx\ty\r\ns\t1\t2\r\ns\t3\t4\r\n",
        "\xEF\xBB\xBF# made by hand\n#\n\nSeq;x;y\ns;1;2\n\ns;3;4",
        "ID,x,y\rs,1,2\rs,3,4\r",
        "\"id\",\"x\",\"y\"\n\"s\",\"1\",\"2\"\n\"s\" , 3 ,4\n\n\n",
        "x,id,y\n1,s,2\n3,s,4",
        "sep=;\nid;x;y\ns;1;2\ns;3;4\n",
        "\xEF\xBB\xBF\"sep=|\"\r\nid|x|y\r\ns|1|2\r\ns|3|4\r\n",
        "Experiment 1\n\nid,x,y\ns,1,2\ns,3,4\n",
        "\"Eyes, spring\";;\r\n;Places;\r\nid;x;y\r\ns;1;2\r\ns;3;4\r\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        vhem_data *data = load(same[i], NULL);
        assert_int_equal(vh_data_size(data), 1);
        assert_sequence(data, 0, "s", "", "", 2);
        assert_values(data, 0, 1, 2, 3, 4);
        vhem_free(data);
    }
}

static void test_quotes(void **state)
{
    (void)state;
    vhem_data *data =
        load("id,\"the \"\"x\"\"\",label\n\"a,\"\"b\"\"\nc\",1,\" l \"\n\"a,\"\"b\"\"\nc\",2,\n", NULL);
    assert_sequence(data, 0, "a,\"b\"\nc", " l ", "", 2);
    assert_string_equal(vh_data_column(data, 0), "the \"x\"");
    assert_values(data, 0, 1, 2);
    vhem_free(data);
    assert_refused("\"a\nid\",x\ns,t\n", NULL, VHEM_EFORMAT, "the columns are a?id, x");
    assert_refused("id,x\na,\"1\nb,2\n", NULL, VHEM_EFORMAT, "line 2: a quote opened here is never closed");
    assert_refused("id,x\n\"a\"b,1\n", NULL, VHEM_EFORMAT, "line 2: found 'b' after a closing quote");
    assert_refused("id,x\n\"a\n\n\",1\nb,1,2\n", NULL, VHEM_EFORMAT, "line 5 has 3 fields, expected 2");
}

/* Rows of a sequence need not be adjacent; several id columns make one name. */
static void test_order(void **state)
{
    (void)state;
    vhem_data_options opt = options();
    opt.id = "subject,trial";
    opt.group = "subject";
    vhem_data *data = load("subject,trial,x\n2,1,10\n1,1,20\n2,1,11\n1,2,30\n1,1,21\n", &opt);
    assert_int_equal(vh_data_size(data), 3);
    assert_sequence(data, 0, "2/1", "", "2", 2);
    assert_sequence(data, 1, "1/1", "", "1", 2);
    assert_sequence(data, 2, "1/2", "", "1", 1);
    assert_values(data, 0, 10, 11);
    assert_values(data, 1, 20, 21);
    vhem_free(data);
    data = load("subject,trial,x\na/b,c,1\na,b/c,2\n", &opt);
    assert_sequence(data, 0, "a/b|c", "", "a/b", 1);
    assert_sequence(data, 1, "a|b/c", "", "a", 1);
    vhem_free(data);
}

static void test_options(void **state)
{
    (void)state;
    const char *text = "id,label,x,y,kind,w\na,1,1,2,u,0.5\nb,2,3,4,v,2\nb,2,5,6,v,2\nc,3,7,8,u,1\n";
    vhem_data_options opt = options();
    opt.columns = "y,x";
    opt.label = "kind";
    opt.weight = "w";
    opt.where = "kind=v";
    vhem_data *data = load(text, &opt);
    assert_int_equal(vh_data_size(data), 1);
    assert_sequence(data, 0, "b", "v", "", 2);
    assert_values(data, 0, 4, 3, 6, 5);
    assert_true(view(data, 0).weight == 2);
    vhem_free(data);
    opt = options();
    opt.where = "w=1.0"; /* numbers are compared as numbers */
    data = load(text, &opt);
    assert_int_equal(vh_data_size(data), 1);
    assert_values(data, 0, 7, 8);
    vhem_free(data);
    opt.where = "id=007"; /* but a code is a text */
    data = load("id,x\n7,1\n007,2\n07,3\n", &opt);
    assert_int_equal(vh_data_size(data), 1);
    assert_sequence(data, 0, "007", "", "", 1);
    vhem_free(data);
    opt.where = "kind=z";
    assert_refused(text, &opt, VHEM_EINVAL, "no row has 'z' in column 'kind'; found there: u, v");
    opt.where = "kind";
    assert_refused("id,x\n", (&(vhem_data_options){ .size = sizeof(vhem_data_options), .where = "x=1" }),
                   VHEM_EFORMAT, "no row below it");
    opt.where = "colour=z";
    assert_refused(text, &opt, VHEM_EINVAL, "where asks for column 'colour'; the columns are id, label, x");
    opt = options();
    opt.columns = "x,q";
    assert_refused(text, &opt, VHEM_EINVAL, "there is no column 'q' to read; the columns are");
    opt.columns = "x,kind";
    assert_refused(
        text, &opt, VHEM_EFORMAT,
        "line 2, column 'kind': found 'u', expected a number; if it stands for a missing value, add "
        "missing = 'u'");
    opt = options();
    opt.id = "name";
    assert_refused(text, &opt, VHEM_EINVAL, "id asks for column 'name'");
    opt = options();
    opt.weight = "kind";
    assert_refused(text, &opt, VHEM_EFORMAT, "line 2: the weight is 'u', must be a positive number");
}

static void test_refused(void **state)
{
    (void)state;
    vhem_data_options opt = options();
    assert_refused("x,y\n1,2\n", NULL, VHEM_EFORMAT,
                   "no column is named id or seq; say with id which columns name "
                   "a sequence; the columns are x, y");
    assert_refused("1,2\n3,4\n", NULL, VHEM_EFORMAT,
                   "line 1: found '1' and no other text, expected a header");
    assert_refused("id,x\n", NULL, VHEM_EFORMAT, "no row below it");
    assert_refused("# only\n\n", NULL, VHEM_EFORMAT, "there are no rows");
    assert_refused("x\n0,1\n", NULL, VHEM_EFORMAT, "line 1 has no columns, it is 'x'");
    assert_refused("id,x\na,1\na\n", NULL, VHEM_EFORMAT, "line 3 has 1 field, expected 2");
    assert_refused("id,x\na,1,2\n", NULL, VHEM_EFORMAT, "line 2 has 3 fields, expected 2");
    assert_refused("id,x,x\na,1,2\n", NULL, VHEM_EFORMAT, "line 1: two columns are named 'x'");
    assert_refused("id,x\n,1\n", NULL, VHEM_EFORMAT,
                   "line 2: column 'id' is empty; every row must name its sequence");
    assert_refused("id,x\na,1\na,inf\n", NULL, VHEM_EFORMAT, "line 3, column 'x': found an infinite value");
    assert_refused("id,x\na,1\na,2\na,1.2.3\n", NULL, VHEM_EFORMAT, "line 4, column 'x': found '1.2.3'");
    assert_refused("id,x\na,1\na,1;5\na,3\n", NULL, VHEM_EFORMAT, "line 3, column 'x': found '1;5'");
    assert_refused("id,x\na,hello\n", NULL, VHEM_EFORMAT,
                   "no column holds numbers: column 'x' has 'hello' in line 2; are they symbols?");
    assert_refused("id,label\na,1\n", NULL, VHEM_EFORMAT, "none is left for the measurements");
    assert_refused("id,label,x\na,p,1\nb,p,1\na,q,1\n", NULL, VHEM_EFORMAT,
                   "line 4: column 'label' is 'q', but 'p' in line 2 of the same sequence");
    opt.weight = "w";
    assert_refused("id,w,x\na,1,1\na,2,1\n", &opt, VHEM_EFORMAT, "line 3: the weight is 2, but 1 in line 2");
    assert_refused("id,w,x\na,-1,1\n", &opt, VHEM_EFORMAT, "line 2: the weight is '-1'");
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    const char *path = test_scratch("zero.csv");
    test_write(path, "id,x\na,1\nb,\0002\n", 15);
    vhem_data_options csv = { .size = sizeof(vhem_data_options), .format = "csv" };
    assert_fails(ctx, vhem_data_load(ctx, path, &csv, &data), VHEM_EFORMAT,
                 "zero.csv: a zero byte at offset 11");
    remove(path);
    vhem_free(ctx);
}

/* A field of a megabyte ends in a short sentence, and as a name it is kept. */
static void test_huge_field(void **state)
{
    (void)state;
    size_t n = 1 << 20, at;
    char *text = malloc(n + 64);
    at = (size_t)sprintf(text, "id,x\na,1\na,2\na,");
    memset(text + at, 'z', n);
    strcpy(text + at + n, "\n");
    assert_refused(text, NULL, VHEM_EFORMAT, "line 4, column 'x': found 'zzzz");
    at = (size_t)sprintf(text, "id,x\n");
    memset(text + at, 'z', n);
    strcpy(text + at + n, ",1\n");
    vhem_data *data = load(text, NULL);
    assert_int_equal(strlen(view(data, 0).name), n);
    vhem_free(data);
    free(text);
}

/* A name that two recordings share, or trials that the id does not tell apart. */
static void test_pieces(void **state)
{
    (void)state;
    log_book book;
    vhem_ctx *ctx = logging_ctx(&book);
    vhem_data *data = NULL;
    assert_ok(ctx, load_text(ctx, "log.csv", "id,x\na,1\nb,1\na,3\nb,2\na,2\nb,4\n", NULL, &data));
    assert_int_equal(book.count[VHEM_LOG_WARN], 0); /* in order of time */
    vhem_free(data);
    data = NULL;
    assert_ok(ctx,
              load_text(ctx, "log.csv", "id,x\na,1\na,5\na,2\nb,1\nb,4\nb,2\na,5\na,3\na,6\nb,3\nb,2\nb,4\n",
                        NULL, &data));
    assert_int_equal(book.count[VHEM_LOG_WARN], 1);
    assert_non_null(strstr(book.text[VHEM_LOG_WARN],
                           "line 8: the sequence of line 2 resumes here after rows of other sequences; if "
                           "these are two sequences, tell them apart: id takes several columns"));
    assert_values(data, 0, 1, 5, 2, 5, 3, 6);
    vhem_free(data);
    vhem_free(ctx);
}

/* Columns of text are found by a first reading, and what it said is not said again. */
static void test_read_twice(void **state)
{
    (void)state;
    log_book book;
    vhem_ctx *ctx = logging_ctx(&book);
    vhem_data *data = NULL;
    vhem_data_options opt = options();
    opt.symbols = "?";
    assert_ok(ctx, load_text(ctx, "log.csv", ",id,x,weight,place\n0,a,5,2,in\n1,a,5,2,out\n", &opt, &data));
    assert_int_equal(vh_data_dim(data), 3);
    assert_int_equal(book.count[VHEM_LOG_WARN], 2); /* a column without a name; weight is a dimension */
    vhem_free(data);
    data = NULL;
    assert_ok(ctx, load_text(ctx, "log.csv", "id,note\na,k\n", &opt, &data));
    vhem_free(data);
    data = NULL;
    opt.symbols = "??"; /* where nothing else is there */
    assert_ok(ctx, load_text(ctx, "log.csv", "id,note\na,k\n", &opt, &data));
    assert_int_equal(book.count[VHEM_LOG_WARN], 2);
    vhem_free(data);
    data = NULL;
    assert_ok(ctx, load_text(ctx, "log.csv", "id,x,note\na,1,k\na,3,k\n", &opt, &data));
    assert_int_equal(vh_data_dim(data), 1);
    assert_non_null(strstr(book.text[VHEM_LOG_WARN], "log.csv: text column left out: note"));
    vhem_data_facts facts;
    vhem_data_info(data, &facts);
    assert_int_equal(facts.n_text, 1);
    assert_string_equal(facts.text_column[0], "note");
    vhem_free(data);
    vhem_free(ctx);
}

static void test_log(void **state)
{
    (void)state;
    log_book book;
    vhem_ctx *ctx = logging_ctx(&book);
    vhem_data *data = NULL;
    assert_ok(ctx, load_text(ctx, "log.csv", "id,fixation,x\na,1,5\na,2,5\nb,1,7\n", NULL, &data));
    assert_int_equal(book.count[VHEM_LOG_WARN], 0); /* too few rows to tell */
    vhem_free(data);
    data = NULL;
    assert_ok(ctx, load_text(ctx, "log.csv",
                             "id,fixation,x,y,note\na,1,5,5,k\na,2,5,9,k\na,3,5,8,k\na,4,5,6,k\n"
                             "a,5,7,1,k\n",
                             NULL, &data));
    assert_non_null(strstr(book.text[VHEM_LOG_WARN],
                           "column 'fixation' counts the rows of each sequence; leave it out "
                           "with columns = x,y"));
    assert_int_equal(book.count[VHEM_LOG_WARN], 2); /* and column note is left out */
    assert_non_null(strstr(book.text[VHEM_LOG_INFO], "column 'note' is text ('k' in line 2)"));
    assert_int_equal(vh_data_dim(data), 3);
    vhem_free(data);
    data = NULL;
    assert_ok(ctx, load_text(ctx, "log.csv", ",id,x,weight\n0,a,5,2\n1,a,5,2\n", NULL, &data));
    assert_non_null(strstr(book.text[VHEM_LOG_WARN], "column 'weight' is taken as a dimension"));
    assert_int_equal(book.count[VHEM_LOG_WARN], 4); /* and column 1 has no name */
    vhem_free(data);
    data = NULL;
    /* Sequences that are short are many. */
    assert_ok(ctx, load_text(ctx, "log.csv",
                             "id,n,t,x,up\na,1,.1,5,1\na,2,.2,5,2\nb,1,.1,7,8\nb,2,.4,6,9\nb,3,.5,2,11\n"
                             "c,1,7,1,0\nc,2,8,2,1\n",
                             NULL, &data));
    assert_non_null(
        strstr(book.text[VHEM_LOG_WARN],
               "column 't' is a time, which rises in each sequence; leave it out with columns = x,up"));
    assert_int_equal(book.count[VHEM_LOG_WARN], 6); /* and column n counts */
    vhem_free(data);
    vhem_free(ctx);
}

/* A column of text that is found out late, with a number in between, does not shift its neighbours. */
static void test_late_text(void **state)
{
    (void)state;
    vhem_data *data = load("id,x,t,y\na,1,,2\na,3,7,4\nb,5,u,6\nb,7,v,8\nb,9,,10\n", NULL);
    assert_int_equal(vh_data_dim(data), 2);
    assert_values(data, 0, 1, 2, 3, 4);
    assert_values(data, 1, 5, 6, 7, 8, 9, 10);
    vhem_free(data);
}

/* ASCII text as UTF-16 with its mark. */
static size_t as_utf16(const char *text, bool big, char *out)
{
    size_t n = 0;
    for (const char *p = big ? "\xfe\xff" : "\xff\xfe"; *p; p++)
        out[n++] = *p;
    for (; *text; text++) {
        out[n++] = big ? '\0' : *text;
        out[n++] = big ? *text : '\0';
    }
    return n;
}

static void test_utf16(void **state)
{
    (void)state;
    /* Past the end of a window, so that characters come in pieces. */
    enum { ROWS = 60000 };
    char *text = malloc(ROWS * 24), *wide = malloc(ROWS * 48);
    size_t n = (size_t)sprintf(text, "id\tx\ty\r\n");
    for (int i = 0; i < ROWS; i++)
        n += (size_t)sprintf(text + n, "s%d\t%d\t%d\r\n", i / 100, i, -i);
    for (int big = 0; big < 2; big++) {
        vhem_ctx *ctx = test_ctx();
        vhem_data *data = NULL;
        const char *path = test_scratch("wide.txt");
        test_write(path, wide, as_utf16(text, big, wide));
        assert_ok(ctx, vhem_data_load(ctx, path, NULL, &data));
        assert_string_equal(data->format, "tsv");
        assert_int_equal(vh_data_size(data), ROWS / 100);
        for (int s = 0; s < ROWS / 100; s++)
            for (int i = 0; i < 100; i++)
                assert_true(view(data, s).y[2 * i + 1] == -(s * 100 + i));
        remove(path);
        vhem_free(data);
        vhem_free(ctx);
    }
    free(text);
    free(wide);
    /* e acute, a sign of two units, half a pair */
    static const char odd[] = "\xff\xfei\0d\0,\0x\0\n\0\xe9\0=\xd8\0\xde=\xd8,\0"
                              "1\0\n\0";
    const char *path = test_scratch("odd.csv");
    vhem_ctx *ctx = test_ctx();
    vhem_data *data = NULL;
    test_write(path, odd, sizeof odd - 1);
    assert_ok(ctx, vhem_data_load(ctx, path, NULL, &data));
    assert_sequence(data, 0, "\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd", "", "", 1);
    remove(path);
    vhem_free(data);
    vhem_free(ctx);
}

static void test_decimal_commas(void **state)
{
    (void)state;
    vhem_data *data = load("id;x;y;note\na;1,5;-2;u\na;-0,25e1;+3,0;v\nb;;\"7,125\";w\n", NULL);
    assert_int_equal(vh_data_dim(data), 2);
    assert_values(data, 0, 1.5, -2, -2.5, 3);
    assert_values(data, 1, NAN, 7.125);
    vhem_free(data);
    /* Points somewhere: commas are part of a text. */
    data = load("id;x;note\na;1.5;1,2\na;2.5;1,3\n", NULL);
    assert_int_equal(vh_data_dim(data), 1);
    vhem_free(data);
    data = load("id\tx\na\t1,5\na\t2,5\n", NULL);
    assert_values(data, 0, 1.5, 2.5);
    vhem_free(data);
}

static void test_row_order(void **state)
{
    (void)state;
    vhem_data_options opt = options();
    opt.order = "fixation";
    vhem_data *data = load("id,fixation,x\nb,2,20\na,3,3\na,1,1\nb,10,100\na,2.5,2\nb,1,10\n", &opt);
    assert_int_equal(vh_data_dim(data), 1);
    assert_values(data, 0, 10, 20, 100);
    assert_values(data, 1, 1, 2, 3);
    vhem_free(data);
    assert_refused("id,fixation,x\na,2,1\nb,2,1\na,1,1\na,2,1\n", &opt, VHEM_EFORMAT,
                   "lines 2 and 5 are of one sequence and both have 2 in column 'fixation'");
    assert_refused("id,fixation,x\na,,1\n", &opt, VHEM_EFORMAT, "must be a number");
    assert_refused("id,time,x\na,1,1\n", &opt, VHEM_EINVAL, "order asks for column 'fixation'");
    log_book book;
    vhem_ctx *ctx = logging_ctx(&book);
    data = NULL;
    assert_ok(ctx, load_text(ctx, "log.csv", "id,time_ms,x\na,5,1\nb,1,3\na,7,1\nb,2,2\n", NULL, &data));
    assert_int_equal(book.count[VHEM_LOG_WARN], 0);
    vhem_free(data);
    data = NULL;
    assert_ok(ctx, load_text(ctx, "log.csv", "id,Time [s],x\na,5,1\nb,1,3\na,4,1\nb,2,2\n", NULL, &data));
    assert_non_null(strstr(book.text[VHEM_LOG_WARN], "log.csv: line 4: column 'Time [s]' falls from 5 to 4"));
    assert_non_null(strstr(book.text[VHEM_LOG_WARN], "order = 'Time [s]'"));
    vhem_free(data);
    vhem_free(ctx);
}

/* Words and numbers of --missing, however these are written; names of sequences are left alone. */
static void test_missing_words(void **state)
{
    (void)state;
    vhem_data_options opt = options();
    opt.missing = "-999,lost, off,9";
    vhem_data *data = load("id,x,y\n9,1,lost\n9,-999.0,2\n9, lost ,-9.99e2\nlost,9.0,3\n", &opt);
    assert_int_equal(vh_data_dim(data), 2);
    assert_int_equal(data->N, 2);
    assert_values(data, 0, 1, NAN, NAN, 2, NAN, NAN);
    assert_values(data, 1, NAN, 3);
    vhem_free(data);
    opt.symbols = "y";
    data = load("id,x,y\na,1,lost\na,2,up\na,3,9\n", &opt);
    assert_values(data, 0, 1, NAN, 2, 0, 3, NAN);
    vhem_free(data);
    opt = options();
    assert_refused("id,x\na,1\na,lost\na,2\n", &opt, VHEM_EFORMAT, "missing = 'lost'");
}

static void test_mutations(void **state)
{
    (void)state;
    const char *path =
        file_of("fuzz.csv", "# c\nid,label,x,y\na,\"w \"\"q\",1,2.5\na,,3e2,\nb,run,nan,?\nb,run,NA,4\n");
    mutate(path, 2500, 11);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),      cmocka_unit_test(test_dialects),
        cmocka_unit_test(test_quotes),     cmocka_unit_test(test_order),
        cmocka_unit_test(test_options),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_huge_field), cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_read_twice), cmocka_unit_test(test_log),
        cmocka_unit_test(test_late_text),  cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_utf16),      cmocka_unit_test(test_decimal_commas),
        cmocka_unit_test(test_row_order),  cmocka_unit_test(test_missing_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
