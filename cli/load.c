/* SPDX-License-Identifier: BSD-3-Clause */
/* load.c - loads the inputs.  Is a file a set of models or of sequences?  Its content says so. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 4096 }; /* bytes in which the format of a JSON file is looked for */

/* The first byte that is no white space, and the text from there on. */
static int read_head(FILE *f, char *head)
{
    int ch = getc(f);
    while (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r')
        ch = getc(f);
    head[0] = (char)ch;
    head[ch == EOF ? 0 : 1 + fread(head + 1, 1, HEAD - 2, f)] = '\0';
    return ch;
}

/* Standard input is looked at and read again: what comes through a pipe is put into a temporary file first.
 * Where it begins, -1 when that cannot be done. */
static long keep_stdin(void)
{
    char buf[65536];
    size_t n;
    long at = ftell(stdin);
    if (at >= 0)
        return at;
    FILE *spool = tmpfile();
    if (!spool)
        return -1;
    while ((n = fread(buf, 1, sizeof buf, stdin)) > 0)
        fwrite(buf, 1, n, spool);
    bool good = fflush(spool) == 0 && !ferror(spool) && dup2(fileno(spool), STDIN_FILENO) >= 0;
    fclose(spool);
    clearerr(stdin);
    return good && fseek(stdin, 0, SEEK_SET) == 0 ? 0 : -1;
}

/* Which of the files in JSON?  The word "format" nearly always stands at the beginning. */
static cli_content json_content(FILE *f, long begin, const char *head)
{
    const char *format = strstr(head, "\"vhem-");
    char found[32] = "";
    if (format) {
        snprintf(found, sizeof found, "%.*s", (int)strcspn(format + 1, "\""), format + 1);
    } else if (fseek(f, begin, SEEK_SET) == 0) {
        json_t *root = json_loadf(f, 0, NULL);
        const char *text = json_string_value(json_object_get(root, "format"));
        snprintf(found, sizeof found, "%s", text ? text : "");
        json_decref(root);
    }
    if (strcmp(found, "vhem-clustering") == 0)
        return CLI_IS_CLUSTERING;
    if (strcmp(found, "vhem-classes") == 0)
        return CLI_IS_CLASSES;
    if (strcmp(found, "vhem-dtm") == 0)
        return CLI_IS_TEXTURES;
    return strcmp(found, "vhem-tree") == 0 ? CLI_IS_TREE : CLI_IS_MODEL;
}

cli_content cli_recognise(const char *path)
{
    static const char *const json[] = { ".json", NULL };
    char head[HEAD];
    struct stat sb;
    bool piped = strcmp(path, "-") == 0;
    if (!piped && stat(path, &sb) == 0 && S_ISDIR(sb.st_mode))
        return CLI_IS_DATA;
    long begin = piped ? keep_stdin() : 0;
    if (begin < 0)
        return CLI_IS_DATA;
    FILE *f = piped ? stdin : fopen(path, "rb");
    if (!f)
        return cli_ends_with(path, json) ? CLI_IS_MODEL : CLI_IS_DATA;
    int ch = read_head(f, head);
    cli_content content = CLI_IS_DATA;
    if (ch == 0x89 && !piped)
        content = CLI_IS_HDF5;
    else if (ch == '{' || cli_ends_with(path, json))
        content = json_content(f, begin, head);
    if (!piped)
        fclose(f);
    else
        fseek(stdin, begin, SEEK_SET);
    return content;
}

/* The sentence of the library without the name of the file, which stands at its beginning. */
static const char *after_path(const cli *c, const char *path)
{
    const char *text = vhem_ctx_error(c->ctx);
    size_t n = strlen(path);
    return strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0 ? text + n + 2 : text;
}

int cli_load_models(cli *c, const char *path, vhem_h3m **h3m)
{
    cli_content content = cli_recognise(path);
    if (content == CLI_IS_TREE)
        return cli_fail(c,
                        "%s is a tree, not a set of models; 'vhem cluster' makes a file whose centres can "
                        "be used as models",
                        path);
    if (content == CLI_IS_TEXTURES)
        return cli_fail(c, "%s holds dynamic textures, but vhem %s takes HMMs", path, c->command);
    if (content == CLI_IS_CLASSES)
        return cli_fail(c, "%s holds models of classes: it is for vhem classify and annotate", path);
    vhem_status st = vhem_h3m_load(c->ctx, path, h3m);
    bool data = content == CLI_IS_DATA
                || (content == CLI_IS_HDF5 && strncmp(after_path(c, path), "format is ", 10) == 0);
    if (st == VHEM_EFORMAT && data && !cli_interrupted())
        return cli_fail(c,
                        "%s is no model file (%s); if it holds sequences, fit models to them first: vhem "
                        "fit",
                        path, after_path(c, path));
    return cli_status(c, st);
}

int cli_load_clusters(cli *c, const char *path, vhem_tree **tree)
{
    cli_content content = cli_recognise(path);
    vhem_status st = vhem_tree_load(c->ctx, path, tree);
    if (st != VHEM_EFORMAT || cli_interrupted())
        return cli_status(c, st);
    const char *why = after_path(c, path);
    if (content == CLI_IS_HDF5 || content == CLI_IS_DATA)
        return cli_fail(c, "%s is no file of clusters (%s); run vhem cluster first", path, why);
    if (content == CLI_IS_MODEL && strncmp(why, "format is 'vhem-h3m'", 20) == 0)
        return cli_fail(c,
                        "%s holds models, not clusters; run vhem cluster first, for a mixture of "
                        "sequences 'vhem cluster DATA --method em-h3m'",
                        path);
    return cli_status(c, st);
}

int cli_load_any(cli *c, const char *path, const vhem_data_options *opt, vhem_h3m **h3m, vhem_data **data)
{
    cli_content content = cli_recognise(path);
    char *not_model = NULL;
    vhem_status st;
    int status;

    if (content == CLI_IS_TREE || content == CLI_IS_TEXTURES)
        return cli_load_models(c, path, h3m);
    if (content != CLI_IS_DATA) {
        st = vhem_h3m_load(c->ctx, path, h3m);
        if (st == VHEM_OK || content != CLI_IS_HDF5)
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
        status = cli_load_models(c, c->arg[0], h3m);
    if (status == CLI_GO)
        status = cli_status(c, vhem_data_load(c->ctx, c->arg[1], opt, data));
    return status;
}
