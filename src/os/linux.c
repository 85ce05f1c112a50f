/* SPDX-License-Identifier: BSD-3-Clause */
/* linux.c - what Linux does in its own way; the rest is in posix.c. */
#define _GNU_SOURCE
#include "os/posix.h"

#include "os/fd.h"
#include "os/slot.h"
#include "os/stream.h"
#include "os/system.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

int vh_fd_scratch(const char *folder)
{
    int fd = vh_posix_open(folder, O_TMPFILE | O_RDWR | O_EXCL, 0600);
    return fd >= 0 ? fd : vh_posix_scratch(folder); /* some file systems do not support O_TMPFILE */
}

/* Not flock(), which is left to the HDF5 library. */
bool vh_posix_lock_slot(int fd)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    return fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

int vh_slot_nameless(const char *path, char **name)
{
    enum { SIZE = 40 };
    size_t n = (size_t)(vh_path_name(path) - path);
    char *folder = n > 0 ? strndup(path, n) : strdup("."), *at = malloc(SIZE);
    int fd = folder && at ? vh_posix_open(folder, O_TMPFILE | O_RDWR, 0666) : -1;

    free(folder);
    if (fd >= 0)
        snprintf(at, SIZE, "/proc/self/fd/%d", fd);
    if (fd >= 0 && access(at, F_OK) == 0) {
        *name = at;
        return fd;
    }
    if (fd >= 0) /* without /proc the file could not be named later */
        close(fd);
    free(at);
    return -1;
}

bool vh_fd_reserve(int fd, int64_t size)
{
    int why = posix_fallocate(fd, 0, (off_t)size);
    errno = why ? why : errno;
    return why == 0;
}

void vh_fd_expect(int fd, int64_t at, int64_t n)
{
    (void)!posix_fadvise(fd, (off_t)at, (off_t)n, POSIX_FADV_WILLNEED);
}

#ifdef __GLIBC__
void vh_memory_trim(void)
{
    malloc_trim(0);
}

static ssize_t pass_on(void *cookie, const char *bytes, size_t n)
{
    vh_filter *const *write = cookie;
    return (ssize_t)(*write)(bytes, n);
}

FILE *vh_stdout_filter(vh_filter *write)
{
    static vh_filter *used;
    FILE *front = fopencookie(&used, "w", (cookie_io_functions_t){ .write = pass_on }), *behind = stdout;
    if (!front)
        return NULL;
    used = write;
    stdout = front; /* a variable, in the GNU C library */
    setvbuf(stdout, NULL, _IOLBF, 0);
    return behind;
}
#else
void vh_memory_trim(void)
{
}

FILE *vh_stdout_filter(vh_filter *write) /* stdout is a constant */
{
    (void)write;
    return NULL;
}
#endif

int vh_cores_usable(void)
{
    cpu_set_t mine;
    return sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : vh_cores();
}

bool vh_memory_limit(int64_t bytes)
{
    const struct rlimit limit = { (rlim_t)bytes, (rlim_t)bytes };
    return setrlimit(RLIMIT_DATA, &limit) == 0;
}
