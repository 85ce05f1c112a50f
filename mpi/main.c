/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - vhem-mpi: commands of vhem on all ranks of an MPI job.  The files it writes are those of vhem, to
 * the last bit; it prints what rank 0 has to say.  cluster and tree run on rank 0, which asks the others for
 * sums; fit and compare run on all ranks alike, and the library deals out the models to be fitted and the
 * rows of the matrix. */
#define _GNU_SOURCE
#include "team.h"

#include "cli.h"

#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef struct { /* rank 0: the command and its team */
    cli c;
    team *t;
    bool open;
} master;

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
    master *m = arg;
    if (!m->open)
        team_open(m->t, m->c.arg[0], vhem_ctx_backend(m->c.ctx),
                  m->c.threads == m->t->threads ? 0 : m->c.threads);
    m->open = true;
    return team_expect(m->t, task, total, why);
}

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && strcmp(word, *words) != 0)
        words++;
    return *words != NULL;
}

static const char *const for_tasks[] = { "cluster", "tree", NULL }, *const together[] = { "fit", "compare",
                                                                                          NULL };

/* Can this command line be run on many ranks?  If not, text says why. */
static bool can_run(int argc, char **argv, char *text, size_t size)
{
    const char *word = argc > 1 ? argv[1] : "";
    text[0] = 0;
    if (word[0] && word[0] != '-' && strcmp(word, "help") != 0 && !is_one_of(word, for_tasks)
        && !is_one_of(word, together))
        snprintf(text, size,
                 "'%s' does not run on many ranks: vhem-mpi has cluster, compare, fit and tree; use vhem %s",
                 word, word);
    for (int k = 2; k < argc && !text[0]; k++)
        if (strcmp(argv[k], "-") == 0 && argv[k - 1][0] != '-')
            snprintf(text, size, "standard input cannot be read by all ranks; give the %s as a file",
                     strcmp(word, "fit") == 0 ? "data" : "models");
    return !text[0];
}

static int run_with_tasks(team *t, int argc, char **argv)
{
    master m = { .t = t };
    const vhem_executor executor = { expect, &m };
    char text[256];
    int status;

    if (t->rank > 0) {
        signal(SIGINT, SIG_IGN); /* rank 0 saves the best so far and ends the others */
        return team_serve(t);
    }
    m.c.executor = &executor;
    m.c.threads = t->threads;
    status =
        can_run(argc, argv, text, sizeof text) ? cli_main(&m.c, argc, argv) : cli_misuse(&m.c, "%s", text);
    team_end(t, status);
    return status;
}

static int run_together(team *t, int argc, char **argv)
{
    const vhem_ranks ranks = { t->rank, t->size, team_pass, t };
    cli c = { .ranks = &ranks, .threads = t->threads };
    char text[256];
    bool quiet = t->rank > 0;

    if (quiet) {
        signal(SIGINT, SIG_IGN); /* rank 0 tells them when it is time to stop */
        signal(SIGTERM, SIG_IGN);
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
    status = (argc > 1 && is_one_of(argv[1], together) ? run_together : run_with_tasks)(&t, argc, argv);
    team_free(&t);
    MPI_Finalize();
    if (status == EXIT_DONE)
        return status;
    fflush(NULL);
    _exit(status); /* as vhem does */
}
