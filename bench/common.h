/* SPDX-License-Identifier: BSD-3-Clause */
/* common.h - what the benchmarks share: clocks, memory, failures. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include "vhem.h"

#include <stdbool.h>

/* Seconds: on the wall, of all threads of this process, of this thread.  On a busy machine time on the wall
 * favours whatever has the shorter runs, because those fit between two interruptions. */
double bench_wall(void);
double bench_process(void);
double bench_thread(void);
/* Time of this thread in the best of many calls of f(arg), for about `budget` seconds. */
double bench_best(void (*f)(void *arg), void *arg, double budget);

/* A line of /proc/self/status, "VmRSS:" for instance, in MB; 0 where there is none. */
double bench_memory(const char *key);

/* Is the backend of this name usable here? */
bool bench_usable(const char *name);
const char *bench_problem(const char *name); /* why a backend cannot be used here; NULL: it can */

/* Ends the program with the sentence of the context (NULL: of the status), unless st is VHEM_OK. */
void bench_need(vhem_ctx *ctx, vhem_status st);
/* A context with the backend of this name. */
vhem_ctx *bench_context(const char *backend);

#endif
