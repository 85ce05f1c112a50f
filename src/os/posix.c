/* SPDX-License-Identifier: BSD-3-Clause */
/* posix.c - what Linux and macOS have in common.
 *
 *   1. descriptors   2. paths and folders   3. slots   4. streams   5. the process */
#define _GNU_SOURCE
#define _REENTRANT 1 /* lgamma_r of macOS */
#include "os/posix.h"

#include "os/fd.h"
#include "os/slot.h"
#include "os/stream.h"
#include "os/system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FIRST = 3 }; /* above stdin, stdout and stderr */

/* ---- 1. descriptors ------------------------------------------------------------------------------------ */

static int copy_above(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, FIRST);
}

int vh_posix_above(int fd)
{
    if (fd < 0 || fd >= FIRST)
        return fd;
    int copy = copy_above(fd), why = errno;
    close(fd);
    errno = why;
    return copy;
}

int vh_posix_open(const char *path, int flags, mode_t mode)
{
    return vh_posix_above(open(path, flags | O_CLOEXEC, mode));
}

int vh_fd_open(const char *path, vh_fd_how how)
{
    static const int flags[] = { O_RDONLY, O_RDWR | O_CREAT, O_WRONLY | O_TRUNC };
    return vh_posix_open(path, flags[how], 0666);
}

int vh_posix_scratch(const char *folder)
{
    size_t n = strlen(folder) + sizeof "/vhem-XXXXXX";
    char *path = malloc(n);
    if (!path)
        return -1;
    snprintf(path, n, "%s/vhem-XXXXXX", folder);
    int fd = vh_posix_above(mkostemp(path, O_CLOEXEC)), why = errno;
    if (fd >= 0)
        unlink(path);
    free(path);
    errno = why;
    return fd;
}

static FILE *stream_or_close(int fd, const char *mode)
{
    FILE *f = fd < 0 ? NULL : fdopen(fd, mode);
    int why = errno;
    if (!f && fd >= 0)
        close(fd);
    errno = why;
    return f;
}

FILE *vh_fd_stream(int fd, const char *mode)
{
    return stream_or_close(copy_above(fd), mode);
}

bool vh_fd_finish(int fd)
{
    return close(fd) == 0;
}

