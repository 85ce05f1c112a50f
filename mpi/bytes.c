/* SPDX-License-Identifier: BSD-3-Clause */
/* bytes.c - see team.h: messages of any size, with waits that free the core for working ranks. */
#include "team.h"
#include "os/system.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG = 1, PIECE = 1 << 30 }; /* MPI counts are ints */

/* MPI busy-waits; this polls with pauses of 20 microseconds to 5 milliseconds to free the core for others. */
static void rest_until(MPI_Request *request)
{
    int done = 0;
    for (int64_t pause = 20000; MPI_Test(request, &done, MPI_STATUS_IGNORE), !done;) {
        vh_sleep(pause);
        pause = pause < 2500000 ? 2 * pause : 5000000;
    }
}

static int piece(size_t left)
{
    return (int)(left < PIECE ? left : PIECE);
}

void bytes_share(int root, void *bytes, size_t n)
{
    MPI_Request request;
    for (size_t at = 0; at < n; at += PIECE) {
        MPI_Ibcast((char *)bytes + at, piece(n - at), MPI_BYTE, root, MPI_COMM_WORLD, &request);
        rest_until(&request);
    }
}

void bytes_send(const void *bytes, size_t n, int to)
{
    MPI_Request request;
    for (size_t at = 0; at < n; at += PIECE) {
        MPI_Isend((const char *)bytes + at, piece(n - at), MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request);
        rest_until(&request);
    }
}

void bytes_receive(void *bytes, size_t n, int from)
{
    MPI_Request request;
    for (size_t at = 0; at < n; at += PIECE) {
        MPI_Irecv((char *)bytes + at, piece(n - at), MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request);
        rest_until(&request);
    }
}

void bytes_gather(int64_t mine, int64_t *all)
{
    MPI_Request request;
    MPI_Iallgather(&mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, MPI_COMM_WORLD, &request);
    rest_until(&request);
}

/* Aborts the job if out of memory: no rank can continue. */
void *bytes_room(size_t n)
{
    void *bytes = malloc(n ? n : 1);
    if (bytes)
        return bytes;
    fprintf(stderr, "vhem-mpi: out of memory: no room for a message of %zu bytes\n", n);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}
