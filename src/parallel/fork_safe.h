/* SPDX-License-Identifier: BSD-3-Clause */
/* fork_safe.h - how many threads a parallel loop may have. */
#ifndef VH_PARALLEL_FORK_SAFE_H
#define VH_PARALLEL_FORK_SAFE_H

/* For num_threads(): `threads`, but 1 in a child process that was forked by a thread which had run a parallel
 * loop before.  The OpenMP runtime of GCC keeps the team of a thread for its next loop; fork() copies its
 * records of that team and not the threads, and the next loop would wait for them forever.  Results do not
 * depend on the number of threads, so such a child is slower and otherwise no different. */
int vh_threads_allowed(int threads);

#endif
