/* SPDX-License-Identifier: BSD-3-Clause */
/* data_checks.c - see data_checks.h. */
#include "data_checks.h"
#include "vhem.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

const vhem_data_options *fuzz_data_options(vhem_data_options *opt, const char *format)
{
    VHEM_INIT(VHEM_DATA_OPTIONS, opt);
    opt->format = format;
    opt->memory = 1 << 20;
    return opt;
}

static void check(const vhem_data *data)
{
    vhem_data_facts facts;
    int64_t frames = 0, missing = 0;
    vhem_data_info(data, &facts);
    fuzz_require(facts.N >= 1 && facts.d >= 1, "%lld sequences of %d columns", (long long)facts.N, facts.d);
    for (int64_t n = 0; n < facts.N; n++) {
        vhem_seq_view v;
        fuzz_require(vhem_data_view(data, n, &v) == VHEM_OK, "view %lld", (long long)n);
        fuzz_require(v.T >= 1, "sequence %lld has no frames", (long long)n);
        fuzz_require(isfinite(v.weight) && v.weight >= 0, "weight %g", v.weight);
        frames += v.T;
        for (int64_t k = 0; k < v.T * facts.d; k++) {
            fuzz_require(!isinf(v.y[k]), "infinity was let in");
            missing += isnan(v.y[k]);
        }
    }
    fuzz_require(frames == facts.frames && missing == facts.missing, "%lld frames, %lld missing",
                 (long long)facts.frames, (long long)facts.missing);
}

vhem_data *fuzz_load_data(const char *path, const vhem_data_options *opt)
{
    vhem_data *data = (vhem_data *)fuzz_untouched;
    vhem_status st = vhem_data_load(fuzz_ctx(), path, opt, &data);
    if (st != VHEM_OK) {
        fuzz_check_failure(st, data, fuzz_untouched);
        return NULL;
    }
    check(data);
    return data;
}

static void compare(const vhem_data *a, const vhem_data *b)
{
    vhem_data_facts fa, fb;
    vhem_data_info(a, &fa);
    vhem_data_info(b, &fb);
    fuzz_require(fa.N == fb.N && fa.d == fb.d && fa.frames == fb.frames, "%lld x %d became %lld x %d",
                 (long long)fa.N, fa.d, (long long)fb.N, fb.d);
    for (int64_t n = 0; n < fa.N; n++) {
        vhem_seq_view u, v;
        fuzz_require(vhem_data_view(a, n, &u) == VHEM_OK && vhem_data_view(b, n, &v) == VHEM_OK,
                     "sequence %lld cannot be looked at", (long long)n);
        fuzz_require(u.T == v.T, "length %lld became %lld", (long long)u.T, (long long)v.T);
        fuzz_require(strcmp(u.label, v.label) == 0, "label '%s' became '%s'", u.label, v.label);
        for (int64_t k = 0; k < u.T * fa.d; k++)
            fuzz_require((isnan(u.y[k]) && isnan(v.y[k])) || memcmp(&u.y[k], &v.y[k], sizeof *u.y) == 0,
                         "value %.17g became %.17g", u.y[k], v.y[k]);
    }
}

void fuzz_save_and_load(const vhem_data *data, const char *name, const vhem_data_options *opt)
{
    const char *path = fuzz_path(name);
    vhem_data_options plain;
    vhem_data *again = NULL;
    unlink(path);
    vhem_status st = vhem_data_save(fuzz_ctx(), data, path);
    if (st != VHEM_OK) {
        fuzz_check_failure(st, NULL, NULL);
        fuzz_require(!fuzz_exists(path), "a failed save left a file");
        return;
    }
    fuzz_data_options(&plain, opt->format);
    st = vhem_data_load(fuzz_ctx(), path, &plain, &again);
    fuzz_require(st == VHEM_OK, "what was saved is not read: %s", vhem_ctx_error(fuzz_ctx()));
    compare(data, again);
    vhem_free(again);
}
