/* SPDX-License-Identifier: BSD-3-Clause */
/* output.c - text output that is whole or not there: written beside the target, then renamed. */
#define _GNU_SOURCE
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Beside the target; mkstemp's private mode becomes that of the file it replaces, or of a new one. */
static int open_temporary(cli *c, const char *path, cli_out *out)
{
    static const char suffix[] = ".XXXXXX";
    struct stat sb;
    bool exists = stat(path, &sb) == 0;
    out->path = exists ? realpath(path, NULL) : strdup(path); /* keep a symbolic link a link */
    out->tmp = out->path ? malloc(strlen(out->path) + sizeof suffix) : NULL;
    if (!out->tmp)
        return cli_fail(c, "%s: cannot write: %s", path, strerror(errno));
    strcpy(out->tmp, out->path);
    strcat(out->tmp, suffix);
    int fd = mkstemp(out->tmp);
    if (fd < 0) {
        int status = cli_fail(c, "%s: cannot write: %s", path, strerror(errno));
        free(out->tmp);
        out->tmp = NULL;
        return status;
    }
    mode_t mask = umask(0);
    umask(mask);
    (void)!fchmod(fd, exists ? sb.st_mode & 07777 : 0666 & ~mask);
    out->f = fdopen(fd, "w");
    if (!out->f)
        close(fd);
    return CLI_GO;
}

int cli_out_open(cli *c, const char *path, cli_out *out)
{
    struct stat sb;
    int status = CLI_GO;
    memset(out, 0, sizeof *out);
    if (strcmp(path, "-") == 0) {
        out->path = strdup("standard output");
        out->f = stdout;
        return CLI_GO;
    }
    if (stat(path, &sb) == 0 && !S_ISREG(sb.st_mode)) {
        out->path = strdup(path);
        out->f = fopen(path, "w");
    } else {
        status = open_temporary(c, path, out);
    }
    if (status == CLI_GO && !out->f)
        status = cli_fail(c, "%s: cannot write: %s", path, strerror(errno));
    if (status != CLI_GO)
        cli_out_close(out);
    return status;
}

int cli_out_commit(cli *c, cli_out *out)
{
    errno = 0;
    bool bad = ferror(out->f) != 0;
    bad |= fflush(out->f) != 0;
    if (!bad && out->tmp)
        bad = fsync(fileno(out->f)) != 0;
    if (out->f != stdout)
        bad |= fclose(out->f) != 0;
    out->f = NULL;
    if (!bad && out->tmp) {
        bad = rename(out->tmp, out->path) != 0;
        if (!bad) {
            free(out->tmp);
            out->tmp = NULL;
        }
    }
    if (!bad)
        return CLI_GO;
    clearerr(stdout); /* said here once, not again at the end */
    return cli_fail(c, "%s: writing failed: %s", out->path, strerror(errno ? errno : EIO));
}

void cli_out_close(cli_out *out)
{
    if (out->f && out->f != stdout)
        fclose(out->f);
    if (out->tmp)
        unlink(out->tmp);
    free(out->tmp);
    free(out->path);
    memset(out, 0, sizeof *out);
}

int cli_out_check(cli *c, const char *path)
{
    struct stat sb;
    if (strcmp(path, "-") == 0)
        return CLI_GO;
    if (stat(path, &sb) == 0) {
        if (S_ISDIR(sb.st_mode))
            return cli_fail(c, "%s: cannot write: it is a directory", path);
        if (access(path, W_OK) != 0)
            return cli_fail(c, "%s: cannot write: %s", path, strerror(errno));
        if (!S_ISREG(sb.st_mode))
            return CLI_GO;
    }
    cli_out out = { 0 }; /* some places say yes to access() and then no */
    int status = open_temporary(c, path, &out);
    cli_out_close(&out);
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

void cli_put_number(FILE *f, double x)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    fputs(text, f);
}

void cli_put_cell(FILE *f, const char *text)
{
    for (; *text; text++)
        fputc(strchr("\t\n\r", *text) ? ' ' : *text, f);
}
