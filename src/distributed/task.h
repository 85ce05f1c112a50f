/* SPDX-License-Identifier: BSD-3-Clause */
/* task.h - what is to be summed over all base HMMs, as bytes that any process can work on: a survey of them
 * (vhem/base_moments.h), or an E-step under given centres. */
#ifndef VH_DISTRIBUTED_TASK_H
#define VH_DISTRIBUTED_TASK_H

#include "core/own.h"
#include "parallel/serialize.h"
#include "vhem/base_moments.h"
#include "vhem/vhem_h3m.h"
#include "vhem/distributed.h"

enum { VH_TASK_EXPECT = VH_BASE_STATISTICS + 1 }; /* kinds before it are surveys */

typedef struct {         /* where a loop that its caller turns stands; vhem_maximise goes on from there */
    bool on;             /* else there is none */
    vh_vhem_options opt; /* floor is [d] or NULL */
    int k;               /* M-steps so far */
    int n_empty, n_revived, n_fell;
    bool repaired;
    double J; /* before the last M-step */
    double best;
    int idle; /* both as in vh_vhem_run */
} vh_task_loop;

typedef struct {
    int kind;
    char version[16], backend[16], family[32];
    char kernel[32]; /* of BLAS */
    bool named;      /* the backend was asked for by its name: it takes work of any size */
    int64_t Kb;
    int d;
    int64_t set; /* fingerprint of the files they are in; 0: they are in memory */
    bool gaps;   /* some base HMM lacks a column: statistics know of missing cells (hmm/missing_columns.h) */
    const vh_emission *emission; /* of a task that was read: the family with the statistics it asks for */
    double *origin, *scale;      /* [d] */
    /* of an E-step */
    vh_h3m *centers;   /* Kr of them */
    double *log_omega; /* [Kr] */
    int tau;
    double N;
    bool statistics, weighted, soft; /* as in vh_reduce_step */
    bool L, z, label;                /* are wanted too */
    vh_task_loop loop;
} vh_task;

/* Fills in what does not depend on the kind.  A family without HMMs has its name from the head of the set. */
vhem_status vh_task_begin(vhem_ctx *ctx, const vh_h3m *head, const vh_shards *shards, int64_t Kb, vh_task *t);
/* The bytes, free(). */
vhem_status vh_task_write(vhem_ctx *ctx, const vh_task *t, void **bytes, size_t *n);
/* A task for these base HMMs: refused when it was made for others, or by another version of the library or
 * another backend, whose sums have other bits. */
vhem_status vh_task_read(vhem_ctx *ctx, const vhem_task *task, const vhem_models *models, vh_task **out);
void vh_task_free(vh_task *t); /* of one that was read; NULL is allowed */
VH_OWNED(vh_task, vh_task_free)

/* Fingerprint of the bytes: partial sums of different tasks are not merged. */
int64_t vh_task_fingerprint(const vhem_task *task);

#endif
