/* SPDX-License-Identifier: BSD-3-Clause */
/* fd.h - opens every file of the library.
 *
 * Never uses descriptors 0, 1 and 2 for a file: if a program starts with standard error closed, open()
 * returns 2, and the next warning printed would end up in the file. */
#ifndef VH_OS_FD_H
#define VH_OS_FD_H

#include <stdio.h>
#include <sys/types.h>

/* Like open(), but close-on-exec and above 2; -1 and errno on failure. */
int vh_fd_open(const char *path, int flags, mode_t mode);
/* Duplicates fd, close-on-exec and above 2; fd stays open. */
int vh_fd_copy(int fd);
/* Creates a nameless file in a folder for reading and writing; closing it deletes it. */
int vh_fd_scratch(const char *folder);
/* Like fopen() with mode "r" or "w", optionally followed by "b". */
FILE *vh_file_open(const char *path, const char *mode);

/* For libraries that open files themselves: occupies closed descriptors up to 2 until the release. */
typedef struct {
    int n, fd[3];
} vh_fd_std;
vh_fd_std vh_fd_reserve_std(void);
void vh_fd_release_std(const vh_fd_std *held);

void vh_fd_close(const int *fd); /* VH_CLEANUP(vh_fd_close) int fd = -1; */

#endif
