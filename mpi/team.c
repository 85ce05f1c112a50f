/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c - see team.h.
 *
 * Before a message, every rank announces its next action.  A rank that failed announces that once, and its
 * error message goes to all, so that no rank waits for a message that never comes. */
#include "team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAVE, STOPPED, FAILED, PASS }; /* next action of a rank; PASS + r: pass on the bytes of rank r */

/* The first rank with this next action, or -1. */
static int first_of(const team *t, int64_t what, const int64_t *all)
{
    for (int r = 0; r < t->size; r++)
        if (all[r] == what)
            return r;
    return -1;
}

/* The first rank that failed; else the first that goes on while this one ends, or the reverse; else -1. */
static int odd_one(const team *t, int64_t mine, const int64_t *all)
{
    int odd = first_of(t, FAILED, all);
    for (int r = 0; odd < 0 && r < t->size; r++)
        if (all[r] != mine && (all[r] >= PASS || mine >= PASS))
            odd = r;
    return odd;
}

/* True if all ranks agree; otherwise t->sentence says which one does not. */
static bool agree(team *t, int64_t mine, const char *why)
{
    char text[VHEM_WHY] = "";
    int64_t *all = bytes_room(sizeof *all * (size_t)t->size);
    bytes_gather(mine, all);
    int odd = odd_one(t, mine, all), stopped = first_of(t, STOPPED, all);
    if (odd >= 0 && all[odd] == FAILED) {
        if (odd == t->rank)
            snprintf(text, sizeof text, "%s", why);
        bytes_share(odd, text, sizeof text);
        snprintf(t->sentence, sizeof t->sentence, "rank %d: %.*s", odd, VHEM_WHY - 20, text);
    } else if (odd >= 0 && stopped >= 0) {
        snprintf(t->sentence, sizeof t->sentence, "rank %d was interrupted", stopped);
    } else if (odd >= 0 && all[odd] >= PASS && mine >= PASS) {
        snprintf(t->sentence, sizeof t->sentence,
                 "ranks %d and %d are at different steps: do all see the same files?", t->rank, odd);
    } else if (odd >= 0) {
        bool first = all[t->rank] < PASS; /* this rank has finished, the other continues */
        snprintf(t->sentence, sizeof t->sentence,
                 "rank %d finished before rank %d: do all see the same files?", first ? t->rank : odd,
                 first ? odd : t->rank);
    }
    t->stopped = stopped >= 0;
    t->over = odd >= 0;
    free(all);
    return !t->over;
}

vhem_status team_pass(void *arg, int from, int everyone, void **bytes, size_t *n, char *why)
{
    team *t = arg;
    int64_t size = (int64_t)*n;
    if (t->over || !agree(t, PASS + from, NULL)) {
        snprintf(why, VHEM_WHY, "%s", t->sentence);
        return VHEM_EIO;
    }
    bool heard = t->rank != from && (everyone || t->rank == 0);
    if (everyone) {
        bytes_share(from, &size, sizeof size);
        char *room = heard ? bytes_room((size_t)size) : *bytes;
        bytes_share(from, room, (size_t)size);
        *bytes = room;
    } else if (t->rank == from && from != 0) {
        bytes_send(&size, sizeof size, 0);
        bytes_send(*bytes, (size_t)size, 0);
    } else if (heard) {
        bytes_receive(&size, sizeof size, from);
        *bytes = bytes_room((size_t)size);
        bytes_receive(*bytes, (size_t)size, from);
    }
    *n = (size_t)size;
    return VHEM_OK;
}

const char *team_leave(team *t, bool stopped, const char *why)
{
    if (!t->over)
        agree(t, why ? FAILED : stopped ? STOPPED : LEAVE, why);
    return t->sentence;
}
