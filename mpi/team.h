/* SPDX-License-Identifier: BSD-3-Clause */
/* team.h - the ranks of an MPI job that work on tasks of rank 0.  Rank 0 runs the command as anybody would, and asks
 * the others for sums over the models; they hold the models open and do what they are told until the end. */
#ifndef VHEM_MPI_TEAM_H
#define VHEM_MPI_TEAM_H

#include "vhem/vhem.h"

typedef struct {
    int rank, size;
    int threads;             /* that this rank may use; 0: all cores */
    vhem_ctx *ctx;           /* of the work on tasks; NULL before the models are opened */
    vhem_models *models;     /* likewise */
    char sentence[VHEM_WHY]; /* why it cannot work; "" when it can */
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

#endif
