/* SPDX-License-Identifier: BSD-3-Clause */
/* fd.c - see fd.h. */
#define _GNU_SOURCE
#include "os/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { FIRST = 3 }; /* above stdin, stdout and stderr */

int vh_fd_copy(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, FIRST);
}

static int above(int fd)
{
    if (fd < 0 || fd >= FIRST)
        return fd;
    int copy = vh_fd_copy(fd), why = errno;
    close(fd);
    errno = why;
    return copy;
}

int vh_fd_open(const char *path, int flags, mode_t mode)
{
    return above(open(path, flags | O_CLOEXEC, mode));
}

int vh_fd_scratch(const char *folder)
{
    int fd = vh_fd_open(folder, O_TMPFILE | O_RDWR | O_EXCL, 0600);
    char *path = NULL;
    if (fd >= 0 || asprintf(&path, "%s/vhem-XXXXXX", folder) < 0)
        return fd;
    fd = above(mkostemp(path, O_CLOEXEC)); /* some file systems do not support O_TMPFILE */
    int why = errno;
    if (fd >= 0)
        unlink(path);
    free(path);
    errno = why;
    return fd;
}

FILE *vh_file_open(const char *path, const char *mode)
{
    int fd = vh_fd_open(path, mode[0] == 'w' ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0666);
    FILE *f = fd < 0 ? NULL : fdopen(fd, mode);
    int why = errno;
    if (!f && fd >= 0)
        close(fd);
    errno = why;
    return f;
}

vh_fd_std vh_fd_reserve_std(void)
{
    vh_fd_std held = { 0 };
    while (held.n < FIRST) {
        int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (fd >= FIRST)
            close(fd);
        if (fd < 0 || fd >= FIRST)
            break;
        held.fd[held.n++] = fd;
    }
    return held;
}

void vh_fd_release_std(const vh_fd_std *held)
{
    for (int k = 0; k < held->n; k++)
        close(held->fd[k]);
}

void vh_fd_close(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}
