/* SPDX-License-Identifier: BSD-3-Clause */
/* models_hdf5.c - model files in HDF5, HMMs and textures: saved and read again they are the same. */
#include "fuzz.h"
#include "vhem.h"

#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    vhem_ctx *ctx = fuzz_ctx();
    vhem_models *m = (vhem_models *)fuzz_untouched;
    const char *copy = fuzz_path("out.h5");
    vhem_status st = vhem_models_load(ctx, fuzz_file("in.h5", bytes, size), &m);
    if (st != VHEM_OK) {
        fuzz_check_failure(st, m, fuzz_untouched);
        return 0;
    }
    fuzz_check_models(m);
    unlink(copy);
    st = vhem_models_save(ctx, m, NULL, copy);
    fuzz_require(st == VHEM_OK, "what was read is not saved: %s", vhem_ctx_error(ctx));
    fuzz_check_copy(m, copy);
    vhem_free(m);
    return 0;
}
