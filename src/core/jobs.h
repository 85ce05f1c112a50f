/* SPDX-License-Identifier: BSD-3-Clause */
/* jobs.h - many jobs that know nothing of each other, side by side. */
#ifndef VH_CORE_JOBS_H
#define VH_CORE_JOBS_H

#include "core/serialize.h"

typedef struct {
    int64_t n;
    const char *what; /* the word for progress; NULL: none */
    bool inside;      /* a job can use several threads: fewer jobs than threads run one after the other, with
                         all threads in each */
    bool nested;      /* a job has loops of its own, which all threads share with the other jobs
                         (core/parallel.h); its memory is its own */
    bool logs;        /* what a job logs is the user's business */
    /* Job i, with a context of its own, whose threads it may use; worker: number of the first of them. */
    vhem_status (*run)(vhem_ctx *ctx, void *arg, int64_t i, int worker);
    /* Walks what job i has made, to or from another process; NULL: every process runs all jobs. */
    void (*walk)(vhem_ctx *ctx, void *arg, int64_t i, vh_serial *w);
    void *arg;
} vh_jobs;

/* After a failure no further jobs are begun.  Returns the status of the first of the jobs, by number, that
 * fails, with its sentence in ctx and its number in *failed, else -1; VHEM_ESTOPPED after a stop, which in a
 * job is no failure.  Where several processes make this call, each runs some of the jobs and has the results
 * of all in the end. */
vhem_status vh_run_jobs(vhem_ctx *ctx, const vh_jobs *jobs, int64_t *failed);

#endif
