/* SPDX-License-Identifier: BSD-3-Clause */
/* roles.c - options that say what the columns of a table are.  The input is seven texts, each ended by a NUL
 * (id, label, group, weight, columns, where, empty: not given), and the table. */
#include "data_checks.h"
#include "vhem.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    vhem_data_options opt;
    fuzz_data_options(&opt, "csv");
    const char **slot[] = { &opt.id, &opt.label, &opt.group, &opt.weight, &opt.columns, &opt.where };
    for (size_t k = 0; k < sizeof slot / sizeof *slot; k++) {
        const uint8_t *end = memchr(bytes, 0, size);
        if (!end)
            return 0;
        if (end > bytes)
            *slot[k] = (const char *)bytes;
        size -= (size_t)(end + 1 - bytes);
        bytes = end + 1;
    }
    vhem_free(fuzz_load_data(fuzz_file("in.csv", bytes, size), &opt));
    return 0;
}
