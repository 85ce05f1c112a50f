/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - options in files: the first byte chooses a record, the rest is JSON.  What is read and in range
 * is printed and read again to the same. */
#include "files/options_json.h"

#include "fuzz.h"

#include "files/json.h"
#include "vhem.h"
#include "vhem/classes.h"

#include <string.h>

typedef union {
    vhem_data_options data;
    vhem_fit_options fit;
    vhem_cluster_options cluster;
    vhem_distance_options distance;
    vhem_train_options train;
    vhem_rank_options rank;
} record;

static bool parse(vhem_option_set set, const char *text, size_t size, vh_texts *texts, record *out)
{
    VHEM_INIT(set, out);
    json_t *root = NULL;
    vhem_status st = vh_json_parse(fuzz_ctx(), text, size, &root);
    if (st == VHEM_OK)
        st = vh_options_read(fuzz_ctx(), root, set, texts, out);
    json_decref(root);
    if (st == VHEM_OK)
        st = vh_options_check(fuzz_ctx(), set, out);
    if (st != VHEM_OK)
        fuzz_check_failure(st, NULL, NULL);
    return st == VHEM_OK;
}

static char *print(vhem_option_set set, const record *r, size_t *size)
{
    char *text = NULL;
    const char *lead = "{";
    FILE *f = open_memstream(&text, size);
    fuzz_require(f, "no memory stream");
    for (const vh_option *row = vh_options(set); row->shown.name; row++)
        if (vh_option_in_files(row, r)) {
            vh_option_print(f, lead, row, r, true);
            lead = ", ";
        }
    fputs(*lead == '{' ? "{}" : "}", f);
    fclose(f);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    record r, again;
    vh_texts texts = { 0 };
    size_t n = 0, m = 0;
    if (size < 1)
        return 0;
    vhem_option_set set = (vhem_option_set)(bytes[0] % (VHEM_RANK_OPTIONS + 1));
    if (parse(set, (const char *)bytes + 1, size - 1, &texts, &r)) {
        char *text = print(set, &r, &n);
        fuzz_require(parse(set, text, n, &texts, &again), "what was printed is not read: %s\n%s",
                     vhem_ctx_error(fuzz_ctx()), text);
        char *second = print(set, &again, &m);
        fuzz_require(n == m && memcmp(text, second, n) == 0, "%s\nbecame\n%s", text, second);
        vh_options_fill(set, &again);
        free(text);
        free(second);
    }
    vh_texts_free(&texts);
    return 0;
}
