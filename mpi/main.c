/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c - vhem-mpi: commands of vhem on all ranks of an MPI job.  Rank 0 is the command itself; what it prints and
 * writes is what vhem prints and writes, to the last bit. */
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

static int run(team *t, int argc, char **argv)
{
    master m = { .t = t };
    const vhem_executor executor = { expect, &m };
    const char *word = argc > 1 ? argv[1] : "";

    m.c.executor = &executor;
    m.c.threads = t->threads;
    if (strcmp(word, "cluster") == 0 || strcmp(word, "tree") == 0)
        for (int k = 2; k < argc; k++)
            if (strcmp(argv[k], "-") == 0 && argv[k - 1][0] != '-')
                return cli_misuse(&m.c,
                                  "standard input cannot be read by all ranks; give the models as a file");
    if (word[0] && word[0] != '-' && strcmp(word, "help") != 0 && strcmp(word, "cluster") != 0
        && strcmp(word, "tree") != 0)
        return cli_misuse(&m.c, "'%s' does not run on many ranks: vhem-mpi has cluster and tree; use vhem %s",
                          word, word);
    return cli_main(&m.c, argc, argv);
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
    if (t.rank == 0) {
        status = run(&t, argc, argv);
        team_end(&t, status);
    } else {
        signal(SIGINT, SIG_IGN); /* rank 0 saves the best so far and ends the others */
        status = team_serve(&t);
    }
    team_free(&t);
    MPI_Finalize();
    if (status == EXIT_DONE)
        return status;
    fflush(NULL);
    _exit(status); /* as vhem does */
}
