/* SPDX-License-Identifier: BSD-3-Clause */
/* team.h - the ranks of an MPI job, in one of two ways.
 *
 * They work on tasks of rank 0 (team.c): it runs the command as anybody would, and asks the others for sums
 * over the models; they hold the models open and do what they are told until the end.  Or all run the same
 * command (together.c), whose parts the library deals out to them; rank 0 alone prints and writes. */
#ifndef VHEM_MPI_TEAM_H
#define VHEM_MPI_TEAM_H

#include "vhem/vhem.h"

#include <stdbool.h>

typedef struct {
    int rank, size;
    int threads;             /* that this rank may use; 0: all cores */
    vhem_ctx *ctx;           /* of the work on tasks; NULL before the models are opened */
    vhem_models *models;     /* likewise */
    char sentence[VHEM_WHY]; /* why it cannot work; "" when it can */
    bool over;               /* ranks that run the same command: one has failed or finished, and all know */
    bool stopped;            /* likewise: one was interrupted, and all end */
} team;

/* Rank 0: has every rank open the models of a file with this backend. */
void team_open(team *t, const char *path, const char *backend, int threads);
/* Rank 0: as vhem_executor wants it, arg is the team.  The models have been opened. */
vhem_status team_expect(void *arg, const vhem_task *task, vhem_partial **total, char *why);
/* Rank 0: the others leave with this exit status. */
void team_end(team *t, int status);
/* Every other rank: works until the end; the exit status to leave with. */
int team_serve(team *t);
void team_free(team *t);

/* All ranks run the same command: as vhem_ranks wants it, arg is the team. */
vhem_status team_pass(void *arg, int from, int everyone, void **bytes, size_t *n, char *why);
/* The end of the command on this rank; stopped: it was interrupted; why: what it failed with, NULL: it has
 * not.  Returns the sentence of the rank that has failed, "" when none has. */
const char *team_leave(team *t, bool stopped, const char *why);

/* bytes.c: waiting as it should be.  Bytes of any number, and memory for them that is there. */
void bytes_share(int root, void *bytes, size_t n); /* those of root become those of all */
void bytes_send(const void *bytes, size_t n, int to);
void bytes_receive(void *bytes, size_t n, int from);
void bytes_gather(int64_t mine, int64_t *all); /* one number of every rank, for every rank */
void *bytes_room(size_t n);

#endif
