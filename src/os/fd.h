/* SPDX-License-Identifier: BSD-3-Clause */
/* fd.h - every file of the library is opened here.
 *
 * Descriptors 0, 1 and 2 are never used for a file: in a program that was started with standard error closed,
 * open() hands out number 2, and the next warning that anybody prints lands in the file. */
#ifndef VH_OS_FD_H
#define VH_OS_FD_H

#include <stdio.h>
#include <sys/types.h>

/* As open(), close-on-exec and above 2; -1 and errno. */
int vh_fd_open(const char *path, int flags, mode_t mode);
/* Another number for fd, close-on-exec and above 2; fd stays open. */
int vh_fd_copy(int fd);
/* A file without a name in a folder, to write and read; it is gone when it is closed. */
int vh_fd_scratch(const char *folder);
/* As fopen() with mode "r" or "w", which may be followed by "b". */
FILE *vh_file_open(const char *path, const char *mode);

/* For libraries that open files themselves: until the release, closed descriptors up to 2 are taken. */
typedef struct {
    int n, fd[3];
} vh_fd_std;
vh_fd_std vh_fd_reserve_std(void);
void vh_fd_release_std(const vh_fd_std *held);

void vh_fd_close(const int *fd); /* VH_CLEANUP(vh_fd_close) int fd = -1; */

#endif
