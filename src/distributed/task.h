/* SPDX-License-Identifier: BSD-3-Clause */
/* task.h - sums to compute over all base HMMs, as bytes that any process can work on: a survey
 * (vhem/base_moments.h), or an E-step for given centres. */
#ifndef VH_DISTRIBUTED_TASK_H
#define VH_DISTRIBUTED_TASK_H

#include "core/own.h"
#include "parallel/serialize.h"
#include "vhem/base_moments.h"
#include "vhem/vhem_h3m.h"
#include "vhem/distributed.h"

enum { VH_TASK_EXPECT = VH_BASE_STATISTICS + 1 }; /* lower kinds are surveys */

typedef struct {
    int kind;
    char version[16], backend[16], family[32];
    char kernel[32]; /* of BLAS */
    bool named;      /* the backend was requested by name: it takes work of any size */
    int64_t Kb;
    int d;
    int64_t set; /* fingerprint of the model files; 0: models in memory */
    bool gaps;   /* some base HMM lacks a column: statistics handle missing cells (hmm/missing_columns.h) */
    const vh_emission *emission; /* set by vh_task_read: the family with the required statistics */
    double *origin, *scale;      /* [d] */
    /* of an E-step */
    vh_h3m *centers;       /* Kr centres */
    double *log_omega;     /* [Kr] */
    vh_vhem_options opt;   /* tau, N and weighted; of a loop, the rest too */
    bool statistics, soft; /* as in vh_reduce_step */
    bool L, z, label;      /* tables requested */
    /* of a caller-driven EM loop, which vhem_maximise continues */
    bool loops;      /* false: no loop; opt.floor is [d] or NULL */
    int k;           /* number of M-steps so far */
    bool repaired;   /* by the last of them */
    double J;        /* before it */
    vh_vhem_run run; /* counts, best and idle */
} vh_task;

/* Fills in the fields that do not depend on the kind.  `head` provides the family, also for a set on disk. */
vhem_status vh_task_begin(vhem_ctx *ctx, const vh_h3m *head, const vh_shards *shards, int64_t Kb, vh_task *t);
/* Serializes the task; the caller frees *bytes. */
vhem_status vh_task_write(vhem_ctx *ctx, const vh_task *t, void **bytes, size_t *n);
/* Reads a task for these base HMMs; rejects one made for other HMMs, or by another version of the library or
 * another backend, whose sums have other bits. */
vhem_status vh_task_read(vhem_ctx *ctx, const vhem_task *task, const vhem_models *models, vh_task **out);
void vh_task_free(vh_task *t); /* frees a task from vh_task_read; NULL is allowed */
VH_OWNED(vh_task, vh_task_free)

/* Fingerprint of the bytes: partial sums of different tasks cannot be merged. */
int64_t vh_task_fingerprint(const vhem_task *task);

#endif
