/* SPDX-License-Identifier: BSD-3-Clause */
/* index.c - NAME.npy with NAME_index.csv.  The input is two bytes with the length of the index, the index,
 * and the array. */
#include "data_checks.h"
#include "vhem.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    vhem_data_options opt;
    if (size < 2)
        return 0;
    size_t n = bytes[0] | (size_t)bytes[1] << 8;
    bytes += 2;
    size -= 2;
    n = n < size ? n : size;
    fuzz_file("in_index.csv", bytes, n);
    unlink(fuzz_path("out_index.csv"));
    vhem_data *data =
        fuzz_load_data(fuzz_file("in.npy", bytes + n, size - n), fuzz_data_options(&opt, "npy"));
    if (data)
        fuzz_save_and_load(data, "out.npy", &opt);
    vhem_free(data);
    return 0;
}
