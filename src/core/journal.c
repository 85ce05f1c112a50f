/* SPDX-License-Identifier: BSD-3-Clause */
/* journal.c - see journal.h.  File layout: HEAD, then records, each a `lead` and its numbers, in native byte
 * order. */
#include "core/journal.h"

#include "core/alloc.h"
#include "os/fd.h"

#include <errno.h>
#include <string.h>

static const char head[] = "vhem-checkpoint 1\n";
enum { HEAD = sizeof head - 1, KEY = sizeof((vh_key *)0)->text - 1, FIRST_SLOTS = 1024 };

typedef struct { /* header of a record */
    char key[KEY];
    uint64_t n;     /* number of doubles */
    uint64_t check; /* checksum of key, n and the doubles */
} lead;

typedef struct {
    char key[KEY];
    uint64_t n;
    int64_t at; /* offset of the record; 0: the slot is free */
} slot;

struct vh_journal {
    char *path;
    int fd;
    int64_t end;
    slot *slots; /* [cap]  by key, with open addressing; at most half full */
    size_t n, cap;
    bool full; /* a write has failed */
};

/* ---- the index ----------------------------------------------------------------------------------------- */

static slot *look_up(slot *slots, size_t cap, const char *key)
{
    size_t k = (size_t)vh_hash_chain(0, key, KEY) % cap;
    while (slots[k].at && memcmp(slots[k].key, key, KEY) != 0)
        k = (k + 1) % cap;
    return &slots[k];
}

static vhem_status grow_journal(vhem_ctx *ctx, vh_journal *j)
{
    size_t cap = j->cap > 0 ? 2 * j->cap : FIRST_SLOTS;
    slot *slots = NULL;

    VH_NEW(slots, cap);
    for (size_t k = 0; k < j->cap; k++)
        if (j->slots[k].at)
            *look_up(slots, cap, j->slots[k].key) = j->slots[k];
    free(j->slots);
    j->slots = slots;
    j->cap = cap;
    return VHEM_OK;
}

/* The latest record of a key wins. */
static vhem_status remember(vhem_ctx *ctx, vh_journal *j, const char *key, uint64_t n, int64_t at)
{
    if (2 * (j->n + 1) > j->cap)
        VH_TRY(grow_journal(ctx, j));
    slot *s = look_up(j->slots, j->cap, key);
    j->n += s->at == 0;
    memcpy(s->key, key, KEY);
    s->n = n;
    s->at = at;
    return VHEM_OK;
}

/* ---- reading and writing ------------------------------------------------------------------------------- */

static bool read_at(const vh_journal *j, int64_t at, void *bytes, size_t n)
{
    return vh_fd_read(j->fd, bytes, n, at) == (int64_t)n;
}

static uint64_t checksum(const lead *l, const double *x)
{
    uint64_t h = vh_hash_chain(0, l->key, KEY);
    h = vh_hash_chain(h, &l->n, sizeof l->n);
    return vh_hash_chain(h, x, sizeof *x * (size_t)l->n);
}

/* Indexes all complete records. */
static vhem_status scan(vhem_ctx *ctx, vh_journal *j, int64_t size)
{
    char begin[HEAD];
    lead l;

    size_t n = size < HEAD ? (size_t)size : HEAD;
    bool known = read_at(j, 0, begin, n) && memcmp(begin, head, n) == 0;
    VH_CHECK(known, VHEM_EFORMAT, "%s: not a checkpoint, or of a newer version: it does not begin with %.*s",
             j->path, HEAD - 1, head);
    if (size < HEAD) /* empty, or killed while writing the head */
        VH_CHECK(vh_fd_write(j->fd, head, HEAD, 0), VHEM_EIO, "%s: cannot write: %s", j->path,
                 strerror(errno));
    for (j->end = HEAD; j->end + (int64_t)sizeof l <= size;) {
        int64_t left = size - j->end - (int64_t)sizeof l;
        if (!read_at(j, j->end, &l, sizeof l) || l.n > (uint64_t)left / sizeof(double))
            break;
        VH_TRY(remember(ctx, j, l.key, l.n, j->end));
        j->end += (int64_t)(sizeof l + (size_t)l.n * sizeof(double));
    }
    VH_CHECK(vh_fd_cut(j->fd, j->end), VHEM_EIO, "%s: cannot write: %s", j->path, strerror(errno));
    return VHEM_OK;
}

vhem_status vh_journal_open(vhem_ctx *ctx, const char *path, vh_journal **out)
{
    VH_OWN(vh_journal) *j = NULL;
    vh_entry is;

    VH_NEW(j, 1);
    j->fd = vh_fd_open(path, VH_FD_UPDATE);
    VH_DUP(j->path, path);
    VH_CHECK(j->fd >= 0, VHEM_EIO, "%s: cannot open the checkpoint: %s", path, strerror(errno));
    VH_CHECK(vh_fd_look(j->fd, &is) && is.kind == VH_IS_FILE, VHEM_EIO, "%s: a checkpoint must be a file",
             path);
    vh_lock lock = vh_fd_lock(j->fd);
    VH_CHECK(lock == VH_LOCKED, VHEM_EIO, "%s: cannot use the checkpoint: %s", path,
             lock == VH_LOCK_TAKEN ? "another run is using it" : strerror(errno));
    VH_TRY(scan(ctx, j, is.size));
    *out = vh_take(j);
    return VHEM_OK;
}

void vh_journal_free(vh_journal *j)
{
    if (!j)
        return;
    vh_fd_close(&j->fd);
    free(j->slots);
    free(j->path);
    free(j);
}

bool vh_journal_find(vh_journal *j, const vh_key *key, size_t n, double *x)
{
    slot found = { 0 };
    lead l;
#pragma omp critical(vh_journal)
    if (j->n > 0)
        found = *look_up(j->slots, j->cap, key->text);
    return found.at && found.n == n && read_at(j, found.at, &l, sizeof l)
           && read_at(j, found.at + (int64_t)sizeof l, x, n * sizeof *x) && checksum(&l, x) == l.check;
}

void vh_journal_add(vhem_ctx *ctx, vh_journal *j, const vh_key *key, size_t n, const double *x)
{
    lead l = { .n = n };
    bool failed = false;
    int why = 0;

    memcpy(l.key, key->text, KEY);
    l.check = checksum(&l, x);
#pragma omp critical(vh_journal)
    if (!j->full) {
        int64_t after = j->end + (int64_t)sizeof l;
        bool good = vh_fd_write(j->fd, &l, sizeof l, j->end) && vh_fd_write(j->fd, x, n * sizeof *x, after);
        why = good ? ENOMEM : errno;
        failed = j->full = !good || remember(ctx, j, l.key, l.n, j->end) != VHEM_OK;
        j->end = after + (int64_t)(n * sizeof *x);
    }
    if (failed)
        vh_log(ctx, VHEM_LOG_WARN, "%s: the checkpoint is not continued: %s", j->path, strerror(why));
}
