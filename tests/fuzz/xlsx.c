/* SPDX-License-Identifier: BSD-3-Clause */
/* xlsx.c - the reader of workbooks.  What is read, saved as CSV and read again has the same frames and
 * names. */
#include "data_checks.h"
#include "vhem.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    vhem_data_options opt;
    vhem_data *data = fuzz_load_data(fuzz_file("in.xlsx", bytes, size), fuzz_data_options(&opt, "xlsx"));
    opt.format = "csv";
    if (data)
        fuzz_save_and_load(data, "out.csv", &opt);
    vhem_free(data);
    return 0;
}
