/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - vhem-mpi: runs vhem commands on all ranks of an MPI job.  All ranks run the command, and the
 * library shares the work among them.  Only rank 0 prints and writes; its files are bit-identical to those of
 * vhem. */
#include "team.h"

#include "cli.h"
#include "os/system.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Number of threads: ranks on the same machine share its cores unless each is bound to its own. */
static int threads_here(void)
{
    MPI_Comm near;
    int ranks = 1, cores = vh_cores(), mine = vh_cores_usable();
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_size(near, &ranks);
    MPI_Comm_free(&near);
    if (mine < cores)
        return mine;
    return cores / ranks > 0 ? cores / ranks : 1;
}

/* True if this command line can run on several ranks; otherwise, text says why not. */
static bool can_run(int argc, char **argv, char *text, size_t size)
{
    const char *word = argc > 1 ? argv[1] : "";
    text[0] = 0;
    if (word[0] && word[0] != '-' && strcmp(word, "help") != 0 && !cli_runs_on_ranks(word))
        snprintf(text, size,
                 "'%s' does not run on many ranks: use vhem %s; 'vhem-mpi --help' lists the commands that do",
                 word, word);
    for (int k = 2; k < argc && !text[0]; k++)
        if (strcmp(argv[k], "-") == 0 && argv[k - 1][0] != '-')
            snprintf(text, size, "standard input cannot be read by all ranks; give the %s as a file",
                     strcmp(word, "fit") == 0 ? "data" : "models");
    return !text[0];
}

static int run_command(team *t, int argc, char **argv)
{
    const vhem_ranks ranks = { t->rank, t->size, team_pass, t };
    cli c = { .ranks = &ranks, .threads = t->threads };
    char text[256];
    bool quiet = t->rank > 0;

    if (quiet) {
        cli_hear_signals();
        if (!freopen("/dev/null", "w", stdout)) {
            team_leave(t, false, "/dev/null cannot be opened");
            return EXIT_FAILED;
        }
    }
    int status =
        can_run(argc, argv, text, sizeof text) ? cli_main(&c, argc, argv) : cli_misuse(&c, "%s", text);
    bool failed = status != EXIT_DONE && status != EXIT_STOPPED, knew = t->over;
    const char *sentence = team_leave(t, status == EXIT_STOPPED, failed ? c.why : NULL);
    if (*sentence && status == EXIT_DONE && !knew && !quiet)
        status = cli_fail(&c, "%s", sentence);
    return t->stopped ? EXIT_STOPPED : status;
}

int main(int argc, char **argv)
{
    team t = { 0 };
    int level = 0, status;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &t.size);
    t.threads = threads_here();
    if (level < MPI_THREAD_SERIALIZED) {
        if (t.rank == 0)
            fputs("vhem-mpi: this MPI library is not for programs with threads\n", stderr);
        MPI_Finalize();
        return EXIT_FAILED;
    }
    status = run_command(&t, argc, argv);
    MPI_Finalize();
    if (status == EXIT_DONE)
        return status;
    fflush(NULL);
    _Exit(status); /* as vhem does */
}
