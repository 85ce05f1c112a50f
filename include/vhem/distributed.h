/* SPDX-License-Identifier: BSD-3-Clause */
/* distributed.h - VHEM by many processes that share no memory: tasks as bytes, partial sums, the loop of
 * VHEM step by step.  Processes that make the same calls use vhem_ranks of the context instead. */
/* clang-format off */
#ifndef VHEM_DISTRIBUTED_H
#define VHEM_DISTRIBUTED_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- many machines -------------------------------------------------------------------------------------
 * All that method vhem needs to know about the HMMs are sums over them.  They are made in chunks of 512, by
 * number, and added in one fixed tree, so the bits are the same whichever process works on which chunks, in
 * any order.  A task says, as bytes, what to sum; the sums depend on the models and the task alone. */

typedef struct {
    const void *bytes;
    size_t      n;                   /* of them */
    int64_t     chunks;              /* of all models */
} vhem_task;

struct vhem_executor {                     /* who makes sums over all models: an option of vhem_cluster */
    /* Has all chunks of the task worked on, by vhem_expect in whatever processes, and hands over what
     * vhem_partial_merge made of them.  On failure a sentence goes to why [VHEM_WHY]. */
    vhem_status (*expect)(void *arg, const vhem_task *, vhem_partial **total, char *why);
    void       *arg;
};

/* The sums over chunks first .. first+chunks-1 of the models.  Refused when the task was made for other
 * models, by another version of the library or with another backend. */
VHEM_RESULT vhem_status vhem_expect(vhem_ctx *, const vhem_models *, const vhem_task *, int64_t first,
                                    int64_t chunks, vhem_partial **out);
/* In any order; refused when a chunk is in both. */
VHEM_RESULT vhem_status vhem_partial_merge(vhem_ctx *, vhem_partial *into, const vhem_partial *from);
/* For a process on a machine of the same kind; the bytes are released with vhem_free. */
VHEM_RESULT vhem_status vhem_partial_write(vhem_ctx *, const vhem_partial *, void **bytes, size_t *n);
VHEM_RESULT vhem_status vhem_partial_read(vhem_ctx *, const void *bytes, size_t n, vhem_partial **out);

/* ---- models -> clusters -> hierarchy ------------------------------------------------------------------- */

typedef struct {                     /* an M-step; released with vhem_free */
    double      J;                   /* the bound of the centres that the task had, in nats */
    int         n_iter, converged;   /* M-steps before it */
    int         n_empty, n_revived, n_fell;     /* so far, as in vhem_clustering */
    const vhem_models *centers;      /* after it, repairs and all; those of the task when the run has ended */
    const vhem_task *next;           /* NULL: the run has ended */
} vhem_step;

/* To run the loop of VHEM yourself, with the bits of vhem_cluster from the same start: make the first task
 * from some centres; call vhem_expect and vhem_partial_merge; vhem_maximise then makes the new centres and
 * the next task from the sums over all chunks.  The task is released with vhem_free. */
VHEM_RESULT vhem_status vhem_task_new(vhem_ctx *, const vhem_models *, const vhem_models *centers,
                                      const vhem_cluster_options *, vhem_task **out);
VHEM_RESULT vhem_status vhem_maximise(vhem_ctx *, const vhem_models *, const vhem_task *,
                                      const vhem_partial *total, vhem_step **out);

#ifdef __cplusplus
}
#endif
#endif
