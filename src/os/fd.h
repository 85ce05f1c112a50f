/* SPDX-License-Identifier: BSD-3-Clause */
/* fd.h - files by descriptor: opening, reading and writing at a place, locks, mapping.
 *
 * Never uses descriptors 0, 1 and 2 for a file: if a program starts with standard error closed, open()
 * returns 2, and the next warning printed would end up in the file.  All paths are UTF-8.  Functions that
 * fail set errno. */
#ifndef VH_OS_FD_H
#define VH_OS_FD_H

#include "os/path.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum {
    VH_FD_READ,   /* a file that exists */
    VH_FD_UPDATE, /* read and write; creates the file if there is none */
    VH_FD_OVER    /* overwrite what exists, in place: a pipe or a device too */
} vh_fd_how;

/* Opens a file, closed in programs that this one starts; -1 on failure. */
int vh_fd_open(const char *path, vh_fd_how how);
/* Creates a nameless file in a folder for reading and writing; closing it deletes it. */
int vh_fd_scratch(const char *folder);
/* A stream at the same place of the file; closing it reports write errors, and fd stays open. */
FILE *vh_fd_stream(int fd, const char *mode);
/* Closes it, and reports write errors that some file systems tell only then. */
bool vh_fd_finish(int fd);
void vh_fd_close(const int *fd); /* VH_CLEANUP(vh_fd_close) int fd = -1; */

/* Reads n bytes at this offset: how many there are up to the end of the file, or -1. */
int64_t vh_fd_read(int fd, void *bytes, size_t n, int64_t at);
/* Writes all n bytes at this offset; VH_FD_HERE: where the file stands, also allowed in signal handlers. */
enum { VH_FD_HERE = -1 };
bool vh_fd_write(int fd, const void *bytes, size_t n, int64_t at);
bool vh_fd_look(int fd, vh_entry *out);
bool vh_fd_cut(int fd, int64_t size); /* truncates it */
bool vh_fd_sync(int fd);              /* to disk; true where a file cannot be synced, such as a device */
/* Allocates space on disk, so that a full disk is found now. */
bool vh_fd_reserve(int fd, int64_t size);
/* These bytes will be read soon. */
void vh_fd_expect(int fd, int64_t at, int64_t n);
/* Is this errno a full disk, or a limit of the size of files? */
bool vh_is_disk_full(int error);

/* Locks the file against other processes that lock it, until it is closed. */
typedef enum { VH_LOCKED, VH_LOCK_TAKEN, VH_LOCK_FAILED } vh_lock;
vh_lock vh_fd_lock(int fd);

/* Maps the first n bytes; NULL on failure.  fd may be closed then. */
void *vh_fd_map(int fd, size_t n, bool writable);
void vh_unmap(void *map, size_t n);
/* Releases bytes of a mapping from memory; they are read again when needed. */
void vh_map_release(void *at, size_t n);

/* Makes sure that descriptors 0 to 2 are in use: those that are closed become the null device, opened the
 * wrong way round, so that using them stays an error. */
bool vh_fd_take_streams(void);

/* For libraries that open files themselves: occupies closed descriptors up to 2 until the release. */
typedef int vh_fd_std[3]; /* -1: not used */
void vh_fd_reserve_std(vh_fd_std held);
void vh_fd_release_std(const vh_fd_std held);

#endif
