/* SPDX-License-Identifier: BSD-3-Clause */
/* windows.c - Windows.  Paths are UTF-8 outside and wide here.  Every file is opened so that others may
 * rename and delete it, as on other systems.
 *
 *   1. words and errors   2. descriptors   3. paths and folders   4. slots   5. streams   6. the process */
#define WIN32_LEAN_AND_MEAN
#include "os/fd.h"
#include "os/slot.h"
#include "os/stream.h"
#include "os/system.h"

#include <windows.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <math.h>
#include <process.h>
#include <shellapi.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 3 }; /* above stdin, stdout and stderr */
enum { SHARED = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

/* ---- 1. words and errors ------------------------------------------------------------------------------- */

static wchar_t *wide(const char *text)
{
    int n = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
    wchar_t *w = n > 0 ? malloc((size_t)n * sizeof *w) : NULL;
    if (w)
        MultiByteToWideChar(CP_UTF8, 0, text, -1, w, n);
    else
        errno = n > 0 ? ENOMEM : ENOENT;
    return w;
}

/* Not _strdup(), which takes its memory from the DLL of the C library (windows_memory.c). */
static char *copy_of(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    return copy ? memcpy(copy, text, n) : NULL;
}

static char *narrow(const wchar_t *w)
{
    int n = WideCharToMultiByte(CP_UTF8, 0, w, -1, NULL, 0, NULL, NULL);
    char *text = n > 0 ? malloc((size_t)n) : NULL;
    if (text)
        WideCharToMultiByte(CP_UTF8, 0, w, -1, text, n, NULL, NULL);
    return text;
}

static int error_of(DWORD error)
{
    static const DWORD reason[][2] = {
        { ERROR_FILE_NOT_FOUND, ENOENT },
        { ERROR_PATH_NOT_FOUND, ENOENT },
        { ERROR_INVALID_NAME, ENOENT },
        { ERROR_BAD_PATHNAME, ENOENT },
        { ERROR_BAD_NETPATH, ENOENT },
        { ERROR_BAD_NET_NAME, ENOENT },
        { ERROR_ACCESS_DENIED, EACCES },
        { ERROR_SHARING_VIOLATION, EACCES },
        { ERROR_LOCK_VIOLATION, EACCES },
        { ERROR_WRITE_PROTECT, EACCES },
        { ERROR_ALREADY_EXISTS, EEXIST },
        { ERROR_FILE_EXISTS, EEXIST },
        { ERROR_DIRECTORY, ENOTDIR },
        { ERROR_DIR_NOT_EMPTY, ENOTEMPTY },
        { ERROR_NOT_ENOUGH_MEMORY, ENOMEM },
        { ERROR_COMMITMENT_LIMIT, ENOMEM },
        { ERROR_OUTOFMEMORY, ENOMEM },
        { ERROR_DISK_FULL, ENOSPC },
        { ERROR_HANDLE_DISK_FULL, ENOSPC },
        { ERROR_BROKEN_PIPE, EPIPE },
        { ERROR_NO_DATA, EPIPE },
        { ERROR_INVALID_PARAMETER, EINVAL },
        { ERROR_FILE_INVALID, EINVAL },
    };
    for (size_t k = 0; k < sizeof reason / sizeof reason[0]; k++)
        if (reason[k][0] == error)
            return (int)reason[k][1];
    return EIO;
}

/* Sets errno if the call failed. */
static bool done(BOOL good)
{
    if (!good)
        errno = error_of(GetLastError());
    return good != 0;
}

static HANDLE open_handle(const char *path, DWORD access, DWORD shared, DWORD create, DWORD flags)
{
    wchar_t *w = wide(path);
    HANDLE h = w ? CreateFileW(w, access, shared, NULL, create, flags, NULL) : INVALID_HANDLE_VALUE;
    if (w && h == INVALID_HANDLE_VALUE)
        errno = error_of(GetLastError());
    free(w);
    return h;
}

/* ---- 2. descriptors ------------------------------------------------------------------------------------ */

static HANDLE handle_of(int fd)
{
    return (HANDLE)_get_osfhandle(fd);
}

/* Moves a descriptor above 2. */
static int above(int fd)
{
    int low[FIRST], n = 0;
    while (fd >= 0 && fd < FIRST && n < FIRST) {
        low[n++] = fd;
        fd = _dup(fd);
    }
    while (n > 0)
        _close(low[--n]);
    return fd;
}

static int descriptor(HANDLE h)
{
    if (h == INVALID_HANDLE_VALUE)
        return -1;
    int fd = _open_osfhandle((intptr_t)h, _O_BINARY | _O_NOINHERIT);
    if (fd < 0)
        CloseHandle(h);
    return above(fd);
}

/* A folder cannot be opened as a file: that is the reason then. */
static int open_file(const char *path, DWORD access, DWORD create)
{
    int fd = descriptor(open_handle(path, access, SHARED, create, FILE_ATTRIBUTE_NORMAL)), why = errno;
    if (fd < 0 && why == EACCES && vh_path_is_folder(path))
        why = EISDIR;
    errno = why;
    return fd;
}

int vh_fd_open(const char *path, vh_fd_how how)
{
    static const DWORD access[] = { GENERIC_READ, GENERIC_READ | GENERIC_WRITE, GENERIC_WRITE };
    static const DWORD create[] = { OPEN_EXISTING, OPEN_ALWAYS, TRUNCATE_EXISTING };
    int fd = open_file(path, access[how], create[how]);
    return fd < 0 && how == VH_FD_OVER ? open_file(path, GENERIC_WRITE, OPEN_EXISTING) : fd; /* a device */
}

int vh_fd_scratch(const char *folder)
{
    enum { TRIES = 100 };
    size_t n = strlen(folder) + 64;
    char *path = malloc(n);
    HANDLE h = INVALID_HANDLE_VALUE;
    errno = path ? EEXIST : ENOMEM;
    for (int k = 0; path && h == INVALID_HANDLE_VALUE && errno == EEXIST && k < TRIES; k++) {
        snprintf(path, n, "%s/vhem-%lx-%lx-%llx.tmp", folder, (unsigned long)GetCurrentProcessId(),
                 (unsigned long)GetCurrentThreadId(), (unsigned long long)vh_nanoseconds() + (unsigned)k);
        h = open_handle(path, GENERIC_READ | GENERIC_WRITE | DELETE, SHARED, CREATE_NEW,
                        FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE);
    }
    free(path);
    return descriptor(h);
}

static FILE *stream_or_close(int fd, const char *mode)
{
    char binary[8];
    snprintf(binary, sizeof binary, "%s%s", mode, strchr(mode, 'b') ? "" : "b");
    FILE *f = fd < 0 ? NULL : _fdopen(fd, binary);
    if (!f && fd >= 0)
        _close(fd);
    return f;
}

FILE *vh_fd_stream(int fd, const char *mode)
{
    return stream_or_close(above(_dup(fd)), mode);
}

bool vh_fd_finish(int fd)
{
    return _close(fd) == 0;
}

void vh_fd_close(const int *fd)
{
    if (*fd >= 0)
        _close(*fd);
}

static OVERLAPPED place(int64_t at)
{
    OVERLAPPED where = { 0 };
    where.Offset = (DWORD)((uint64_t)at & 0xFFFFFFFFu);
    where.OffsetHigh = (DWORD)((uint64_t)at >> 32);
    return where;
}

static DWORD piece(size_t left)
{
    enum { MOST = 1 << 30 };
    return (DWORD)(left < MOST ? left : MOST);
}

int64_t vh_fd_read(int fd, void *bytes, size_t n, int64_t at)
{
    size_t have = 0;
    while (have < n) {
        OVERLAPPED where = place(at + (int64_t)have);
        DWORD got = 0;
        BOOL good = ReadFile(handle_of(fd), (char *)bytes + have, piece(n - have), &got, &where);
        if (!good && GetLastError() != ERROR_HANDLE_EOF)
            return done(FALSE) - 1;
        if (!good || got == 0)
            break;
        have += got;
    }
    return (int64_t)have;
}

bool vh_fd_write(int fd, const void *bytes, size_t n, int64_t at)
{
    const char *p = bytes;
    for (size_t have = 0; have < n;) {
        OVERLAPPED where = place(at + (int64_t)have);
        DWORD put = 0;
        if (at == VH_FD_HERE) {
            int written = _write(fd, p + have, piece(n - have));
            if (written <= 0)
                return false;
            put = (DWORD)written;
        } else if (!done(WriteFile(handle_of(fd), p + have, piece(n - have), &put, &where))) {
            return false;
        }
        have += put;
    }
    return true;
}

static bool look(HANDLE h, vh_entry *out)
{
    BY_HANDLE_FILE_INFORMATION is;
    if (GetFileType(h) != FILE_TYPE_DISK) {
        *out = (vh_entry){ .kind = VH_IS_OTHER };
        return h != INVALID_HANDLE_VALUE;
    }
    if (!done(GetFileInformationByHandle(h, &is)))
        return false;
    *out = (vh_entry){ .kind = is.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? VH_IS_FOLDER : VH_IS_FILE,
                       .size = (int64_t)((uint64_t)is.nFileSizeHigh << 32 | is.nFileSizeLow),
                       .device = is.dwVolumeSerialNumber,
                       .number = (uint64_t)is.nFileIndexHigh << 32 | is.nFileIndexLow };
    return true;
}

bool vh_fd_look(int fd, vh_entry *out)
{
    return look(handle_of(fd), out);
}

bool vh_fd_cut(int fd, int64_t size)
{
    FILE_END_OF_FILE_INFO end = { .EndOfFile.QuadPart = size };
    return done(SetFileInformationByHandle(handle_of(fd), FileEndOfFileInfo, &end, sizeof end));
}

bool vh_fd_sync(int fd)
{
    return done(FlushFileBuffers(handle_of(fd))) || GetFileType(handle_of(fd)) != FILE_TYPE_DISK;
}

bool vh_fd_reserve(int fd, int64_t size)
{
    return vh_fd_cut(fd, size);
}

void vh_fd_expect(int fd, int64_t at, int64_t n)
{
    (void)fd;
    (void)at;
    (void)n;
}

bool vh_is_disk_full(int error)
{
    return error == ENOSPC || error == EFBIG;
}

/* Locks are mandatory: a byte that no file reaches. */
vh_lock vh_fd_lock(int fd)
{
    OVERLAPPED where = place(INT64_MAX - 1);
    if (LockFileEx(handle_of(fd), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &where))
        return VH_LOCKED;
    DWORD why = GetLastError();
    errno = error_of(why);
    return why == ERROR_LOCK_VIOLATION || why == ERROR_IO_PENDING ? VH_LOCK_TAKEN : VH_LOCK_FAILED;
}

void *vh_fd_map(int fd, size_t n, bool writable)
{
    DWORD high = (DWORD)((uint64_t)n >> 32), low = (DWORD)((uint64_t)n & 0xFFFFFFFFu);
    HANDLE section =
        CreateFileMappingW(handle_of(fd), NULL, writable ? PAGE_READWRITE : PAGE_READONLY, high, low, NULL);
    void *map = section ? MapViewOfFile(section, writable ? FILE_MAP_WRITE : FILE_MAP_READ, 0, 0, n) : NULL;
    done(map != NULL);
    if (section)
        CloseHandle(section);
    return map;
}

void vh_unmap(void *map, size_t n)
{
    (void)n;
    UnmapViewOfFile(map);
}

/* Of pages that are not locked it takes them out of the memory of the process. */
void vh_map_release(void *at, size_t n)
{
    VirtualUnlock(at, n);
}

bool vh_fd_take_streams(void)
{
    return (_fileno(stdin) >= 0 || freopen("NUL", "w", stdin))
           && (_fileno(stdout) >= 0 || freopen("NUL", "r", stdout))
           && (_fileno(stderr) >= 0 || freopen("NUL", "r", stderr));
}

void vh_fd_reserve_std(vh_fd_std held)
{
    for (int k = 0; k < FIRST; k++)
        held[k] = -1;
}

void vh_fd_release_std(const vh_fd_std held)
{
    (void)held;
}

/* ---- 3. paths and folders ------------------------------------------------------------------------------ */

static HANDLE open_entry(const char *path, DWORD access)
{
    return open_handle(path, access, SHARED, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
}

static bool may(const char *path, DWORD access)
{
    HANDLE h = open_entry(path, access);
    if (h != INVALID_HANDLE_VALUE)
        CloseHandle(h);
    return h != INVALID_HANDLE_VALUE;
}

bool vh_path_look(const char *path, vh_entry *out)
{
    HANDLE h = open_entry(path, FILE_READ_ATTRIBUTES);
    bool found = h != INVALID_HANDLE_VALUE && look(h, out);
    if (h != INVALID_HANDLE_VALUE)
        CloseHandle(h);
    return found;
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
    wchar_t *w = wide(path);
    bool there = w && done(GetFileAttributesW(w) != INVALID_FILE_ATTRIBUTES);
    free(w);
    return there;
}

bool vh_path_readable(const char *path)
{
    return may(path, GENERIC_READ);
}

bool vh_path_writable(const char *path)
{
    return may(path, GENERIC_WRITE);
}

const char *vh_path_name(const char *path)
{
    const char *name = path;
    for (const char *p = path; *p; p++)
        if (*p == '/' || *p == '\\' || (*p == ':' && p == path + 1))
            name = p + 1;
    return name;
}

/* Without the sign of a path that is not to be interpreted, and with the slashes of all systems. */
static char *plain(const wchar_t *w)
{
    static const wchar_t sign[] = L"\\\\?\\", net[] = L"\\\\?\\UNC\\";
    bool shared = wcsncmp(w, net, wcslen(net)) == 0;
    char *path = narrow(shared                                ? w + wcslen(net) - 2
                        : wcsncmp(w, sign, wcslen(sign)) == 0 ? w + wcslen(sign)
                                                              : w);
    if (path && shared)
        path[0] = '/'; /* the C of UNC */
    for (char *p = path; p && *p; p++)
        *p = (char)(*p == '\\' ? '/' : *p);
    return path;
}

char *vh_path_real(const char *path)
{
    HANDLE h = open_entry(path, FILE_READ_ATTRIBUTES);
    if (h == INVALID_HANDLE_VALUE)
        return NULL;
    DWORD n = GetFinalPathNameByHandleW(h, NULL, 0, FILE_NAME_NORMALIZED);
    wchar_t *w = n > 0 ? malloc((n + 1) * sizeof *w) : NULL;
    bool found = w && GetFinalPathNameByHandleW(h, w, n + 1, FILE_NAME_NORMALIZED) > 0;
    char *real = found ? plain(w) : NULL;
    CloseHandle(h);
    free(w);
    if (!real)
        errno = ENOMEM;
    return real;
}

char *vh_path_target(const char *path)
{
    vh_entry there;
    return vh_path_look(path, &there) && there.kind != VH_IS_OTHER ? vh_path_real(path) : copy_of(path);
}

bool vh_path_remove(const char *file)
{
    wchar_t *w = wide(file);
    bool good = w && done(DeleteFileW(w));
    free(w);
    return good;
}

bool vh_path_rename(const char *from, const char *to)
{
    wchar_t *a = wide(from), *b = wide(to);
    DWORD how = vh_path_is_folder(from) ? 0 : MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH;
    bool good = a && b && done(MoveFileExW(a, b, how));
    free(a);
    free(b);
    return good;
}

void vh_path_sync(const char *path)
{
    (void)path; /* the rename has written it */
}

static bool make_folder(const char *path)
{
    wchar_t *w = wide(path);
    bool good = w && done(CreateDirectoryW(w, NULL));
    free(w);
    return good;
}

bool vh_folder_make(const char *path)
{
    return make_folder(path) || errno == EEXIST;
}

struct vh_folder {
    HANDLE h;
    WIN32_FIND_DATAW found;
    bool fresh; /* found is not yet told */
    char name[4 * MAX_PATH];
};

vh_folder *vh_folder_open(const char *path)
{
    size_t n = strlen(path) + 3;
    char *all = malloc(n);
    vh_folder *f = calloc(1, sizeof *f);
    if (all)
        snprintf(all, n, "%s/*", path);
    wchar_t *w = all && f ? wide(all) : NULL;
    if (w) {
        f->h = FindFirstFileW(w, &f->found);
        f->fresh = done(f->h != INVALID_HANDLE_VALUE);
    }
    free(all);
    free(w);
    if (f && f->fresh)
        return f;
    free(f);
    return NULL;
}

const char *vh_folder_next(vh_folder *f)
{
    do {
        if (!f->fresh && !FindNextFileW(f->h, &f->found))
            return NULL;
        f->fresh = false;
    } while (wcscmp(f->found.cFileName, L".") == 0 || wcscmp(f->found.cFileName, L"..") == 0);
    WideCharToMultiByte(CP_UTF8, 0, f->found.cFileName, -1, f->name, sizeof f->name, NULL, NULL);
    return f->name;
}

void vh_folder_close(vh_folder *f)
{
    if (f)
        FindClose(f->h);
    free(f);
}

const char *vh_scratch_folder(const char *usual)
{
    static _Thread_local char folder[4 * MAX_PATH];
    wchar_t own[MAX_PATH + 1];
    const wchar_t *given = _wgetenv(L"TMPDIR");
    if (!given || !*given)
        given = GetTempPathW(MAX_PATH + 1, own) > 0 ? own : NULL;
    int n = given ? WideCharToMultiByte(CP_UTF8, 0, given, -1, folder, sizeof folder, NULL, NULL) : 0;
    if (n > 2 && folder[n - 2] == '\\') /* GetTempPathW ends so */
        folder[n - 2] = '\0';
    return n > 0 ? folder : usual;
}

/* ---- 4. slots ------------------------------------------------------------------------------------------ */

/* Nobody else has it open. */
static bool is_left(const char *name)
{
    HANDLE h = open_handle(name, GENERIC_READ | DELETE, 0, OPEN_EXISTING,
                           FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT);
    if (h != INVALID_HANDLE_VALUE)
        CloseHandle(h);
    return h != INVALID_HANDLE_VALUE;
}

void vh_slot_sweep(const char *name)
{
    HANDLE h =
        open_handle(name, DELETE, 0, OPEN_EXISTING, FILE_FLAG_DELETE_ON_CLOSE | FILE_FLAG_OPEN_REPARSE_POINT);
    if (h != INVALID_HANDLE_VALUE)
        CloseHandle(h);
}

int vh_slot_file(const char *name)
{
    return open_file(name, GENERIC_READ | GENERIC_WRITE, CREATE_NEW);
}

int vh_slot_nameless(const char *path, char **name)
{
    (void)path;
    (void)name;
    return -1;
}

int vh_slot_link(const char *nameless, const char *path)
{
    (void)nameless;
    (void)path;
    return EINVAL;
}

void vh_slot_hold(int fd)
{
    (void)fd;
}

/* Permissions are those of the folder. */
void vh_slot_take_mode(int fd, const char *path)
{
    (void)fd;
    (void)path;
}

int vh_slot_folder(const char *folder)
{
    return make_folder(folder) ? descriptor(open_entry(folder, GENERIC_READ)) : -1;
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
    for (const char *name; d && (name = vh_folder_next(d));) {
        size_t n = strlen(folder) + strlen(name) + 2;
        char *path = malloc(n);
        if (path) {
            snprintf(path, n, "%s/%s", folder, name);
            vh_path_remove(path);
        }
        free(path);
    }
    vh_folder_close(d);
    wchar_t *w = d ? wide(folder) : NULL;
    if (w)
        RemoveDirectoryW(w);
    free(w);
}

void vh_slot_sweep_folder(const char *folder, vh_slot_owns *owns)
{
    if (is_left(folder))
        vh_slot_remove_folder(folder, owns);
}

/* ---- 5. streams ---------------------------------------------------------------------------------------- */

FILE *vh_file_open(const char *path, const char *mode)
{
    bool write = mode[0] == 'w';
    return stream_or_close(
        open_file(path, write ? GENERIC_WRITE : GENERIC_READ, write ? CREATE_ALWAYS : OPEN_EXISTING), mode);
}

bool vh_file_look(FILE *f, vh_entry *out)
{
    return vh_fd_look(_fileno(f), out);
}

/* The C library seeks in pipes too, to no avail. */
static bool can_seek(FILE *f)
{
    return GetFileType(handle_of(_fileno(f))) == FILE_TYPE_DISK;
}

bool vh_file_seek(FILE *f, int64_t at, int whence)
{
    return can_seek(f) && _fseeki64(f, at, whence) == 0;
}

int64_t vh_file_tell(FILE *f)
{
    return can_seek(f) ? _ftelli64(f) : -1;
}

int64_t vh_file_line(FILE *f, char **line, size_t *cap)
{
    size_t n = 0;
    int c;
    do {
        if (n + 2 > *cap) {
            size_t more = *cap < 128 ? 256 : 2 * *cap;
            char *longer = realloc(*line, more);
            if (!longer)
                return -1;
            *line = longer;
            *cap = more;
        }
        c = _getc_nolock(f);
        if (c != EOF)
            (*line)[n++] = (char)c;
    } while (c != EOF && c != '\n');
    (*line)[n] = '\0';
    return n > 0 && !ferror(f) ? (int64_t)n : -1;
}

/* Written to a file that the system keeps in memory as long as it can. */
FILE *vh_memory_open(char **text, size_t *size)
{
    *text = NULL;
    *size = 0;
    return stream_or_close(vh_fd_scratch(vh_scratch_folder(".")), "w+b");
}

bool vh_memory_close(FILE *f, char **text, size_t *size)
{
    int64_t n = fflush(f) == 0 && !ferror(f) ? _ftelli64(f) : -1;
    char *all = n >= 0 ? malloc((size_t)n + 1) : NULL;
    bool good = all && vh_fd_read(_fileno(f), all, (size_t)n, 0) == n;
    fclose(f);
    if (good) {
        all[n] = '\0';
        *size = (size_t)n;
    } else {
        free(all);
    }
    *text = good ? all : NULL;
    return good;
}

bool vh_is_terminal(FILE *f)
{
    DWORD mode;
    return _fileno(f) >= 0 && GetConsoleMode(handle_of(_fileno(f)), &mode) != 0;
}

/* The console does not obey what is printed if it is told not to. */
FILE *vh_stdout_filter(vh_filter *write)
{
    DWORD mode;
    HANDLE h = handle_of(_fileno(stdout));
    (void)write;
    if (GetConsoleMode(h, &mode))
        SetConsoleMode(h, mode & ~(DWORD)ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    return NULL;
}

void *vh_locale_enter(void)
{
    const char *now = setlocale(LC_NUMERIC, NULL);
    char *before = now && strcmp(now, "C") != 0 ? copy_of(now) : NULL;
    if (before) {
        _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
        setlocale(LC_NUMERIC, "C");
    }
    return before;
}

void vh_locale_leave(void *before)
{
    if (!before)
        return;
    setlocale(LC_NUMERIC, before);
    _configthreadlocale(_DISABLE_PER_THREAD_LOCALE);
    free(before);
}

/* ---- 6. the process ------------------------------------------------------------------------------------ */

char **vh_arguments(int *argc, char **argv)
{
    int n = 0;
    wchar_t **w = CommandLineToArgvW(GetCommandLineW(), &n);
    char **all = w ? calloc((size_t)n + 1, sizeof *all) : NULL;
    bool good = all != NULL;
    for (int k = 0; good && k < n; k++)
        good = (all[k] = narrow(w[k])) != NULL;
    _setmode(0, _O_BINARY);
    _setmode(1, _O_BINARY);
    _setmode(2, _O_BINARY);
    SetConsoleCP(CP_UTF8);
    SetConsoleOutputCP(CP_UTF8);
    if (!good)
        return argv;
    *argc = n;
    return all; /* as long as the program runs */
}

static vh_stop_function *volatile stop;

/* Windows ends the program when the handler of a closed window returns, or after five seconds. */
static BOOL WINAPI on_event(DWORD event)
{
    enum { PATIENCE = 5000 };
    bool keys = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT;
    stop(keys ? VH_STOP_KEYS : VH_STOP_PROGRAM);
    if (!keys)
        Sleep(PATIENCE);
    return TRUE;
}

void vh_on_stop(vh_stop_function *f, bool launcher_too)
{
    (void)launcher_too;
    stop = f;
    SetConsoleCtrlHandler(on_event, TRUE);
}

int64_t vh_nanoseconds(void)
{
    enum { SECOND = 1000000000 };
    LARGE_INTEGER now, rate;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&rate);
    return now.QuadPart / rate.QuadPart * SECOND + now.QuadPart % rate.QuadPart * SECOND / rate.QuadPart;
}

void vh_sleep(int64_t nanoseconds)
{
    Sleep((DWORD)((nanoseconds + 999999) / 1000000));
}

int64_t vh_process_id(void)
{
    return (int64_t)GetCurrentProcessId();
}

int vh_cores(void)
{
    return (int)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
}

int vh_cores_usable(void)
{
    return vh_cores();
}

void vh_memory_trim(void)
{
    HeapCompact(GetProcessHeap(), 0);
}

bool vh_memory_limit(int64_t bytes)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limit = { 0 };
    HANDLE job = CreateJobObjectW(NULL, NULL);
    limit.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_PROCESS_MEMORY;
    limit.ProcessMemoryLimit = (SIZE_T)bytes;
    return done(job && SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limit, sizeof limit)
                && AssignProcessToJobObject(job, GetCurrentProcess()));
}

bool vh_memory_is_limited(void)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limit = { 0 };
    return QueryInformationJobObject(NULL, JobObjectExtendedLimitInformation, &limit, sizeof limit, NULL)
           && (limit.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_PROCESS_MEMORY) != 0;
}

/* Its sign, which threads share, is not used. */
double vh_log_gamma(double x)
{
    return lgamma(x);
}
