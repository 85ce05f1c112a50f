/* SPDX-License-Identifier: BSD-3-Clause */
/* shim.c - preloaded into the command, makes one chosen call fail: the n-th allocation, write, fsync, ...
 *
 * The command is loaded once and serves: standard input has one line for each run,
 *
 *     CALL N REST LIMIT FOLDER        CALL: malloc write fsync rename linkat mmap read ftruncate, stop, or
 *     none
 *
 * and the run is a child in that folder whose n-th such call fails (REST 1: and all later ones), with its
 * streams in the files .out and .err there, ended after LIMIT seconds.  The answer is a line
 *
 *     STATUS SIGNAL WHERE DIED COUNT...
 *
 * exit status and signal; the module (file name) of whoever asked for the last call that failed; the module
 * that a fatal signal struck or that called exit() by itself, each "-" for none; and how often each call was
 * made.  Modules are found on the stack: the innermost one that is neither this file nor the C library.
 *
 * stop is no failure: the command gets SIGINT at its n-th allocation; with REST 1 it finds that a minute has
 * passed when it looks at the clock afterwards, as if one step of its work took that long.
 *
 * With FAULT_TRACE set the stack at the first call that fails goes to standard error.
 *
 * Calls are counted from the beginning of main to its end: what libraries do when they are loaded and
 * unloaded is not ours.  Writes of streams are seen because fdopen gives a stream of our own here; the C
 * library calls no function of its own by name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MALLOC, WRITE, FSYNC, RENAME, LINKAT, MMAP, READ, FTRUNCATE, STOP, CALLS };
static const char *const call_name[CALLS] = { "malloc", "write", "fsync",     "rename", "linkat",
                                              "mmap",   "read",  "ftruncate", "stop" };

typedef struct { /* shared with the server */
    atomic_long count[CALLS];
    char where[64], died[64];
} record;

static record *seen;
static struct {
    int call; /* CALLS: none */
    long at;
    bool rest;
} fault = { .call = CALLS };
static atomic_bool armed;
static atomic_bool stopped;       /* a minute ago */
static _Thread_local bool inside; /* of the shim: what it calls itself does not count */

/* "libhdf5.so" of ".../libhdf5.so"; NULL for what is not looked at: this file and the C library. */
static const char *module_at(void *frame)
{
    Dl_info self, at;
    dladdr((void *)(size_t)call_name, &self);
    if (!dladdr(frame, &at) || !at.dli_fname || at.dli_fbase == self.dli_fbase)
        return NULL;
    const char *slash = strrchr(at.dli_fname, '/'), *name = slash ? slash + 1 : at.dli_fname;
    return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "ld-linux", 8) == 0 ? NULL : name;
}

/* Jansson and HDF5 allocate through functions of the command: what stands right above these is meant. */
static void module_on_stack(char *out, size_t size)
{
    void *frame[64];
    const char *found = NULL;
    inside = true;
    int n = backtrace(frame, 64), near = 0;
    for (int k = 0; k < n && near < 3; k++) {
        const char *name = module_at(frame[k]);
        if (!name)
            continue;
        bool fragile = strncmp(name, "libjansson", 10) == 0 || strncmp(name, "libhdf5", 7) == 0;
        if (!found || (fragile && strncmp(found, "lib", 3) != 0))
            found = name;
        near++;
    }
    snprintf(out, size, "%s", found ? found : "unknown");
    inside = false;
}

static void stop_at_allocation(void)
{
    if (atomic_fetch_add(&seen->count[STOP], 1) + 1 != fault.at || fault.call != STOP)
        return;
    inside = true;
    raise(SIGINT);
    inside = false;
    atomic_store(&stopped, fault.rest);
}

