/* SPDX-License-Identifier: BSD-3-Clause */
/* macos.c - what macOS does in its own way; the rest is in posix.c. */
#include "os/posix.h"

#include "os/fd.h"
#include "os/slot.h"
#include "os/stream.h"
#include "os/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

int vh_fd_scratch(const char *folder)
{
    return vh_posix_scratch(folder);
}

bool vh_posix_lock_slot(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

int vh_slot_nameless(const char *path, char **name)
{
    (void)path;
    (void)name;
    return -1;
}

bool vh_fd_reserve(int fd, int64_t size)
{
    fstore_t room = { .fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = (off_t)size };
    return fcntl(fd, F_PREALLOCATE, &room) != -1 && ftruncate(fd, (off_t)size) == 0;
}

void vh_fd_expect(int fd, int64_t at, int64_t n)
{
    enum { MOST = 1 << 30 };
    struct radvisory soon = { .ra_offset = (off_t)at, .ra_count = (int)(n < MOST ? n : MOST) };
    fcntl(fd, F_RDADVISE, &soon);
}

void vh_memory_trim(void)
{
}

static int pass_on(void *cookie, const char *bytes, int n)
{
    vh_filter *const *write = cookie;
    return (int)(*write)(bytes, (size_t)n);
}

FILE *vh_stdout_filter(vh_filter *write)
{
    static vh_filter *used;
    FILE *front = fwopen(&used, pass_on), *behind = stdout;
    if (!front)
        return NULL;
    used = write;
    stdout = front;
    setvbuf(stdout, NULL, _IOLBF, 0);
    return behind;
}

int vh_cores_usable(void)
{
    return vh_cores();
}

/* The system has limits of this kind and does not keep them. */
bool vh_memory_limit(int64_t bytes)
{
    (void)bytes;
    errno = ENOTSUP;
    return false;
}
