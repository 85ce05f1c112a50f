/* SPDX-License-Identifier: BSD-3-Clause */
/* fork_safe.c - see fork_safe.h. */
#include "parallel/fork_safe.h"

#include "os/system.h"

#include <stdint.h>

/* The process in which this thread first ran a parallel loop; 0: none yet.  Thread-local, like the team: a
 * thread that never ran a loop can fork a child that uses all cores. */
static _Thread_local int64_t first_at;

int vh_threads_allowed(int threads)
{
    if (threads <= 1)
        return 1;
    int64_t here = vh_process_id();
    if (first_at == 0)
        first_at = here;
    return first_at == here ? threads : 1;
}
