/* SPDX-License-Identifier: BSD-3-Clause */
/* full_disk.h - a limit of the size of files, which a program meets as it meets a full disk. */
#ifndef VH_TESTS_FULL_DISK_H
#define VH_TESTS_FULL_DISK_H

#include <signal.h>
#include <sys/resource.h>

/* A disk that is full after this many bytes. */
static inline struct rlimit limit_file_size(rlim_t bytes)
{
    struct rlimit old, new;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    new = old;
    new.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &new);
    return old;
}

#endif