void vh_fd_close(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

int64_t vh_fd_read(int fd, void *bytes, size_t n, int64_t at)
{
    size_t have = 0;
    while (have < n) {
        ssize_t got = pread(fd, (char *)bytes + have, n - have, (off_t)at + (off_t)have);
        if (got < 0 && errno != EINTR)
            return -1;
        if (got == 0)
            break;
        have += got > 0 ? (size_t)got : 0;
    }
    return (int64_t)have;
}

bool vh_fd_write(int fd, const void *bytes, size_t n, int64_t at)
{
    const char *p = bytes;
    for (size_t have = 0; have < n;) {
        ssize_t put = at == VH_FD_HERE ? write(fd, p + have, n - have)
                                       : pwrite(fd, p + have, n - have, (off_t)at + (off_t)have);
        if (put == 0)
            errno = ENOSPC;
        if (put == 0 || (put < 0 && errno != EINTR))
            return false;
        have += put > 0 ? (size_t)put : 0;
    }
    return true;
}

static bool tell(bool found, const struct stat *sb, vh_entry *out)
{
    if (found)
        *out = (vh_entry){ .kind = S_ISREG(sb->st_mode)   ? VH_IS_FILE
                                   : S_ISDIR(sb->st_mode) ? VH_IS_FOLDER
                                                          : VH_IS_OTHER,
                           .size = (int64_t)sb->st_size,
                           .device = (uint64_t)sb->st_dev,
                           .number = (uint64_t)sb->st_ino };
    return found;
}

bool vh_fd_look(int fd, vh_entry *out)
{
    struct stat sb;
    return tell(fstat(fd, &sb) == 0, &sb, out);
}

bool vh_fd_cut(int fd, int64_t size)
{
    return ftruncate(fd, (off_t)size) == 0;
}

bool vh_fd_sync(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL;
}

bool vh_is_disk_full(int error)
{
    return error == ENOSPC || error == EFBIG || error == EDQUOT;
}

vh_lock vh_fd_lock(int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return VH_LOCKED;
    return errno == EWOULDBLOCK ? VH_LOCK_TAKEN : VH_LOCK_FAILED;
}

void *vh_fd_map(int fd, size_t n, bool writable)
{
    void *map = mmap(NULL, n, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

void vh_unmap(void *map, size_t n)
{
    munmap(map, n);
}

void vh_map_release(void *at, size_t n)
{
    madvise(at, n, MADV_DONTNEED);
}

bool vh_fd_take_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

void vh_fd_reserve_std(vh_fd_std held)
{
    int fd = 0;
    for (int k = 0; k < FIRST; k++) {
        fd = fd >= 0 && fd < FIRST ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
        if (fd >= FIRST)
            close(fd);
        held[k] = fd < FIRST ? fd : -1;
    }
}

void vh_fd_release_std(const vh_fd_std held)
{
    for (int k = 0; k < FIRST; k++)
        vh_fd_close(&held[k]);
}

/* ---- 2. paths and folders ------------------------------------------------------------------------------ */

bool vh_path_look(const char *path, vh_entry *out)
{
    struct stat sb;
    return tell(stat(path, &sb) == 0, &sb, out);
}

bool vh_path_is_folder(const char *path)
{
    vh_entry there;
    return vh_path_look(path, &there) && there.kind == VH_IS_FOLDER;
}

bool vh_same_entry(const vh_entry *a, const vh_entry *b)
{
    return a->device == b->device && a->number == b->number;
}

bool vh_path_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool vh_path_readable(const char *path)
{
    return access(path, R_OK) == 0;
}

bool vh_path_writable(const char *path)
{
    return access(path, W_OK) == 0;
}

const char *vh_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *vh_path_real(const char *path)
{
    return realpath(path, NULL);
}

/* What a link says, relative to the folder of the link; from malloc. */
static char *follow(const char *link, const char *to)
{
    int folder = to[0] == '/' ? 0 : (int)(vh_path_name(link) - link);
    size_t n = (size_t)folder + strlen(to) + 1;
    char *next = malloc(n);
    if (next)
        snprintf(next, n, "%.*s%s", folder, link, to);
    return next;
}

char *vh_path_target(const char *path)
{
    enum { MOST_LINKS = 40 };
    bool exists = access(path, F_OK) == 0;
    char *at = exists ? realpath(path, NULL) : strdup(path), to[PATH_MAX];

    for (int k = 0; at && !exists; k++) {
        ssize_t n = readlink(at, to, sizeof to - 1);
        if (n < 0)
            return at; /* not a link, or nothing exists */
        to[n] = '\0';
        char *next = k < MOST_LINKS ? follow(at, to) : NULL;
        free(at);
        at = next;
        if (k >= MOST_LINKS)
            errno = ELOOP;
    }
    return at;
}

bool vh_path_remove(const char *file)
{
    return unlink(file) == 0;
}

bool vh_path_rename(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

void vh_path_sync(const char *path)
{
    size_t n = (size_t)(vh_path_name(path) - path);
    char *folder = n > 0 ? strndup(path, n) : NULL;
    int fd = n > 0 && !folder ? -1 : vh_posix_open(folder ? folder : ".", O_RDONLY | O_DIRECTORY, 0);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

bool vh_folder_make(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/* A vh_folder is a DIR. */
vh_folder *vh_folder_open(const char *path)
{
    return (vh_folder *)opendir(path);
}

const char *vh_folder_next(vh_folder *folder)
{
    const struct dirent *e = NULL;
    do
        e = readdir((DIR *)folder);
    while (e && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0));
    return e ? e->d_name : NULL;
}

void vh_folder_close(vh_folder *folder)
{
    if (folder)
        closedir((DIR *)folder);
}

const char *vh_scratch_folder(const char *usual)
{
    const char *given = getenv("TMPDIR");
    return given && *given ? given : usual;
}

/* ---- 3. slots ------------------------------------------------------------------------------------------ */

/* True if the name still refers to the open file or folder. */
static bool is_named(int fd, const char *name)
{
    struct stat open_, named;
    return fstat(fd, &open_) == 0 && lstat(name, &named) == 0 && open_.st_dev == named.st_dev
           && open_.st_ino == named.st_ino;
}

static bool is_own(int fd, bool folder)
{
    struct stat sb;
    return fstat(fd, &sb) == 0 && (folder || S_ISREG(sb.st_mode)) && sb.st_uid == geteuid();
}

void vh_slot_sweep(const char *name)
{
    int fd = vh_posix_open(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd >= 0 && is_own(fd, false) && vh_posix_lock_slot(fd) && is_named(fd, name))
        unlink(name);
    if (fd >= 0)
        close(fd);
}

/* Not mkstemp: its files are private, and restoring the usual permissions would mean changing the umask of
 * the whole process for a moment. */
int vh_slot_file(const char *name)
{
    int fd = vh_posix_open(name, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (fd < 0 || ((vh_posix_lock_slot(fd) || errno != EAGAIN) && is_named(fd, name)))
        return fd;
    close(fd); /* swept away by another process */
    errno = EEXIST;
    return -1;
}

int vh_slot_link(const char *nameless, const char *path)
{
    return linkat(AT_FDCWD, nameless, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

void vh_slot_hold(int fd)
{
    vh_posix_lock_slot(fd);
}

void vh_slot_take_mode(int fd, const char *path)
{
    struct stat sb;
    if (stat(path, &sb) == 0)
        (void)!fchmod(fd, sb.st_mode & 07777);
}

static bool holds_only(const char *folder, vh_slot_owns *owns)
{
    vh_folder *d = vh_folder_open(folder);
    bool all = d != NULL;
    for (const char *name; all && (name = vh_folder_next(d));)
        all = owns(name);
    vh_folder_close(d);
    return all;
}

void vh_slot_remove_folder(const char *folder, vh_slot_owns *owns)
{
    vh_folder *d = holds_only(folder, owns) ? vh_folder_open(folder) : NULL;
    if (!d)
        return;
    for (const char *name; (name = vh_folder_next(d));)
        unlinkat(dirfd((DIR *)d), name, 0);
    vh_folder_close(d);
    rmdir(folder);
}

static int open_folder(const char *folder)
{
    return vh_posix_open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
}

void vh_slot_sweep_folder(const char *folder, vh_slot_owns *owns)
{
    int fd = open_folder(folder);
    if (fd >= 0 && is_own(fd, true) && vh_fd_lock(fd) == VH_LOCKED && is_named(fd, folder))
        vh_slot_remove_folder(folder, owns);
    if (fd >= 0)
        close(fd);
}

int vh_slot_folder(const char *folder)
{
    if (mkdir(folder, 0777) != 0)
        return -1;
    int fd = open_folder(folder);
    if (fd >= 0 && vh_fd_lock(fd) != VH_LOCK_TAKEN && is_named(fd, folder))
        return fd;
    int why = fd >= 0 || errno == ENOENT ? EEXIST : errno; /* another process took it for a leftover */
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

/* ---- 4. streams ---------------------------------------------------------------------------------------- */

FILE *vh_file_open(const char *path, const char *mode)
{
    int flags = mode[0] == 'w' ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY;
    return stream_or_close(vh_posix_open(path, flags, 0666), mode);
}

bool vh_file_look(FILE *f, vh_entry *out)
{
    return vh_fd_look(fileno(f), out);
}

bool vh_file_seek(FILE *f, int64_t at, int whence)
{
    return fseeko(f, (off_t)at, whence) == 0;
}

int64_t vh_file_tell(FILE *f)
{
    return (int64_t)ftello(f);
}

int64_t vh_file_line(FILE *f, char **line, size_t *cap)
{
    return (int64_t)getline(line, cap, f);
}

FILE *vh_memory_open(char **text, size_t *size)
{
    return open_memstream(text, size);
}

/* When memory runs out at the end, glibc reports success but leaves NULL. */
bool vh_memory_close(FILE *f, char **text, size_t *size)
{
    (void)size;
    bool good = ferror(f) == 0;
    good &= fclose(f) == 0;
    if (good && *text)
        return true;
    free(*text);
    *text = NULL;
    return false;
}

bool vh_is_terminal(FILE *f)
{
    return isatty(fileno(f)) != 0;
}

void *vh_locale_enter(void)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c ? uselocale(c) : NULL;
}

void vh_locale_leave(void *before)
{
    if (before)
        freelocale(uselocale((locale_t)before));
}

/* ---- 5. the process ------------------------------------------------------------------------------------ */

char **vh_arguments(int *argc, char **argv)
{
    (void)argc;
    return argv;
}

/* A signal handler reaches nothing but globals. */
static vh_stop_function *volatile stop;

static void on_signal(int number)
{
    stop(number == SIGINT ? VH_STOP_KEYS : number == SIGTERM ? VH_STOP_PROGRAM : VH_STOP_LAUNCHER);
}

void vh_on_stop(vh_stop_function *f, bool launcher_too)
{
    const struct sigaction action = { .sa_handler = on_signal };
    stop = f;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (launcher_too)
        sigaction(SIGUSR1, &action, NULL);
}

int64_t vh_nanoseconds(void)
{
    struct timespec t = { 0 };
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void vh_sleep(int64_t nanoseconds)
{
    const struct timespec t = { .tv_sec = (time_t)(nanoseconds / 1000000000),
                                .tv_nsec = (long)(nanoseconds % 1000000000) };
    nanosleep(&t, NULL);
}

int64_t vh_process_id(void)
{
    return (int64_t)getpid();
}

int vh_cores(void)
{
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

void *vh_memory_aligned(size_t bytes)
{
    enum { ALIGN = 64 };
    return aligned_alloc(ALIGN, (bytes + ALIGN - 1) / ALIGN * ALIGN);
}

bool vh_memory_is_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

double vh_log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}
