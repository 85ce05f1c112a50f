/* SPDX-License-Identifier: BSD-3-Clause */
/* overwrite.c - an output that names an input is refused: the input would be gone.  So is one that names a
 * file of a folder of shards, whose manifest would no longer be right.
 *
 * The same file is the same device and inode, whatever the links and spellings.  Inputs are the arguments and
 * the values of all options that name a file; a folder of sequences stands for the files in it, and an array
 * for the index beside it. */
#include "cli.h"
#include "os/path.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *path;   /* to be written */
    const char *folder; /* to be filled with .tsv, instead */
    vh_entry is, up;    /* the file that stands there; the folder it stands in, or folder */
    vh_entry above_up;  /* and the one above */
    const char *input;  /* that it would replace, or NULL */
} target;

/* path/../.. and the like, of a path whose links are resolved. */
static bool look_above(const char *path, int levels, vh_entry *out)
{
    CLI_AUTOFREE char *real = vh_path_real(path);
    for (int k = 0; real && k < levels; k++) {
        size_t n = (size_t)(vh_path_name(real) - real); /* with the separator, which the root keeps */
        real[n > 1 ? n - 1 : n] = '\0';
    }
    return real && vh_path_look(real, out);
}

/* NAME_index.csv of NAME.npy; from malloc, NULL for any other path. */
static char *index_of(const char *path)
{
    const char *const npy[] = { ".npy", NULL };
    return cli_ends_with(path, npy) ? cli_text("%.*s_index.csv", (int)strlen(path) - 4, path) : NULL;
}

/* Do both name one file, whether it is there or not? */
static bool same_place(const char *a, const char *b)
{
    vh_entry up[2];
    const char *const path[] = { a, b };
    for (int k = 0; k < 2; k++) {
        CLI_AUTOFREE char *folder = cli_text("%.*s.", (int)(vh_path_name(path[k]) - path[k]), path[k]);
        if (!folder || !vh_path_look(folder, &up[k]))
            return false;
    }
    return vh_same_entry(&up[0], &up[1]) && strcmp(vh_path_name(a), vh_path_name(b)) == 0;
}

/* Would writing the target replace this input? */
static bool replaces(const target *t, const char *input)
{
    static const char *const tables[] = { ".tsv", NULL };
    vh_entry there, up;
    if (!vh_path_look(input, &there))
        return false;
    if (t->folder)
        return there.kind == VH_IS_FILE && cli_ends_with(input, tables) && look_above(input, 1, &up)
               && vh_same_entry(&up, &t->up);
    if (there.kind == VH_IS_FOLDER)
        return ((vh_same_entry(&there, &t->up) || vh_same_entry(&there, &t->above_up))
                && cli_ends_with(t->path, cli_data_endings))
               || (vh_same_entry(&there, &t->up) && strcmp(vh_path_name(t->path), "manifest.json") == 0);
    return there.kind == VH_IS_FILE && vh_same_entry(&there, &t->is);
}

static void look_at(target *t, const char *input)
{
    CLI_AUTOFREE char *index = index_of(input);
    if (!t->input && strcmp(input, "-") != 0 && (replaces(t, input) || (index && replaces(t, index))))
        t->input = input;
}

static void look_at_option(target *t, const cli_option *o)
{
    if (o->kind == OPT_LIST)
        for (int k = 0; k < ((const cli_texts *)o->value)->n; k++)
            look_at(t, ((const cli_texts *)o->value)->text[k]);
    const char *text = o->kind == OPT_TEXT ? *(const char *const *)o->value : o->file ? *o->file : NULL;
    if (text && text != t->path && text != t->folder)
        look_at(t, text);
}

static const char *value_of(const cli_usage *usage, const char *name)
{
    const cli_option *o = cli_row_named(usage->table, name);
    return o ? *(const char *const *)o->value : NULL;
}

/* Files that are written anyway are no inputs. */
static bool is_output(const cli_usage *usage, const cli_option *o)
{
    return strcmp(o->name, "output") == 0
           || (usage->second_output && strcmp(o->name, usage->second_output) == 0);
}

/* The last argument, unless -o says otherwise. */
static bool writes_last(const cli_usage *usage)
{
    return usage->writes_last && !value_of(usage, "output");
}

