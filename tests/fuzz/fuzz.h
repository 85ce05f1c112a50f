/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz.h - what the fuzz targets share.  A target hands bytes to one reader and then checks what must hold:
 * what was read can be saved and read again to the same, a failure has a sentence and leaves its output as it
 * was, and no number gets in that is not one.  A property that does not hold aborts, which libFuzzer reports
 * together with the input.
 *
 * Files are in TMPDIR, or else in /dev/shm, which is memory. */
#ifndef VH_TESTS_FUZZ_H
#define VH_TESTS_FUZZ_H

#include "core/ctx.h"
#include "models/models.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
/* Of libFuzzer, for mutators: changes bytes in place and returns their new number. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned int seed);

#define fuzz_require(cond, ...)                                        \
    do {                                                               \
        if (!(cond)) {                                                 \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #cond); \
            fprintf(stderr, __VA_ARGS__);                              \
            fputc('\n', stderr);                                       \
            abort();                                                   \
        }                                                              \
    } while (0)

/* The one context of a target: a single thread, backend ref, a log that only checks its texts. */
vhem_ctx *fuzz_ctx(void);

/* The path of a file of this process: "in.csv".  Valid until the process ends. */
const char *fuzz_path(const char *name);
/* A file of this name with these bytes. */
const char *fuzz_file(const char *name, const void *bytes, size_t size);
/* The bytes of a file with a NUL after them; free() releases them. */
char *fuzz_read(const char *path, size_t *size);
bool fuzz_exists(const char *path);

/* A text for a person: UTF-8, of one line, not empty and not too long. */
void fuzz_check_sentence(const char *text);
/* After a call whose output pointer was `before` before it: a failure has a sentence and did not touch it. */
void fuzz_check_failure(vhem_status st, const void *out, const void *before);
/* What outputs point to before a call. */
extern char fuzz_untouched[1];

/* All numbers of the models are finite. */
void fuzz_check_models(const vhem_models *m);
/* The models as JSON text; free() releases it.  NULL, and the failure is checked, when they cannot be one. */
char *fuzz_print_models(const vhem_models *m);
/* The file that a set was saved in has the same models. */
void fuzz_check_copy(const vhem_models *m, const char *path);

#endif
