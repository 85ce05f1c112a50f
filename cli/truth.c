/* truth.c - the classes that clusters are compared with: a table of names and classes, or sequences that
 * carry them. */
#define _GNU_SOURCE
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const name_heads[] = { "name", "id", "seq", NULL };
static const char *const class_heads[] = { "label", "class", "truth", NULL };

typedef struct {
    cli        *c;
    const char *path;
    char        sep;
    int         line, name_at, class_at; /* columns */
    json_t     *class_of;                /* by name */
} table;

/* Cell number k of a line, without its quotes, in buf; NULL when the line has none. */
static const char *cell(const table *t, const char *line, int k, char *buf)
{
    for (;; line++) {
        char *out = buf;
        bool quoted = *line == '"';
        for (line += quoted; *line && (quoted || *line != t->sep); line++) {
            if (quoted && *line == '"' && line[1] != '"') {
                quoted = false;
                continue;
            }
            line += quoted && *line == '"';
            *out++ = *line;
        }
        *out = '\0';
        if (k-- == 0)
            return buf;
        if (!*line)
            return NULL;
    }
}

/* Where the columns are; false when the first line is no header, and then they are the first two. */
static bool read_header(table *t, const char *line, char *buf)
{
    const char *text;
    int name_at = -1, class_at = -1;
    for (int k = 0; (text = cell(t, line, k, buf)) != NULL; k++) {
        if (name_at < 0 && cli_one_of(text, name_heads))
            name_at = k;
        else if (class_at < 0 && cli_one_of(text, class_heads))
            class_at = k;
    }
    bool header = name_at >= 0 && class_at >= 0;
    t->name_at = header ? name_at : 0;
    t->class_at = header ? class_at : 1;
    return header;
}

static int add_row(table *t, const char *line, char *buf)
{
    const char *text = cell(t, line, t->name_at, buf);
    char *name = text ? strdup(text) : NULL;
    text = name ? cell(t, line, t->class_at, buf) : NULL;
    const json_t *known = name ? json_object_get(t->class_of, name) : NULL;
    int status = CLI_GO;
    if (!text)
        status = cli_fail(t->c, "%s: line %d has no %s; each line must have a name and a class", t->path,
                          t->line, name ? "class" : "name");
    else if (known && strcmp(json_string_value(known), text) != 0)
        status = cli_fail(t->c, "%s: line %d: '%s' is of class '%s', but '%s' before", t->path, t->line, name,
                          text, json_string_value(known));
    else if (!known)
        json_object_set_new_nocheck(t->class_of, name, json_string_nocheck(text));
    free(name);
    return status;
}

static int read_table(table *t, FILE *f)
{
    char *line = NULL, *buf = NULL;
    size_t cap = 0;
    ssize_t n;
    int status = CLI_GO;
    while (status == CLI_GO && (n = getline(&line, &cap, f)) >= 0) {
        t->line++;
        while (n > 0 && strchr("\r\n", line[n - 1]))
            line[--n] = '\0';
        char *text = line + (t->line == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0);
        char *bigger = realloc(buf, cap + 1);
        if (!bigger) {
            status = cli_fail(t->c, "out of memory");
            break;
        }
        buf = bigger;
        if (t->line == 1) {
            t->sep = strchr(text, '\t') ? '\t' : strchr(text, ',') ? ',' : ';';
            if (read_header(t, text, buf))
                continue;
        }
        if (*text)
            status = add_row(t, text, buf);
    }
    if (status == CLI_GO && ferror(f))
        status = cli_fail(t->c, "%s: cannot read: %s", t->path, strerror(errno));
    free(line);
    free(buf);
    return status;
}

/* Array and texts in one block. */
static const char **collect(int n, char *const *name, const json_t *known, int *found)
{
    size_t size = ((size_t)n + 1) * sizeof(char *);
    for (int i = 0; i < n; i++) {
        const json_t *text = json_object_get(known, name[i]);
        size += text ? strlen(json_string_value(text)) + 1 : 1;
    }
    const char **all = malloc(size);
    char *next = all ? (char *)(all + n + 1) : NULL;
    *found = 0;
    for (int i = 0; all && i < n; i++) {
        const json_t *text = json_object_get(known, name[i]);
        *found += text != NULL;
        all[i] = strcpy(next, text ? json_string_value(text) : "");
        next += strlen(next) + 1;
    }
    return all;
}

int cli_truth_load(cli *c, const char *path, int n, char *const *name, const char ***class_of)
{
    table t = { .c = c, .path = path, .class_of = json_object() };
    FILE *f = fopen(path, "r");
    if (!f) {
        json_decref(t.class_of);
        return cli_fail(c, "%s: cannot read: %s", path, strerror(errno));
    }
    int found = 0, status = read_table(&t, f);
    fclose(f);
    if (status == CLI_GO && !(*class_of = collect(n, name, t.class_of, &found)))
        status = cli_fail(c, "out of memory");
    if (status == CLI_GO && found == 0)
        status = cli_fail(c, "%s: none of its %zu names is that of a model, '%s' for instance", path,
                          json_object_size(t.class_of), n > 0 ? name[0] : "");
    else if (status == CLI_GO && found < n)
        cli_say(c, "%d of %d models have no class in %s and are left out of comparisons", n - found, n, path);
    json_decref(t.class_of);
    return status;
}

int cli_truth_of_data(cli *c, const vhem_data *data, int n, char *const *name, const char ***class_of)
{
    json_t *known = json_object();
    vhem_seq_view seq;
    int found = 0, status = CLI_GO;
    for (int k = 0; k < vhem_data_size(data); k++) {
        vhem_data_view(data, k, &seq);
        if (seq.label[0] && seq.group[0])
            json_object_set_new_nocheck(known, seq.group, json_string_nocheck(seq.label));
        if (seq.label[0])
            json_object_set_new_nocheck(known, seq.name, json_string_nocheck(seq.label));
    }
    *class_of = collect(n, name, known, &found);
    if (!*class_of)
        status = cli_fail(c, "out of memory");
    else if (found == 0 && json_object_size(known) > 0)
        cli_say(c, "no sequence has the name of a model, '%s' for instance: no classes to compare with",
                n > 0 ? name[0] : "");
    json_decref(known);
    return status;
}
