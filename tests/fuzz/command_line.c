/* SPDX-License-Identifier: BSD-3-Clause */
/* command_line.c - the parser of options: the bytes are the arguments, each ended by a NUL.  What is wrong
 * has a sentence on standard error, and what is taken is in range. */
#define _GNU_SOURCE
#include "cli.h"

#include "fuzz.h"
#include "vhem.h"

#include <math.h>
#include <string.h>

enum { MOST_WORDS = 24 };

typedef struct {
    vhem_data_options data;
    const char *output;
    int K, upto;
    int64_t memory;
    cli_texts list;
    cli_table table;
} settings;

static void fill(settings *x)
{
    memset(x, 0, sizeof *x);
    VHEM_INIT(VHEM_DATA_OPTIONS, &x->data);
    x->K = 1;
    cli_add(&x->table,
            (const cli_option[]){
                { "output", 'o', OPT_TEXT, "FILE", &x->output, .help = "where it goes" },
                { "clusters", 'k', OPT_INT, "K", &x->K, .least = 1, .upto = &x->upto, .help = "how many" },
                { "memory", 0, OPT_SIZE, "SIZE", &x->memory, .help = "how much" },
                { "models", 'm', OPT_LIST, "FILE...", &x->list, .help = "which" },
                { 0 } });
    cli_add_data(&x->table, &x->data, "column with the group of a sequence");
}

static int parse(int argc, char **argv, cli *c, settings *x, char **said)
{
    FILE *err = stderr, *out = stdout;
    char *printed = NULL;
    size_t n = 0, m = 0;
    fill(x);
    memset(c, 0, sizeof *c);
    c->command = "fit";
    const cli_usage usage = {
        .args = "FILE...", .n_min = 0, .n_max = 4, .table = &x->table, .about = "For tests.", .examples = ""
    };
    stderr = open_memstream(said, &n);
    stdout = open_memstream(&printed, &m);
    fuzz_require(stderr && stdout, "no memory stream");
    int status = cli_parse(c, argc, argv, &usage);
    fclose(stderr);
    fclose(stdout);
    stderr = err;
    stdout = out;
    free(printed);
    return status;
}

static void check_values(const cli *c, const settings *x)
{
    fuzz_require(c->n_arg >= 0 && c->n_arg <= 4 && x->list.n <= CLI_MAX_ARGS, "too many arguments");
    fuzz_require(x->K >= 1 && (x->upto == 0 || x->upto >= x->K), "K = %d..%d", x->K, x->upto);
    for (int k = 0; k < x->table.n; k++)
        if (x->table.row[k].kind == OPT_REAL)
            fuzz_require(!isinf(*(double *)x->table.row[k].value), "--%s", x->table.row[k].name);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *words = malloc(size + 1), *argv[MOST_WORDS + 2] = { (char[]){ "fit" } }, *said = NULL;
    int argc = 1;
    cli c;
    settings x;

    fuzz_require(words, "no memory");
    memcpy(words, bytes, size);
    words[size] = '\0';
    for (char *at = words; argc <= MOST_WORDS && at < words + size; at += strlen(at) + 1)
        argv[argc++] = at;
    int status = parse(argc, argv, &c, &x, &said);
    fuzz_require(status == CLI_GO || status == EXIT_DONE || status == EXIT_USAGE || status == EXIT_FAILED,
                 "status %d", status);
    fuzz_require((status == CLI_GO || status == EXIT_DONE) == !*said, "status %d, and: %s", status, said);
    if (status == CLI_GO)
        check_values(&c, &x);
    free(said);
    free(words);
    return 0;
}
