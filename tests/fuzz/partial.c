/* SPDX-License-Identifier: BSD-3-Clause */
/* partial.c - partial sums from another process: written and read again they are the same bytes, and centres
 * made of them are proper HMMs, or there is a sentence. */
#include "distributed/partial.h"

#include "distributed/task.h"
#include "tasks.h"
#include "wire.h"
#include "vhem.h"
#include "vhem/distributed.h"

#include <string.h>

const void *fuzz_sound(unsigned kind, size_t *size)
{
    static void *bytes;
    static size_t n;
    vhem_partial *p = NULL;
    (void)kind;
    if (!bytes)
        fuzz_require(vhem_expect(fuzz_ctx(), fuzz_models(), fuzz_task(), 0, 1, &p) == VHEM_OK
                         && vhem_partial_write(fuzz_ctx(), p, &bytes, &n) == VHEM_OK,
                     "%s", vhem_ctx_error(fuzz_ctx()));
    vhem_free(p);
    *size = n;
    return bytes;
}

static vhem_partial *parse(const void *bytes, size_t n)
{
    vhem_partial *p = (vhem_partial *)fuzz_untouched;
    vhem_status st = vhem_partial_read(fuzz_ctx(), bytes, n, &p);
    if (st == VHEM_OK)
        return p;
    fuzz_check_failure(st, p, fuzz_untouched);
    return NULL;
}

static void check_bytes(const vhem_partial *p)
{
    void *first = NULL, *second = NULL;
    size_t n = 0, m = 0;
    fuzz_require(vhem_partial_write(fuzz_ctx(), p, &first, &n) == VHEM_OK, "%s", vhem_ctx_error(fuzz_ctx()));
    vhem_partial *again = parse(first, n);
    fuzz_require(again, "what was written is not read: %s", vhem_ctx_error(fuzz_ctx()));
    fuzz_require(vhem_partial_write(fuzz_ctx(), again, &second, &m) == VHEM_OK, "%s",
                 vhem_ctx_error(fuzz_ctx()));
    fuzz_require(n == m && memcmp(first, second, n) == 0, "%zu bytes became %zu others", n, m);
    vhem_free(again);
    vhem_free(first);
    vhem_free(second);
}

static void check_centres(vhem_partial *p)
{
    vhem_step *step = (vhem_step *)fuzz_untouched;
    p->task = vh_task_fingerprint(fuzz_task());
    vhem_status st = vhem_maximise(fuzz_ctx(), fuzz_models(), fuzz_task(), p, &step);
    if (st != VHEM_OK) {
        fuzz_check_failure(st, step, fuzz_untouched);
        return;
    }
    fuzz_check_models(step->centers);
    vhem_free(step);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    vhem_partial *p = parse(bytes, size);
    if (!p)
        return 0;
    check_bytes(p);
    check_centres(p);
    vhem_free(p);
    return 0;
}
