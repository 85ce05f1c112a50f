/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c - a bar with the time left, on standard error, when that is a terminal. */
#include "cli.h"
#include "os/stream.h"
#include "os/system.h"

#include <stdlib.h>
#include <string.h>

enum { BAR = 30 };
static const double REDRAW = 0.1;   /* seconds between two drawings */
static const double PATIENCE = 0.5; /* seconds before the first: short work shows no bar */

static double now(void)
{
    return 1e-9 * (double)vh_nanoseconds();
}

void cli_progress_init(cli *c)
{
    const char *term = getenv("TERM");
    c->progress =
        (cli_progress){ .on = !c->quiet && vh_is_terminal(stderr) && term && strcmp(term, "dumb") != 0 };
}

void cli_progress_clear(cli *c)
{
    if (c->progress.visible)
        fputs("\r\033[K", stderr);
    c->progress.visible = false;
}

static void time_left(char *buf, size_t size, double seconds)
{
    long s = (long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(buf, size, "%ld:%02ld:%02ld left", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(buf, size, "%ld:%02ld left", s / 60, s % 60);
}

void cli_progress_draw(void *arg, const char *what, int64_t done, int64_t total)
{
    cli *c = arg;
    cli_progress *p = &c->progress;
    double t = now();
    if (!p->what || strcmp(p->what, what) != 0) {
        p->what = what;
        p->began = t;
        p->drawn = t + PATIENCE - REDRAW;
    }
    if (total <= 0 || done >= total) {
        cli_progress_clear(c);
        return;
    }
    if (t - p->drawn < REDRAW)
        return;
    char bar[BAR + 1], left[32] = "";
    int full = (int)(BAR * done / total);
    memset(bar, '-', BAR);
    memset(bar, '#', (size_t)full);
    bar[BAR] = '\0';
    if (done > 0)
        time_left(left, sizeof left, (t - p->began) * (double)(total - done) / (double)done);
    fprintf(stderr, "\r%s [%s] %3d%%  %s\033[K", what, bar, (int)(100 * done / total), left);
    p->drawn = t;
    p->visible = true;
}
