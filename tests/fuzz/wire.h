/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.h - for targets that read bytes of another process (parallel/serialize.h): a mutator that begins with
 * sound bytes now and then, keeps the mark in front, and mends the checksum at the end. */
#ifndef VH_TESTS_FUZZ_WIRE_H
#define VH_TESTS_FUZZ_WIRE_H

#include "fuzz.h"

/* Of the target: sound bytes, one of several kinds; they live as long as the process. */
const void *fuzz_sound(unsigned kind, size_t *size);

#endif
