/* SPDX-License-Identifier: BSD-3-Clause */
/* data.c - the reader of one data format, FUZZ_FORMAT, and its writer, FUZZ_ENDING.  What is read, saved and
 * read again has the same frames, to the last bit, and the same names. */
#include "data_checks.h"
#include "vhem.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    vhem_data_options opt;
    vhem_data *data =
        fuzz_load_data(fuzz_file("in" FUZZ_ENDING, bytes, size), fuzz_data_options(&opt, FUZZ_FORMAT));
    if (data)
        fuzz_save_and_load(data, "out" FUZZ_ENDING, &opt);
    vhem_free(data);
    return 0;
}
