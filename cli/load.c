/* SPDX-License-Identifier: BSD-3-Clause */
/* load.c - loads the inputs, each file once, and says what a file is that is not what was expected. */
#include "cli.h"
#include "vhem.h"
#include "os/stream.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 4096 }; /* bytes in which a file that was refused is looked at */

typedef enum { IS_UNKNOWN, IS_JSON, IS_CLASSES, IS_HDF5, IS_OTHER } content;

static bool has_text(const char *head, size_t n, const char *text)
{
    size_t m = strlen(text);
    for (size_t k = 0; k + m <= n; k++)
        if (memcmp(head + k, text, m) == 0)
            return true;
    return false;
}

/* After the library refused a file: what does it look like?  IS_HDF5: models in HDF5, perhaps damaged. */
static content look_at(const char *path)
{
    char head[HEAD];
    FILE *f = strcmp(path, "-") == 0 ? NULL : vh_file_open(path, "rb");
    size_t n = f ? fread(head, 1, HEAD - 1, f) : 0;
    if (f)
        fclose(f);
    head[n] = '\0';
    const char *first = head + strspn(head, " \t\r\n");
    if (n == 0)
        return IS_UNKNOWN;
    if (strstr(head, "\"vhem-classes\""))
        return IS_CLASSES;
    if ((unsigned char)head[0] == 0x89)
        return has_text(head, n, "vhem-h3m") || has_text(head, n, "vhem-dtm") ? IS_HDF5 : IS_OTHER;
    return *first == '{' ? IS_JSON : IS_OTHER;
}

/* The sentence of the library without the name of the file, which stands at its beginning. */
static const char *after_path(const cli *c, const char *path)
{
    const char *text = vhem_ctx_error(c->ctx);
    size_t n = strlen(path);
    return strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0 ? text + n + 2 : text;
}

static int not_for_classes(cli *c, const char *path)
{
    return cli_fail(c, "%s holds models of classes: it is for vhem classify and vhem annotate", path);
}

/* What the library said, or something better where it is clear what a file that it refused holds.  clusters:
 * those were expected, else models. */
static int tell_refused(cli *c, const char *path, vhem_status st, bool clusters)
{
    char word[CLI_WORD];
    content is = st != VHEM_EFORMAT || cli_interrupted() ? IS_UNKNOWN : look_at(path);
    if (is == IS_CLASSES)
        return not_for_classes(c, path);
    if (clusters && (is == IS_HDF5 || is == IS_OTHER))
        return cli_fail(c, "%s is not a file of clusters; run vhem cluster or vhem tree first (%s)", path,
                        after_path(c, path));
    if (is == IS_OTHER)
        return cli_fail(c,
                        "%s is not a model file; if it holds sequences, fit models to them first: "
                        "vhem fit %s -o models.json (%s)",
                        path, cli_word(path, word, sizeof word), after_path(c, path));
    return cli_status(c, st);
}

int cli_load_models(cli *c, const char *path, vhem_models **out)
{
    return tell_refused(c, path, vhem_models_load(c->ctx, path, out), false);
}

int cli_load_hmms(cli *c, const char *path, vhem_models **out)
{
    CLI_TRY(cli_load_models(c, path, out));
    CLI_CHECK(cli_models_facts(*out).kind == VHEM_HMMS, "%s holds dynamic textures, but vhem %s takes HMMs",
              path, c->command);
    return CLI_GO;
}

int cli_load_clusters(cli *c, const char *path, vhem_tree **out)
{
    return tell_refused(c, path, vhem_tree_load(c->ctx, path, out), true);
}

int cli_load_input(cli *c, const char *path, const vhem_data_options *opt, cli_input *in)
{
    CLI_TRY(cli_status(c, vhem_load(c->ctx, path, opt, &in->file)));
    if (in->file.classes)
        return not_for_classes(c, path);
    const vhem_clustering *lowest = in->file.tree ? vhem_tree_level(in->file.tree, 0) : NULL;
    CLI_CHECK(!lowest || lowest->centers,
              "%s has clusters without centres; give the file of the models that were clustered", path);
    in->from.data = in->file.data;
    in->from.models = lowest ? lowest->centers : in->file.models;
    in->from.by_group = in->file.data && opt && opt->group;
    return CLI_GO;
}

void cli_input_free(cli_input *in)
{
    vhem_free(in->file.models);
    vhem_free(in->file.tree);
    vhem_free(in->file.classes);
    vhem_free(in->file.data);
    *in = (cli_input){ 0 };
}
