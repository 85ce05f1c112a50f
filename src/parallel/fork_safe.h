/* SPDX-License-Identifier: BSD-3-Clause */
/* fork_safe.h - number of threads that a parallel loop may use. */
#ifndef VH_PARALLEL_FORK_SAFE_H
#define VH_PARALLEL_FORK_SAFE_H

/* For num_threads(): returns `threads`, but 1 in a child process forked by a thread that had run a parallel
 * loop.  GCC's OpenMP runtime keeps a thread's team for its next loop; fork() copies the record of the team
 * but not its threads, and the next loop would wait for them forever.  Results stay the same. */
int vh_threads_allowed(int threads);

#endif
