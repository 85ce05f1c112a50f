/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_demo.c - vhem demo [NAME [FOLDER]]: data to try the other commands on. */
#include "cli.h"
#include "os/path.h"
#include "vhem.h"

#include <errno.h>
#include <string.h>

static const struct {
    const char *name, *about, *how; /* options of vhem cluster that suit it */
    bool groups;
} sets[] = {
    { "gaze", "fixations on a face: 60 trials of 12 viewers with 2 strategies", "", true },
    { "motions", "drawings in the plane: 60 of 6 kinds", "", false },
    { "courses", "life courses, a symbol for each year: 60 people of 3 kinds", " --emission categorical",
      false },
    { "tracks", "steps and turns of animals: 36 tracks of 3 kinds", " --emission step:gamma,turn:von-mises",
      false },
};
enum { SETS = sizeof sets / sizeof *sets };

static int list(const cli *c)
{
    json_t *all = json_array();
    for (int i = 0; i < SETS; i++)
        json_array_append_new(all, json_pack("{s:s, s:s}", "name", sets[i].name, "about", sets[i].about));
    for (int i = 0; i < SETS && !c->json; i++)
        printf("%-10s%s\n", sets[i].name, sets[i].about);
    if (c->json)
        cli_json_put(stdout, json_pack("{s:s, s:o}", "command", c->command, "sets", all));
    else
        json_decref(all);
    return EXIT_DONE;
}

/* Commands to copy. */
static void print_commands(int set, const char *table)
{
    char word[CLI_WORD];
    cli_word(table, word, sizeof word);
    printf("%s: %s\n\nTry:\n", word, sets[set].about);
    printf("  vhem cluster %s%s -o clusters.json\n", word, sets[set].how);
    if (sets[set].groups)
        printf("  vhem cluster %s --group group -o people.json\n", word);
    printf("  vhem report clusters.json --data %s -o report.html\n", word);
}

static int make(cli *c, const char *name, const char *folder)
{
    CLI_OWN vhem_data *data = NULL;
    char path[CLI_WORD / 4];
    int set = 0;

    CLI_TRY(cli_status(c, vhem_demo(c->ctx, name, &data)));
    while (set < SETS - 1 && strcmp(sets[set].name, name) != 0)
        set++;
    CLI_CHECK(!*folder || vh_folder_make(folder), "%s: cannot make the folder: %s", folder, strerror(errno));
    CLI_CHECK(snprintf(path, sizeof path, "%s%s%s.csv", folder, *folder ? "/" : "", name) < (int)sizeof path,
              "the name of the folder is too long");
    CLI_CHECK(c->force || !vh_path_exists(path), "%s is there already; --force replaces it", path);
    CLI_TRY(cli_status(c, vhem_data_save(c->ctx, data, path)));
    if (c->json)
        cli_json_put(stdout, json_pack("{s:s, s:o, s:s}", "command", c->command, "output",
                                       cli_json_text(path), "about", sets[set].about));
    else
        print_commands(set, path);
    return EXIT_DONE;
}

int cmd_demo(cli *c, int argc, char **argv)
{
    cli_table t = { 0 };
    cli_add(&t,
            (const cli_option[]){
                { "force", 0, OPT_FLAG, NULL, &c->force, .help = "replace a file of that name" }, { 0 } });
    const cli_usage usage = {
        .args = "[NAME [FOLDER]]",
        .n_min = 0,
        .n_max = 2,
        .table = &t,
        .about =
            "Writes the table of a made-up data set, with the kind of each sequence in the column label, "
            "and prints commands to try on it. Without NAME it lists the data sets. Each --seed gives "
            "other sequences of the same kinds.",
        .examples = "  vhem demo\n"
                    "  vhem demo gaze\n"
                    "  vhem demo motions try --seed 2\n",
    };
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    return c->n_arg == 0 ? list(c) : make(c, c->arg[0], c->n_arg > 1 ? c->arg[1] : "");
}
