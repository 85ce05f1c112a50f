/* SPDX-License-Identifier: BSD-3-Clause */
/* common.c - see common.h. */
#include "common.h"
#include "vhem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_wall(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double bench_process(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

double bench_thread(void)
{
    return seconds(CLOCK_THREAD_CPUTIME_ID);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The clock of a thread jumps now and then, also downwards: the very smallest time may be none.  The smallest
 * tenth is passed over. */
double bench_best(void (*f)(void *arg), void *arg, double budget)
{
    enum { MOST = 4096 };
    double t[MOST], end = bench_thread() + budget;
    int n = 0;
    do {
        double t0 = bench_thread();
        f(arg);
        t[n++] = bench_thread() - t0;
    } while (n < MOST && (bench_thread() < end || n < 3));
    qsort(t, (size_t)n, sizeof *t, ascending);
    return t[n / 10];
}

double bench_memory(const char *key)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kb = 0;
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            kb = atof(line + strlen(key));
    if (f)
        fclose(f);
    return kb / 1024;
}

const char *bench_problem(const char *name)
{
    vhem_backend_facts facts;
    for (int i = 0; vhem_backend_info(i, &facts) == VHEM_OK; i++)
        if (strcmp(facts.name, name) == 0)
            return facts.problem;
    return "there is no backend of this name";
}

bool bench_usable(const char *name)
{
    return !bench_problem(name);
}

void bench_need(vhem_ctx *ctx, vhem_status st)
{
    if (st == VHEM_OK)
        return;
    fprintf(stderr, "benchmark: %s\n", ctx ? vhem_ctx_error(ctx) : vhem_status_text(st));
    exit(1);
}

vhem_ctx *bench_context(const char *backend)
{
    vhem_ctx_options opt;
    vhem_ctx *ctx = NULL;
    VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
    opt.backend = backend;
    bench_need(NULL, vhem_ctx_new(&opt, &ctx));
    return ctx;
}
