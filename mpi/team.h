/* SPDX-License-Identifier: BSD-3-Clause */
/* team.h - the ranks of an MPI job: all run the same command, and the library shares its work among them. */
#ifndef VHEM_MPI_TEAM_H
#define VHEM_MPI_TEAM_H

#include "vhem.h"

#include <stdbool.h>

typedef struct {
    int rank, size;
    int threads;             /* for this rank; 0: all cores */
    char sentence[VHEM_WHY]; /* error message; "" if none */
    bool over;               /* a rank has failed or finished, and all know */
    bool stopped;            /* a rank was interrupted, and all end */
} team;

/* The callback for vhem_ranks; arg is the team. */
vhem_status team_pass(void *arg, int from, int everyone, void **bytes, size_t *n, char *why);
/* Ends the command on this rank; stopped: it was interrupted; why: its error message, or NULL.  Returns the
 * error message of a rank that failed, "" if none did. */
const char *team_leave(team *t, bool stopped, const char *why);

/* bytes.c: messages of any size, with idle waits; out of memory aborts the job. */
void bytes_share(int root, void *bytes, size_t n); /* broadcasts from root */
void bytes_send(const void *bytes, size_t n, int to);
void bytes_receive(void *bytes, size_t n, int from);
void bytes_gather(int64_t mine, int64_t *all); /* gathers one number per rank on every rank */
void *bytes_room(size_t n);

#endif
