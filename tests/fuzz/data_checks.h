/* SPDX-License-Identifier: BSD-3-Clause */
/* data_checks.h - what must hold for sequences that were read. */
#ifndef VH_TESTS_FUZZ_DATA_CHECKS_H
#define VH_TESTS_FUZZ_DATA_CHECKS_H

#include "fuzz.h"

/* Defaults for small files, of this format. */
const vhem_data_options *fuzz_data_options(vhem_data_options *opt, const char *format);
/* NULL after a failure, which is checked; else data that is checked: no infinity, sizes that add up. */
vhem_data *fuzz_load_data(const char *path, const vhem_data_options *opt);
/* Saves under this name in the folder of fuzz_path, reads again and compares.  A writer may refuse what its
 * format cannot hold: with a sentence, and without leaving a file. */
void fuzz_save_and_load(const vhem_data *data, const char *name, const vhem_data_options *opt);

#endif
