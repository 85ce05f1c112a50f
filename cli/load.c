/* load.c - loads the inputs.  Is a file a set of models or of sequences?  Its content says so. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Of standard input one byte is looked at and put back: both kinds of file are still to be read. */
static int first_byte(FILE *f, bool put_back)
{
    int ch = getc(f);
    while (!put_back && (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r'))
        ch = getc(f);
    if (put_back && ch != EOF)
        ungetc(ch, f);
    return ch;
}

cli_content cli_recognise(const char *path)
{
    static const char *const json[] = { ".json", NULL };
    struct stat sb;
    if (strcmp(path, "-") == 0)
        return first_byte(stdin, true) == '{' ? CLI_IS_MODEL : CLI_IS_DATA;
    if (stat(path, &sb) == 0 && S_ISDIR(sb.st_mode))
        return CLI_IS_DATA;
    FILE *f = fopen(path, "rb");
    if (!f)
        return cli_ends_with(path, json) ? CLI_IS_MODEL : CLI_IS_DATA;
    int ch = first_byte(f, false);
    fclose(f);
    if (ch == 0x89)
        return CLI_IS_HDF5;
    return ch == '{' || cli_ends_with(path, json) ? CLI_IS_MODEL : CLI_IS_DATA;
}

int cli_load_any(cli *c, const char *path, const vhem_data_options *opt, vhem_h3m **h3m, vhem_data **data)
{
    cli_content content = cli_recognise(path);
    char *not_model = NULL;
    vhem_status st;
    int status;

    if (content != CLI_IS_DATA) {
        st = vhem_h3m_load(c->ctx, path, h3m);
        if (st == VHEM_OK || content == CLI_IS_MODEL)
            return cli_status(c, st);
        not_model = strdup(vhem_ctx_error(c->ctx));
    }
    st = vhem_data_load(c->ctx, path, opt, data);
    if (st != VHEM_OK && not_model && !cli_interrupted())
        status = cli_fail(c, "neither models (%s) nor sequences (%s)", not_model, vhem_ctx_error(c->ctx));
    else
        status = cli_status(c, st);
    free(not_model);
    return status;
}

int cli_load_both(cli *c, const char *output, const vhem_data_options *opt, vhem_h3m **h3m, vhem_data **data)
{
    int status = cli_check_streams(c, NULL);
    if (status == CLI_GO)
        status = cli_out_check(c, output);
    if (status == CLI_GO)
        status = cli_status(c, vhem_h3m_load(c->ctx, c->arg[0], h3m));
    if (status == CLI_GO)
        status = cli_status(c, vhem_data_load(c->ctx, c->arg[1], opt, data));
    return status;
}
