/* SPDX-License-Identifier: BSD-3-Clause */
/* posix.h - what posix.c shares with the file of the system. */
#ifndef VH_OS_POSIX_H
#define VH_OS_POSIX_H

#include <stdbool.h>
#include <sys/types.h>

/* Like open(), but close-on-exec and above 2. */
int vh_posix_open(const char *path, int flags, mode_t mode);
/* Moves a descriptor above 2. */
int vh_posix_above(int fd);
/* vh_fd_scratch by a name that is removed at once. */
int vh_posix_scratch(const char *folder);
/* Locks the open file, not the process, without waiting; errno EAGAIN if another holds it. */
bool vh_posix_lock_slot(int fd);

#endif
