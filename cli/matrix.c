/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.c - matrices of numbers: small ones in memory, large ones in a file without a name in TMPDIR, which
 * is mapped, so that the system keeps in memory what there is room for. */
#include "cli.h"
#include "os/fd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int fail_room(cli *c, const char *folder, size_t bytes, int why)
{
    char size[32];
    return cli_fail(c, "%s: cannot make a matrix of %s: %s; set TMPDIR to use another folder", folder,
                    cli_put_size((int64_t)(bytes >> 20) << 20, size, sizeof size), strerror(why));
}

int cli_matrix_new(cli *c, int64_t rows, int64_t columns, cli_matrix *out)
{
    const char *folder = vh_scratch_folder("/tmp");
    size_t bytes = (size_t)rows * (size_t)columns * sizeof *out->x;
    *out = (cli_matrix){ .rows = rows, .columns = columns };
    if (bytes <= CLI_MATRIX_IN_MEMORY) {
        out->x = calloc(bytes ? bytes : 1, 1);
        return out->x ? CLI_GO : cli_fail(c, "out of memory");
    }
    CLI_CLEANUP(vh_fd_close) int fd = vh_fd_scratch(folder);
    if (fd < 0 || !vh_fd_reserve(fd, (int64_t)bytes)) /* now: a full disk later on would end the process */
        return fail_room(c, folder, bytes, errno);
    out->x = vh_fd_map(fd, bytes, true);
    if (!out->x)
        return fail_room(c, folder, bytes, errno);
    out->mapped = bytes;
    return CLI_GO;
}

void cli_matrix_free(cli_matrix *m)
{
    if (m->mapped)
        vh_unmap(m->x, m->mapped);
    else
        free(m->x);
    *m = (cli_matrix){ 0 };
}

void cli_matrix_write_npy(FILE *f, const cli_matrix *m)
{
    char head[128];
    int n = snprintf(head, sizeof head,
                     "\x93NUMPY%c%c%c%c{'descr': '<f8', 'fortran_order': False, 'shape': (%lld, %lld), }", 1,
                     0, (int)sizeof head - 10, 0, (long long)m->rows, (long long)m->columns);
    memset(head + n, ' ', sizeof head - (size_t)n);
    head[sizeof head - 1] = '\n';
    fwrite(head, 1, sizeof head, f);
    for (int64_t i = 0; i < m->rows && !ferror(f); i++)
        fwrite(m->x + i * m->columns, sizeof *m->x, (size_t)m->columns, f);
}
