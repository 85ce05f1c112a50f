/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - vhem-mpi: commands of vhem on all ranks of an MPI job.  The files it writes are those of vhem, to
 * the last bit; it prints what rank 0 has to say.  All ranks run the command, and the library deals out what
 * is to be done; only where HMMs are clustered rank 0 runs it alone, and asks the others for sums over the
 * models, which they read from disk. */
#define _GNU_SOURCE
#include "team.h"

#include "cli.h"

#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    cli c; /* the first: a command knows nothing of the rest */
    team *t;
    bool open;  /* rank 0: the others have the models open */
    bool waits; /* rank 0: the others work on its tasks until it ends */
} run;

/* The cores of this machine are shared by the ranks on it, unless each is bound to its own. */
static int threads_here(void)
{
    MPI_Comm near;
    cpu_set_t mine;
    int ranks = 1, cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Comm_size(near, &ranks);
    MPI_Comm_free(&near);
    if (sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_COUNT(&mine) < cores)
        return CPU_COUNT(&mine);
    return cores / ranks > 0 ? cores / ranks : 1;
}

/* The models are opened when they are first worked on: by then the command has read its arguments. */
static vhem_status expect(void *arg, const vhem_task *task, vhem_partial **total, char *why)
{
    run *r = arg;
    if (!r->open)
        team_open(r->t, r->c.arg[0], vhem_ctx_backend(r->c.ctx),
                  r->c.threads == r->t->threads ? 0 : r->c.threads);
    r->open = true;
    return team_expect(r->t, task, total, why);
}

/* As cli.h wants it. */
static int deal(cli *c, bool *together)
{
    run *r = (run *)c;
    void *bytes = together;
    size_t n = sizeof *together;
    char why[VHEM_WHY] = "";
    if (team_pass(r->t, 0, 1, &bytes, &n, why) != VHEM_OK)
        return cli_fail(c, "%s", why);
    *together = *(bool *)bytes;
    if (bytes != together)
        free(bytes);
    if (*together)
        c->executor = NULL;
    r->waits = !*together && r->t->rank == 0;
    return *together || r->waits ? CLI_GO : team_serve(r->t);
}

/* Can this command line be run on many ranks?  If not, text says why. */
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
    run r = { .c = { .ranks = &ranks, .deal = deal, .threads = t->threads }, .t = t };
    const vhem_executor executor = { expect, &r };
    char text[256];
    bool quiet = t->rank > 0;

    r.c.executor = &executor;
    if (quiet) {
        cli_hear_signals();
        if (!freopen("/dev/null", "w", stdout)) {
            team_leave(t, false, "/dev/null cannot be opened");
            return EXIT_FAILED;
        }
    }
    int status =
        can_run(argc, argv, text, sizeof text) ? cli_main(&r.c, argc, argv) : cli_misuse(&r.c, "%s", text);
    if (r.waits)
        team_end(t, status);
    bool failed = status != EXIT_DONE && status != EXIT_STOPPED, knew = t->over;
    const char *sentence = team_leave(t, status == EXIT_STOPPED, failed ? r.c.why : NULL);
    if (*sentence && status == EXIT_DONE && !knew && !quiet)
        status = cli_fail(&r.c, "%s", sentence);
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
    team_free(&t);
    MPI_Finalize();
    if (status == EXIT_DONE)
        return status;
    fflush(NULL);
    _exit(status); /* as vhem does */
}
