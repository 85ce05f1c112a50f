/* SPDX-License-Identifier: BSD-3-Clause */
/* tasks.h - a few HMMs, and sound tasks and partial sums of them, made once. */
#ifndef VH_TESTS_FUZZ_TASKS_H
#define VH_TESTS_FUZZ_TASKS_H

#include "fuzz.h"
#include "vhem.h"
#include "vhem/distributed.h"

static const char fuzz_base[] =
    "{\"format\": \"vhem-h3m\", \"version\": 1, \"emission\": \"gaussian-diag\", \"d\": 1,"
    " \"omega\": [0.25, 0.5, 0.25], \"hmms\": ["
    "{\"S\": 1, \"M\": 1, \"pi\": [1], \"A\": [[1]], \"c\": [[1]], \"mu\": [[[0.5]]], \"cov\": [[[2]]]},"
    "{\"S\": 2, \"M\": 1, \"pi\": [1, 0], \"A\": [[0.5, 0.5], [0, 1]], \"c\": [[1], [1]],"
    " \"mu\": [[[0.5]], [[3]]], \"cov\": [[[2]], [[1]]]},"
    "{\"S\": 1, \"M\": 1, \"pi\": [1], \"A\": [[1]], \"c\": [[1]], \"mu\": [[[9.5]]], \"cov\": [[[2]]]}]}";

static inline const vhem_models *fuzz_models(void)
{
    static vhem_models *m;
    if (!m)
        fuzz_require(vhem_models_load(fuzz_ctx(), fuzz_file("base.json", fuzz_base, sizeof fuzz_base - 1), &m)
                         == VHEM_OK,
                     "%s", vhem_ctx_error(fuzz_ctx()));
    return m;
}

/* The first task of a loop, from the models themselves as centres; repairs are on. */
static inline const vhem_task *fuzz_task(void)
{
    static vhem_task *task;
    vhem_cluster_options opt;
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    opt.tau = 5;
    opt.max_iter = 4;
    opt.repair = 1;
    if (!task)
        fuzz_require(vhem_task_new(fuzz_ctx(), fuzz_models(), fuzz_models(), &opt, &task) == VHEM_OK, "%s",
                     vhem_ctx_error(fuzz_ctx()));
    return task;
}

#endif