static bool fails(int call)
{
    if (!atomic_load(&armed) || inside)
        return false;
    if (call == MALLOC)
        stop_at_allocation();
    long n = atomic_fetch_add(&seen->count[call], 1) + 1;
    if (call != fault.call || !(n == fault.at || (fault.rest && n > fault.at)))
        return false;
    module_on_stack(seen->where, sizeof seen->where); /* of several the last: what a death follows from */
    if (n == fault.at && getenv("FAULT_TRACE")) {
        void *frame[40];
        inside = true;
        backtrace_symbols_fd(frame, backtrace(frame, 40), 2);
        inside = false;
    }
    return true;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int clock_gettime(clockid_t id, struct timespec *out)
{
    int status = REAL(clock_gettime)(id, out);
    if (atomic_load(&stopped) && id == CLOCK_MONOTONIC)
        out->tv_sec += 60;
    return status;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

static void *no_memory(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size)
{
    return fails(MALLOC) ? no_memory() : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(MALLOC) ? no_memory() : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return fails(MALLOC) ? no_memory() : __libc_realloc(p, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return fails(MALLOC) ? no_memory() : __libc_memalign(align, size);
}

void *memalign(size_t align, size_t size)
{
    return fails(MALLOC) ? no_memory() : __libc_memalign(align, size);
}

int posix_memalign(void **p, size_t align, size_t size)
{
    if (fails(MALLOC))
        return ENOMEM;
    *p = __libc_memalign(align, size);
    return *p ? 0 : ENOMEM;
}

/* ---- files --------------------------------------------------------------------------------------------- */

static int with(int error)
{
    errno = error;
    return -1;
}

ssize_t write(int fd, const void *p, size_t n)
{
    return fails(WRITE) ? with(ENOSPC) : REAL(write)(fd, p, n);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    return fails(WRITE) ? with(ENOSPC) : REAL(pwrite)(fd, p, n, at);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
    return fails(WRITE) ? with(ENOSPC) : REAL(pwrite64)(fd, p, n, at);
}

int fsync(int fd)
{
    return fails(FSYNC) ? with(EIO) : REAL(fsync)(fd);
}

int rename(const char *from, const char *to)
{
    return fails(RENAME) ? with(EIO) : REAL(rename)(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    return fails(LINKAT) ? with(EIO) : REAL(linkat)(a, from, b, to, flags);
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    return fd >= 0 && fails(MMAP) ? (with(ENOMEM), MAP_FAILED)
                                  : REAL(mmap)(at, n, protection, flags, fd, offset);
}

int ftruncate(int fd, off_t n)
{
    return fails(FTRUNCATE) ? with(EIO) : REAL(ftruncate)(fd, n);
}

int ftruncate64(int fd, off64_t n)
{
    return fails(FTRUNCATE) ? with(EIO) : REAL(ftruncate64)(fd, n);
}

ssize_t read(int fd, void *p, size_t n)
{
    return fails(READ) ? with(EIO) : REAL(read)(fd, p, n);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
    return fails(READ) ? with(EIO) : REAL(pread)(fd, p, n, at);
}

ssize_t pread64(int fd, void *p, size_t n, off64_t at)
{
    return fails(READ) ? with(EIO) : REAL(pread64)(fd, p, n, at);
}

static void mark_error(FILE *f)
{
    f->_flags |= 0x20; /* what ferror() looks at in the GNU C library */
    errno = EIO;
}

size_t fread(void *p, size_t size, size_t n, FILE *f)
{
    if (!fails(READ))
        return REAL(fread)(p, size, n, f);
    mark_error(f);
    return 0;
}

ssize_t getline(char **line, size_t *size, FILE *f)
{
    if (!fails(READ))
        return REAL(getline)(line, size, f);
    mark_error(f);
    return -1;
}

static ssize_t cookie_read(void *cookie, char *p, size_t n)
{
    return read((int)(size_t)cookie, p, n);
}

static ssize_t cookie_write(void *cookie, const char *p, size_t n)
{
    ssize_t done = write((int)(size_t)cookie, p, n);
    return done < 0 ? 0 : done;
}

static int cookie_seek(void *cookie, off64_t *at, int whence)
{
    *at = lseek64((int)(size_t)cookie, *at, whence);
    return *at < 0 ? -1 : 0;
}

static int cookie_close(void *cookie)
{
    return close((int)(size_t)cookie);
}

FILE *fdopen(int fd, const char *mode)
{
    const cookie_io_functions_t io = {
        .read = cookie_read, .write = cookie_write, .seek = cookie_seek, .close = cookie_close
    };
    if (mode[0] != 'w' || !atomic_load(&armed))
        return REAL(fdopen)(fd, mode);
    return fopencookie((void *)(size_t)fd, mode, io);
}

/* ---- the server ---------------------------------------------------------------------------------------- */

static void on_death(int number)
{
    atomic_store(&armed, false);
    module_on_stack(seen->died, sizeof seen->died);
    signal(number, SIG_DFL);
    raise(number);
}

static int real_main_in(const char *folder, int limit, int (*real)(int, char **, char **), int argc,
                        char **argv)
{
    static char stack[1 << 16];
    const stack_t other = { .ss_sp = stack, .ss_size = sizeof stack };
    const struct sigaction action = { .sa_handler = on_death, .sa_flags = SA_ONSTACK | SA_NODEFER };
    const int deadly[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
    const struct rlimit no_core = { 0, 0 };
    sigaltstack(&other, NULL);
    for (size_t k = 0; k < sizeof deadly / sizeof *deadly; k++)
        sigaction(deadly[k], &action, NULL);
    setrlimit(RLIMIT_CORE, &no_core);
    alarm((unsigned)limit);
    int null = open("/dev/null", O_RDONLY);
    if (chdir(folder) != 0 || !freopen(".out", "w", stdout) || !freopen(".err", "w", stderr) || null < 0
        || dup2(null, 0) < 0)
        _exit(99);
    close(null);
    atomic_store(&armed, true);
    int status = real(argc, argv, environ);
    atomic_store(&armed, false);
    fflush(NULL);
    return status;
}

/* Some libraries end the program when they lack memory. */
void exit(int status)
{
    if (atomic_exchange(&armed, false))
        module_on_stack(seen->died, sizeof seen->died);
    REAL(exit)(status);
    _exit(status);
}

static int (*command)(int, char **, char **);

static int serve(int argc, char **argv, char **env)
{
    char line[4096], call[16], folder[3800];
    int rest, limit, status;
    void *warm[4];
    (void)env;
    backtrace(warm, 4); /* loads what it needs */
    seen = REAL(mmap)(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%15s %ld %d %d %3799[^\n]", call, &fault.at, &rest, &limit, folder) != 5)
            return 98;
        memset(seen, 0, sizeof *seen);
        strcpy(seen->where, "-");
        strcpy(seen->died, "-");
        for (fault.call = 0; fault.call < CALLS && strcmp(call, call_name[fault.call]) != 0;)
            fault.call++;
        fault.rest = rest != 0;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            exit(real_main_in(folder, limit, command, argc, argv));
        waitpid(child, &status, 0);
        printf("%d %d %s %s", WIFEXITED(status) ? WEXITSTATUS(status) : -1,
               WIFSIGNALED(status) ? WTERMSIG(status) : 0, seen->where, seen->died);
        for (int k = 0; k < CALLS; k++)
            printf(" %ld", atomic_load(&seen->count[k]));
        putchar('\n');
        fflush(stdout);
    }
    return 0;
}

int __libc_start_main(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                      void (*)(void), void *);
int __libc_start_main(int (*main_)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    command = main_;
    return REAL(__libc_start_main)(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
