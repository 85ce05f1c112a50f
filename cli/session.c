/* SPDX-License-Identifier: BSD-3-Clause */
/* session.c - the context of a command: messages, signals, the end. */
#include "cli.h"
#include "vhem.h"
#include "os/fd.h"
#include "os/system.h"
#include "os/stream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A signal handler reaches nothing but globals. */
static vhem_ctx *volatile running;
static atomic_int signals;

static void on_signal(vh_stop_cause cause)
{
    (void)cause;
    if (signals++ > 0)
        _Exit(EXIT_STOPPED);
    if (running)
        vhem_ctx_stop(running);
}

/* Of rank 0.  mpirun answers Ctrl-C with SIGTERM, and after a second with SIGKILL, whatever is still to be
 * saved: that is said while there is time. */
static void on_signal_of_first(vh_stop_cause cause)
{
    static const char text[] =
        "vhem-mpi: asked to stop; the best result so far is saved after this iteration, "
        "unless mpirun kills the ranks first: next time 'kill -USR1' mpirun, or use "
        "--checkpoint\n";
    int kept = errno;
    if (cause == VH_STOP_PROGRAM && signals == 0)
        (void)!vh_fd_write(2, text, sizeof text - 1, VH_FD_HERE);
    on_signal(cause);
    errno = kept;
}

/* Of ranks other than 0, which may hear of one Ctrl-C twice, from the terminal and from mpirun: only rank 0
 * leaves at once, after a second one. */
static void on_signal_of_many(vh_stop_cause cause)
{
    (void)cause;
    signals++;
    if (running)
        vhem_ctx_stop(running);
}

void cli_hear_signals(void)
{
    vh_on_stop(on_signal_of_many, true);
}

/* Jansson's results are not checked one by one: that memory ran short for any of them is remembered, and no
 * output that may lack something is kept. */
static json_malloc_t json_get;
static atomic_int json_short;

static void *watched_malloc(size_t size)
{
    void *p = json_get(size);
    if (!p)
        json_short = 1;
    return p;
}

void cli_json_watch(void)
{
    json_free_t release;
    json_get_alloc_funcs(&json_get, &release);
    json_set_alloc_funcs(watched_malloc, release);
}

json_t *cli_json_load(const char *path, size_t flags, json_error_t *error)
{
    FILE *f = vh_file_open(path, "rb");
    if (f) {
        json_t *root = json_loadf(f, flags, error);
        fclose(f);
        return root;
    }
    if (error) {
        *error = (json_error_t){ .line = -1, .column = -1 };
        snprintf(error->text, sizeof error->text, "unable to open %s: %s", path, strerror(errno));
    }
    return NULL;
}

void cli_json_lacks(void)
{
    json_short = 1;
}

bool cli_json_short(void)
{
    return json_short != 0;
}

bool cli_interrupted(void)
{
    return signals > 0;
}

bool cli_is_first(const cli *c)
{
    return !c->ranks || c->ranks->rank == 0;
}

void cli_own_release(void *variable)
{
    void *object;
    memcpy(&object, variable, sizeof object);
    vhem_free(object);
}

void cli_autofree(void *variable)
{
    void *memory;
    memcpy(&memory, variable, sizeof memory);
    free(memory);
}

static char *text_of(const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *text = n >= 0 ? malloc((size_t)n + 1) : NULL;
    if (text)
        vsnprintf(text, (size_t)n + 1, fmt, ap);
    return text;
}

char *cli_text(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = text_of(fmt, ap);
    va_end(ap);
    return text;
}

static void message(cli *c, const char *fmt, va_list ap)
{
    cli_progress_clear(c);
    if (!cli_is_first(c)) {
        vsnprintf(c->why, sizeof c->why, fmt, ap);
        return;
    }
    char *text = text_of(fmt, ap);
    if (text)
        cli_clean(text); /* it names files and what is in them */
    fprintf(stderr, "vhem%s%s: %s\n", c->command ? " " : "", c->command ? c->command : "",
            text ? text : "out of memory");
    free(text);
}

int cli_fail(cli *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message(c, fmt, ap);
    va_end(ap);
    return EXIT_FAILED;
}

int cli_misuse(cli *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    message(c, fmt, ap);
    va_end(ap);
    if (cli_is_first(c))
        fprintf(stderr, "Try '%s%s%s --help'.\n", c->ranks ? "vhem-mpi" : "vhem", c->command ? " " : "",
                c->command ? c->command : "");
    return EXIT_USAGE;
}

void cli_say(cli *c, const char *fmt, ...)
{
    va_list ap;
    if (c->quiet || !cli_is_first(c))
        return;
    va_start(ap, fmt);
    message(c, fmt, ap);
    va_end(ap);
}

int cli_status(cli *c, vhem_status st)
{
    if (st == VHEM_OK)
        return CLI_GO;
    if (st == VHEM_ESTOPPED || cli_interrupted()) {
        cli_fail(c, "interrupted; nothing was written");
        return EXIT_STOPPED;
    }
    const char *sentence = vhem_ctx_error(c->ctx);
    return cli_fail(c, "%s", *sentence ? sentence : vhem_status_text(st));
}

