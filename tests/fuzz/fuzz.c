/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz.c - see fuzz.h. */
#define _GNU_SOURCE
#include "fuzz.h"

#include "core/text.h"
#include "hmm/hmm_set.h"
#include "vhem.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_SENTENCE = 2000 };

char fuzz_untouched[1];

static void check_log(void *arg, int level, const char *text)
{
    (void)arg;
    (void)level;
    fuzz_check_sentence(text);
}

vhem_ctx *fuzz_ctx(void)
{
    static vhem_ctx *ctx;
    if (!ctx) {
        vhem_ctx_options opt;
        VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
        opt.backend = "ref";
        opt.threads = 1;
        opt.log = check_log;
        fuzz_require(vhem_ctx_new(&opt, &ctx) == VHEM_OK, "no context");
    }
    return ctx;
}

const char *fuzz_path(const char *name)
{
    static char path[16][512];
    static int n;
    const char *tmp = getenv("TMPDIR");
    char full[512];
    snprintf(full, sizeof full, "%s/%ld-%s", tmp && *tmp ? tmp : "/dev/shm", (long)getpid(), name);
    for (int k = 0; k < n; k++)
        if (strcmp(path[k], full) == 0)
            return path[k];
    fuzz_require(n < 16, "too many files");
    return strcpy(path[n++], full);
}

const char *fuzz_file(const char *name, const void *bytes, size_t size)
{
    const char *path = fuzz_path(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0, "%s", path);
    return path;
}

char *fuzz_read(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat sb;
    fuzz_require(fd >= 0 && fstat(fd, &sb) == 0, "%s", path);
    char *bytes = malloc((size_t)sb.st_size + 1);
    fuzz_require(bytes && read(fd, bytes, (size_t)sb.st_size) == sb.st_size, "%s", path);
    close(fd);
    bytes[sb.st_size] = '\0';
    *size = (size_t)sb.st_size;
    return bytes;
}

bool fuzz_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

void fuzz_check_sentence(const char *text)
{
    size_t size = strlen(text);
    fuzz_require(size > 0, "there is no sentence");
    fuzz_require(size <= LONGEST_SENTENCE, "a sentence of %zu bytes", size);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int n = vh_utf8_length(s);
        fuzz_require(n > 0, "not UTF-8: %s", text);
        fuzz_require(*s >= 32 && *s != 127, "a control character, %d: %s", *s, text);
        s += n;
    }
}

void fuzz_check_failure(vhem_status st, const void *out, const void *before)
{
    fuzz_require(st > VHEM_OK && st <= VHEM_ESTOPPED, "status %d", (int)st);
    fuzz_require(out == before, "a failure changed its output: %s", vhem_ctx_error(fuzz_ctx()));
    fuzz_check_sentence(vhem_ctx_error(fuzz_ctx()));
}

static void check_finite(const double *x, size_t n, const char *what)
{
    for (size_t k = 0; k < n; k++)
        fuzz_require(isfinite(x[k]), "%s has %g", what, x[k]);
}

void fuzz_check_models(const vhem_models *m)
{
    vhem_models_facts facts;
    vhem_models_info(m, &facts);
    fuzz_require(facts.K >= 1 && facts.d >= 1 && facts.S >= 1, "empty models");
    for (int64_t i = 0; i < facts.K; i++) {
        vhem_hmm_view h;
        vhem_dt_view t;
        if (facts.kind == VHEM_HMMS) {
            fuzz_require(vhem_models_hmm(m, i, &h) == VHEM_OK, "view");
            size_t S = (size_t)h.S;
            check_finite(&h.omega, 1, "omega");
            check_finite(h.pi, S, "pi");
            check_finite(h.A, S * S, "A");
            check_finite(h.theta, (size_t)h.n_theta, "theta");
        } else {
            fuzz_require(vhem_models_texture(m, i, &t) == VHEM_OK, "view");
            size_t n = (size_t)t.n, d = (size_t)t.d;
            check_finite(&t.omega, 1, "omega");
            check_finite(t.A, n * n, "A");
            check_finite(t.Q, n * n, "Q");
            check_finite(t.mu, n, "mu");
            check_finite(t.Sigma, n * n, "Sigma");
            check_finite(t.C, d * n, "C");
            check_finite(t.ybar, d, "ybar");
            check_finite(t.R, d, "R");
        }
    }
}

char *fuzz_print_models(const vhem_models *m)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    fuzz_require(f, "no memory stream");
    vhem_status st = vh_models_print_json(fuzz_ctx(), m, f);
    fuzz_require(fclose(f) == 0, "a memory stream failed");
    fuzz_require(st == VHEM_OK, "what was read cannot be written: %s", vhem_ctx_error(fuzz_ctx()));
    return text;
}

void fuzz_check_copy(const vhem_models *m, const char *path)
{
    vhem_models *again = NULL;
    vhem_status st = vhem_models_load(fuzz_ctx(), path, &again);
    fuzz_require(st == VHEM_OK, "what was saved is not read: %s", vhem_ctx_error(fuzz_ctx()));
    char *text = fuzz_print_models(m), *second = fuzz_print_models(again);
    fuzz_require(strcmp(text, second) == 0, "%s\nbecame\n%s", text, second);
    free(text);
    free(second);
    vhem_free(again);
}
