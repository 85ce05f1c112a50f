/* SPDX-License-Identifier: BSD-3-Clause */
/* read_xlsx.c - reads a sheet of an Excel workbook as a long table.  Its cells pass through an unnamed file:
 * tables are read in one pass, but a workbook stores its strings apart from its cells. */
#include "os/fd.h"
#include "core/atomic_file.h"
#include "data/formats/formats.h"
#include "data/spill.h"
#include "data/formats/symbols.h"
#include "data/formats/table.h"
#include "data/formats/xlsx.h"
#include "os/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Opens an independent stream at the beginning of the file. */
static FILE *stream_of(int fd, const char *mode)
{
    FILE *f = vh_fd_stream(fd, mode);
    if (!f || vh_file_seek(f, 0, SEEK_SET))
        return f;
    int why = errno;
    fclose(f);
    errno = why;
    return NULL;
}

/* Converts the sheet to CSV in an unnamed file of *size bytes. */
static vhem_status unpack(vhem_ctx *ctx, const char *path, const char *sheet, int fd, int64_t *size)
{
    VH_OWN(FILE) *f = stream_of(fd, "w+b");

    if (!f)
        return vh_xlsx_no_room(ctx, path);
    VH_TRY(vh_xlsx_to_csv(ctx, path, sheet, f));
    *size = vh_file_tell(f);
    if (fflush(f) != 0 || ferror(f))
        VH_TRY(vh_xlsx_no_room(ctx, path));
    return VHEM_OK;
}

/* Reads the table, and silently a second time if text columns proved to be symbols. */
static vhem_status read_again(vhem_ctx *ctx, const char *path, int fd, int64_t size,
                              const vhem_data_options *opt, vh_text_columns *text, vhem_data **out)
{
    vh_table table;

    do {
        ctx->hushed = text->again;
        FILE *f = stream_of(fd, "rb"); /* the table closes it */
        VH_CHECK(f, VHEM_EIO, "%s: cannot read: %s", path, strerror(errno));
        VH_TRY(vh_table_open_file(ctx, path, f, size, ',', &table));
        VH_TRY(vh_read_rows(ctx, &table, "xlsx", opt, vh_finds_symbols(opt->symbols) ? text : NULL, out));
    } while (text->again);
    return VHEM_OK;
}

vhem_status vh_read_xlsx(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    VH_CLEANUP(vh_fd_close) int fd = -1;
    VH_CLEANUP(vh_text_columns_free) vh_text_columns text = { 0 };
    int64_t size = 0;

    VH_CHECK(strcmp(path, "-") != 0, VHEM_EINVAL,
             "a workbook cannot be read from standard input; give a file");
    fd = vh_fd_scratch(vh_spill_folder());
    if (fd < 0)
        VH_TRY(vh_xlsx_no_room(ctx, path));
    VH_TRY(unpack(ctx, path, opt->sheet, fd, &size));
    vhem_status st = read_again(ctx, path, fd, size, opt, &text, out);
    ctx->hushed = false;
    return st;
}
