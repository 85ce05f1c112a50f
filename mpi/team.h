/* SPDX-License-Identifier: BSD-3-Clause */
/* team.h - the ranks of an MPI job: all run the same command, whose work the library shares among them. */
#ifndef VHEM_MPI_TEAM_H
#define VHEM_MPI_TEAM_H

#include "vhem.h"

#include <stdbool.h>

typedef struct {
    int rank, size;
    int threads;             /* that this rank may use; 0: all cores */
    char sentence[VHEM_WHY]; /* why it cannot work; "" when it can */
    bool over;               /* one has failed or finished, and all know */
    bool stopped;            /* likewise: one was interrupted, and all end */
} team;

/* As vhem_ranks wants it; arg is the team. */
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
