/* SPDX-License-Identifier: BSD-3-Clause */
/* output.c - text output that is whole or not there. */
#include "cli.h"
#include "vhem.h"
#include "vhem/analysis.h"
#include "os/fd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cli_out_open(cli *c, const char *path, cli_out *out)
{
    int fd = -1;
    bool csv = !c->json && cli_ends_with(path, (const char *const[]){ ".csv", NULL });
    *out = (cli_out){ .path = cli_where(path), .separator = csv ? ',' : '\t' };
    if (strcmp(path, "-") == 0) {
        out->f = stdout;
        return CLI_GO;
    }
    vhem_status st = vhem_output_open(c->ctx, path, &fd, &out->file);
    if (st != VHEM_OK)
        return cli_status(c, st);
    out->f = vh_fd_stream(fd, "w"); /* closes its own: that tells whether all was written */
    if (out->f)
        return CLI_GO;
    int why = errno;
    cli_out_close(out);
    return cli_fail(c, "%s: cannot write: %s", path, strerror(why));
}

int cli_out_commit(cli *c, cli_out *out)
{
    errno = 0;
    bool bad = ferror(out->f) != 0;
    bad |= fflush(out->f) != 0;
    if (out->f != stdout)
        bad |= fclose(out->f) != 0;
    out->f = NULL;
    if (bad) {
        clearerr(stdout); /* said here once, not again at the end */
        return cli_fail(c, "%s: writing failed: %s", out->path, strerror(errno ? errno : EIO));
    }
    if (cli_json_short()) {
        cli_out_close(out);
        return cli_fail(c, "out of memory");
    }
    vhem_status st = vhem_output_close(c->ctx, out->file, 1);
    out->file = NULL;
    return cli_status(c, st);
}

void cli_out_close(cli_out *out)
{
    if (out->f && out->f != stdout)
        fclose(out->f);
    vhem_free(out->file);
    *out = (cli_out){ 0 };
}

int cli_out_check(cli *c, const char *path)
{
    vh_entry there;
    int fd;
    vhem_output *file = NULL;
    if (!cli_is_first(c) || strcmp(path, "-") == 0
        || (vh_path_look(path, &there) && there.kind == VH_IS_OTHER && vh_path_writable(path)))
        return CLI_GO; /* a pipe is not opened twice */
    int status = cli_status(c, vhem_output_open(c->ctx, path, &fd, &file));
    vhem_free(file);
    return status;
}

int cli_out_check_ending(cli *c, const char *path, const char *things, const char *const *endings)
{
    int status = cli_check_streams(c, path);
    if (status == CLI_GO && strcmp(path, "-") != 0 && strncmp(path, "/dev/", 5) != 0
        && !cli_ends_with(path, endings))
        status = cli_misuse(c, "%s: %s", path, things);
    return status == CLI_GO ? cli_out_check(c, path) : status;
}

int cli_out_check_table(cli *c, const char *path)
{
    static const char *const others[] = { ".h5",   ".hdf5",    ".npy", ".npz",      ".ts",   ".mat", ".html",
                                          ".htm",  ".svg",     ".png", ".pdf",      ".xlsx", ".xls", ".ods",
                                          ".sav",  ".dta",     ".rds", ".rda",      ".zip",  ".gz",  ".doc",
                                          ".docx", ".parquet", ".por", ".sas7bdat", NULL };
    if (cli_ends_with(path, others) || (!c->json && cli_ends_with(path, cli_json_endings)))
        return cli_misuse(c, "%s: a table is written as .tsv, .csv or .txt, or with --json as .json", path);
    return cli_out_check(c, path);
}

const char *cli_number_text(double x, char *text, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    return text;
}

void cli_put_number(FILE *f, double x)
{
    char text[40];
    fputs(cli_number_text(x, text, sizeof text), f);
}