static int check(cli *c, const cli_usage *usage, target *t)
{
    const char *path = t->folder ? t->folder : t->path;
    if (strcmp(path, "-") == 0)
        return CLI_GO;
    if (t->folder ? !vh_path_look(path, &t->up) : !vh_path_look(path, &t->is) || t->is.kind != VH_IS_FILE)
        return CLI_GO; /* nothing stands there */
    if (!t->folder && (!look_above(path, 1, &t->up) || !look_above(path, 2, &t->above_up)))
        return CLI_GO;
    int first = usage->updates ? 1 : 0, last = c->n_arg - (writes_last(usage) ? 1 : 0);
    for (int k = first; k < last; k++)
        look_at(t, c->arg[k]);
    for (int k = 0; k < usage->table->n; k++)
        if (c->given[k] && !is_output(usage, &usage->table->row[k]))
            look_at_option(t, &usage->table->row[k]);
    if (!t->input)
        return CLI_GO;
    return cli_fail(c, "%s: writing it would replace the input %s; choose another name, or add --force", path,
                    t->input);
}

/* Is the file one of a folder of shards, or its manifest?  The set could not be opened any more. */
static bool is_in_set(const char *path)
{
    CLI_AUTOFREE char *real = vh_path_real(path); /* a link is written through */
    const char *name = real ? vh_path_name(real) : "";
    vh_entry there;
    size_t k;
    json_t *one;
    if (!real || !vh_path_look(real, &there) || there.kind != VH_IS_FILE)
        return false;
    CLI_AUTOFREE char *manifest = cli_text("%.*smanifest.json", (int)(name - real), real);
    json_auto_t *root = manifest ? cli_json_load(manifest, 0, NULL) : NULL;
    const char *format = json_string_value(json_object_get(root, "format"));
    bool set = format && strcmp(format, "vhem-shards") == 0,
         found = set && strcmp(name, "manifest.json") == 0;
    json_array_foreach(json_object_get(root, "files"), k, one)
    {
        const char *file = json_string_value(json_object_get(one, "file"));
        found |= set && file && strcmp(file, name) == 0;
    }
    return found;
}

/* The result must not be written over what keeps the work of the command itself. */
static int check_own_files(cli *c, const cli_usage *usage, const char *option, const char *path)
{
    const char *store = value_of(usage, "store"), *checkpoint = value_of(usage, "checkpoint");
    if (path && store && same_place(store, path))
        return cli_misuse(c, "--store and --%s are both %s: the models would overwrite the store", option,
                          store);
    if (path && checkpoint && same_place(checkpoint, path))
        return cli_misuse(
            c, "--checkpoint and --%s are both %s: the checkpoint is removed when the result is saved",
            option, checkpoint);
    return CLI_GO;
}

/* The result, and the file of names that some results have beside them. */
static int check_result(cli *c, const cli_usage *usage, const char *path)
{
    CLI_AUTOFREE char *index = index_of(path);
    CLI_TRY(check(c, usage, &(target){ .path = path }));
    CLI_CHECK(
        !is_in_set(path),
        "%s belongs to a folder of models: overwriting it would make the set unreadable; choose another "
        "name, or add --force",
        path);
    return index ? check(c, usage, &(target){ .path = index }) : CLI_GO;
}

int cli_check_overwrite(cli *c, const cli_usage *usage)
{
    const char *path = writes_last(usage) ? c->arg[c->n_arg - 1] : value_of(usage, "output");
    const char *second = usage->second_output ? value_of(usage, usage->second_output) : NULL;
    const char *folder = value_of(usage, "tables");
    if (path && second && strcmp(path, "-") != 0 && same_place(path, second))
        return cli_misuse(c, "--output and --%s are both %s", usage->second_output, path);
    CLI_TRY(check_own_files(c, usage, "output", path));
    CLI_TRY(check_own_files(c, usage, usage->second_output, second));
    if (!c->force && path)
        CLI_TRY(check_result(c, usage, path));
    if (!c->force && second)
        CLI_TRY(check_result(c, usage, second));
    return !c->force && folder ? check(c, usage, &(target){ .folder = folder }) : CLI_GO;
}

bool cli_writes(const cli_usage *usage)
{
    return usage->writes_last || cli_row_named(usage->table, "output")
           || cli_row_named(usage->table, "tables");
}

void cli_remove_checkpoint(const char *path)
{
    CLI_AUTOFREE char *real = vh_path_real(path);
    if (real)
        vh_path_remove(real);
}
