/* SPDX-License-Identifier: BSD-3-Clause */
/* task.c - tasks from another process: worked on, they give partial sums that can be written, or a sentence;
 * and from these come proper HMMs. */
#include "distributed/task.h"

#include "tasks.h"
#include "wire.h"
#include "vhem.h"
#include "vhem/distributed.h"

#include <string.h>

/* A loop after one M-step, or at its beginning. */
const void *fuzz_sound(unsigned kind, size_t *size)
{
    static vhem_step *step;
    vhem_partial *p = NULL;
    if (!step)
        fuzz_require(vhem_expect(fuzz_ctx(), fuzz_models(), fuzz_task(), 0, 1, &p) == VHEM_OK
                         && vhem_maximise(fuzz_ctx(), fuzz_models(), fuzz_task(), p, &step) == VHEM_OK
                         && step->next,
                     "%s", vhem_ctx_error(fuzz_ctx()));
    vhem_free(p);
    const vhem_task *t = kind % 2 ? step->next : fuzz_task();
    *size = t->n;
    return t->bytes;
}

static void check_step(const vhem_task *task, const vhem_partial *p)
{
    vhem_step *step = (vhem_step *)fuzz_untouched;
    vhem_status st = vhem_maximise(fuzz_ctx(), fuzz_models(), task, p, &step);
    if (st != VHEM_OK) {
        fuzz_check_failure(st, step, fuzz_untouched);
        return;
    }
    fuzz_check_models(step->centers);
    vhem_free(step);
}

/* Long virtual samples are slow, as they should be. */
static bool is_quick(const vhem_task *task)
{
    vh_task *t = NULL;
    bool quick = vh_task_read(fuzz_ctx(), task, fuzz_models(), &t) != VHEM_OK || t->opt.tau < 200;
    vh_task_free(t);
    return quick;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const vhem_task task = { bytes, size, 1 };
    vhem_partial *p = (vhem_partial *)fuzz_untouched;
    void *written = NULL;
    size_t n;
    if (!is_quick(&task))
        return 0;
    vhem_status st = vhem_expect(fuzz_ctx(), fuzz_models(), &task, 0, 1, &p);
    if (st != VHEM_OK) {
        fuzz_check_failure(st, p, fuzz_untouched);
        return 0;
    }
    fuzz_require(vhem_partial_write(fuzz_ctx(), p, &written, &n) == VHEM_OK, "%s",
                 vhem_ctx_error(fuzz_ctx()));
    check_step(&task, p);
    vhem_free(written);
    vhem_free(p);
    return 0;
}