static void on_log(void *arg, int level, const char *text)
{
    cli *c = arg;
    if (level > (c->verbose ? VHEM_LOG_INFO : VHEM_LOG_WARN) || !cli_is_first(c))
        return;
    cli_progress_clear(c);
    fprintf(stderr, "vhem %s: %s%s\n", c->command, level == VHEM_LOG_WARN ? "warning: " : "", text);
}

const char *cli_backend_problem(const char *name)
{
    vhem_backend_facts facts;
    for (int i = 0; vhem_backend_info(i, &facts) == VHEM_OK; i++)
        if (strcmp(facts.name, name) == 0)
            return facts.problem;
    return "there is no backend of this name";
}

const char *cli_backend_slower(void)
{
    vhem_backend_facts facts;
    for (int i = 0; vhem_backend_info(i, &facts) == VHEM_OK; i++)
        if (!facts.problem)
            return facts.slower;
    return NULL;
}

const char *cli_backends(char *list, size_t size)
{
    vhem_backend_facts facts;
    size_t at = 0;
    *list = '\0';
    for (int i = 0; vhem_backend_info(i, &facts) == VHEM_OK; i++)
        if (!facts.problem && at < size)
            at += (size_t)snprintf(list + at, size - at, "%s%s", at > 0 ? " " : "", facts.name);
    return list;
}

/* OpenBLAS takes a buffer of 128 MiB for each thread that multiplies matrices and one more, and tries again
 * without end when it cannot have one: a limit below that would make the command hang instead of fail.  Where
 * there is a limit vhem_ctx_new has it take them at once. */
enum { MIB_AT_REST = 320, MIB_A_THREAD = 160 };

static int limit_memory(cli *c)
{
    int64_t threads = c->threads > 0 ? c->threads : vh_cores();
    int64_t least = MIB_AT_REST + threads * MIB_A_THREAD;

    if (c->max_memory <= 0)
        return CLI_GO;
    if (c->max_memory < least << 20)
        return cli_misuse(c, "--max-memory is too small for %lld thread%s: at least %lldM are needed",
                          (long long)threads, threads == 1 ? "" : "s, see --threads", (long long)least);
    if (!vh_memory_limit(c->max_memory))
        return cli_fail(c, "--max-memory cannot be set: %s", strerror(errno));
    return CLI_GO;
}

int cli_open(cli *c, const cli_usage *usage)
{
    vhem_ctx_options opt;

    const char *problem = c->backend ? cli_backend_problem(c->backend) : NULL;
    bool first = cli_is_first(c);
    char usable[128];
    if (problem)
        return cli_misuse(c, "--backend %s cannot be used here: %s; usable are: %s", c->backend, problem,
                          cli_backends(usable, sizeof usable));
    int status = limit_memory(c);
    if (status == CLI_GO && !first)
        status = cli_agree(c, usage);
    if (status != CLI_GO)
        return status;
    cli_progress_init(c);
    VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
    opt.backend = c->backend;
    opt.threads = c->threads;
    opt.seed = c->seed;
    opt.log = on_log;
    opt.log_arg = opt.progress_arg = c;
    opt.progress = c->progress.on && first ? cli_progress_draw : NULL;
    opt.ranks = c->ranks;
    opt.words = VHEM_WORDS_COMMAND;
    vhem_status st = vhem_ctx_new(&opt, &c->ctx);
    if (st == VHEM_ENOMEM && c->max_memory > 0)
        return cli_fail(c,
                        "cannot start: --max-memory leaves no room for the linear algebra, which takes 128M "
                        "for each thread and more; raise it, or see --threads");
    if (st != VHEM_OK)
        return cli_fail(c, "cannot start: %s", vhem_status_text(st));
    running = c->ctx;
    if (signals > 0) /* before there was anything to stop */
        vhem_ctx_stop(c->ctx);
    if (!first)
        return CLI_GO;
    vh_on_stop(c->ranks ? on_signal_of_first : on_signal, c->ranks != NULL);
    return c->ranks ? cli_agree(c, usage) : CLI_GO;
}

int cli_close(cli *c, int status)
{
    cli_progress_clear(c);
    running = NULL;
    vhem_free(c->ctx);
    free(c->columns);
    free(c->symbols);
    c->columns = c->symbols = NULL;
    c->ctx = NULL;
    errno = 0;
    bool lost = ferror(stdout) != 0;
    if (status == EXIT_DONE && cli_json_short())
        return cli_fail(c, "out of memory: what was printed is not complete");
    if ((fflush(stdout) != 0 || lost) && status == EXIT_DONE)
        return cli_fail(c, "standard output: writing failed: %s", strerror(errno ? errno : EIO));
    return status;
}

int cli_check_streams(cli *c, const char *output)
{
    int piped = 0;
    for (int k = 0; k < c->n_arg; k++)
        piped += strcmp(c->arg[k], "-") == 0;
    if (piped > 1)
        return cli_misuse(c, "only one of the inputs can be standard input");
    if (c->json && output && strcmp(output, "-") == 0)
        return cli_misuse(c, "--json prints its report on standard output: give the result a file with "
                             "-o FILE");
    return CLI_GO;
}
