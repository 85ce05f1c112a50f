/* SPDX-License-Identifier: BSD-3-Clause */
/* read_xlsx.c - a sheet of an Excel workbook, read as the long table that it is.  Its cells go through a file
 * without a name, since a table is read in one pass and a workbook has its texts apart from its cells. */
#include "core/fd.h"
#include "data/readers.h"
#include "data/spill.h"
#include "data/table.h"
#include "data/xlsx.h"

#include <string.h>
#include <unistd.h>

static vhem_status open_scratch(vhem_ctx *ctx, const char *path, FILE **out)
{
    int fd = vh_fd_scratch(vh_spill_folder());
    *out = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (*out)
        return VHEM_OK;
    vhem_status st = vh_xlsx_no_room(ctx, path);
    if (fd >= 0)
        close(fd);
    return st;
}

vhem_status vh_read_xlsx(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    vhem_status st = VHEM_OK;
    FILE *f = NULL;
    vh_table table;

    VH_CHECK(strcmp(path, "-") != 0, VHEM_EINVAL,
             "a workbook cannot be read from standard input; give a file");
    VH_TRY(open_scratch(ctx, path, &f));
    VH_TRY(vh_xlsx_to_csv(ctx, path, opt->sheet, f));
    int64_t size = (int64_t)ftello(f);
    if (fflush(f) != 0 || ferror(f) || fseeko(f, 0, SEEK_SET) != 0)
        VH_TRY(vh_xlsx_no_room(ctx, path));
    FILE *text = f;
    f = NULL; /* the table's from here on */
    VH_TRY(vh_table_open_file(ctx, path, text, size, ',', &table));
    VH_TRY(vh_read_rows(ctx, &table, "xlsx", opt, out));
done:
    if (f)
        fclose(f);
    return st;
}
