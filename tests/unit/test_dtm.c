/* SPDX-License-Identifier: BSD-3-Clause */
/* test_dtm.c - dynamic textures: views, validation, comparison, files in both formats. */
#include "textures.h"
#include "files/hmm_file.h"
#include "vhem.h"

static vhem_status load_textures(vhem_ctx *ctx, const char *path, vh_dtm **out)
{
    char *text;
    size_t size;
    vhem_status st = vh_model_read(ctx, path, &text, &size);
    if (st == VHEM_OK)
        st = text ? vh_dtm_read_json(ctx, text, size, strcmp(path, "-") == 0 ? "standard input" : path, out)
                  : vh_dtm_load_hdf5(ctx, path, out);
    free(text);
    return st;
}

static vh_dtm *sample(vhem_ctx *ctx)
{
    vh_rng rng;
    vh_rng_init(&rng, 191, VH_RNG_TEST, 0);
    vh_dtm *dtm = random_dtm(ctx, &rng, 3, 2, 3, 0.8, 2);
    dtm->dt[1].name = strdup("wave \xc3\xa9\"");
    dtm->dt[1].label = strdup("sea");
    dtm->dt[2].extra = strdup("{\"note\": 7}");
    dtm->extra = strdup("{\"author\": \"x\"}");
    assert_ok(ctx, vh_model_set_provenance(ctx, &dtm->provenance, "{\"seed\": 1}"));
    return dtm;
}

static void views(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_dtm *dtm = sample(ctx), *copy = NULL;
    vhem_dt_view v[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(vh_dtm_view(dtm, i, &v[i]), VHEM_OK);
    assert_int_equal(vh_dtm_view(dtm, 3, &v[0]), VHEM_EINVAL);
    assert_ok(ctx, vh_dtm_from_views(ctx, 3, 3, v, &copy));
    assert_true(vh_dtm_compare(dtm, copy) == 0);
    assert_string_equal(copy->dt[1].label, "sea");
    copy->dt[0].A[1] += 1e-3;
    assert_near(vh_dtm_compare(dtm, copy), 1e-3, 0.5, 0);
    v[2].Q = NULL;
    assert_fails(ctx, vh_dtm_from_views(ctx, 3, 3, v, &copy), VHEM_EINVAL, "texture 2: Q is not given");
    vh_dtm_free(copy);
    vh_dtm_free(dtm);
    vhem_free(ctx);
}

static void invalid(void **state)
{
    (void)state;
    NEEDS_HDF5();
    vhem_ctx *ctx = test_ctx();
    vh_dtm *dtm = sample(ctx);
    double keep = dtm->dt[1].R[2];
    dtm->dt[1].R[2] = 0;
    assert_fails(ctx, vh_dtm_validate(ctx, dtm), VHEM_EINVAL, "R[2] is 0, must be above 0");
    dtm->dt[1].R[2] = keep;
    keep = dtm->dt[0].Q[1];
    dtm->dt[0].Q[1] += 1;
    assert_fails(ctx, vh_dtm_validate(ctx, dtm), VHEM_EINVAL, "a covariance is symmetric");
    dtm->dt[0].Q[2] = dtm->dt[0].Q[1] = 100;
    assert_fails(ctx, vh_dtm_validate(ctx, dtm), VHEM_EINVAL, "Q has the eigenvalue -");
    dtm->dt[0].Q[1] = dtm->dt[0].Q[2] = keep;
    dtm->dt[0].mu[0] = NAN;
    assert_fails(ctx, vh_dtm_validate(ctx, dtm), VHEM_EINVAL, "of mu is nan, must be a number");
    assert_fails(ctx, vh_dtm_save(ctx, dtm, test_scratch("nan.h5")), VHEM_ENUMERIC, "cannot be written");
    dtm->dt[0].mu[0] = 0;
    dtm->omega[0] = 2;
    assert_fails(ctx, vh_dtm_validate(ctx, dtm), VHEM_EINVAL, "omega sums to");
    vh_dtm_free(dtm);
    vhem_free(ctx);
}

/* Every number, text and unknown key survives both formats and the way from one to the other. */
static void files(void **state)
{
    (void)state;
    NEEDS_HDF5();
    static const char *const name[] = { "dt.json", "dt.h5" };
    vhem_ctx *ctx = test_ctx();
    vh_dtm *dtm = sample(ctx), *back = NULL;
    for (int way = 0; way < 2; way++) {
        const char *path = test_scratch(name[way]);
        assert_ok(ctx, vh_dtm_save(ctx, dtm, path));
        assert_ok(ctx, load_textures(ctx, path, &back));
        assert_true(vh_dtm_compare(dtm, back) == 0);
        assert_string_equal(back->dt[1].name, dtm->dt[1].name);
        assert_string_equal(back->dt[1].label, "sea");
        assert_string_equal(back->dt[2].extra, "{\"note\": 7}");
        assert_string_equal(back->extra, "{\"author\": \"x\"}");
        assert_string_equal(back->provenance, "{\"seed\": 1}");
        vh_dtm_free(dtm);
        dtm = back;
        back = NULL;
        if (way == 1) {
            vhem_ctx_stop(ctx);
            assert_fails(ctx, load_textures(ctx, path, &back), VHEM_ESTOPPED, "stopped while reading");
        }
        remove(path);
    }
    vh_dtm_free(dtm);
    vhem_free(ctx);
}

static void broken_files(void **state)
{
    (void)state;
    static const char *const text[][2] = {
        { "", "the file is empty" },
        { "[]", "must hold an object" },
        { "{\"format\": \"vhem-h3m\", \"version\": 1}", "format is 'vhem-h3m', must be 'vhem-dtm'" },
        { "{\"format\": \"vhem-dtm\", \"version\": 2}", "version 2" },
        { "{\"format\": \"vhem-dtm\", \"version\": 1, \"d\": 1}", "textures is missing" },
        { "{\"format\": \"vhem-dtm\", \"version\": 1, \"d\": 1, \"textures\": []}", "there are 0 textures" },
        { "{\"format\": \"vhem-dtm\", \"version\": 1, \"d\": 1, \"textures\": [{\"n\": 2000000000, "
          "\"A\": [1]}]}",
          "texture 0: A has 1 row, must have n = 2000000000" },
        { "{\"format\": \"vhem-dtm\", \"version\": 1, \"d\": 1, \"textures\": [{\"n\": 1, \"A\": [[0]], "
          "\"Q\": [[1]], \"mu\": [0], \"Sigma\": [[1]], \"C\": [[1]], \"ybar\": [0], \"R\": [-1]}]}",
          "R[0] is -1" },
    };
    vhem_ctx *ctx = test_ctx();
    vh_dtm *dtm = NULL;
    const char *path = test_scratch("broken.json");
    for (size_t k = 0; k < sizeof text / sizeof text[0]; k++) {
        test_write(path, text[k][0], strlen(text[k][0]));
        assert_fails(ctx, load_textures(ctx, path, &dtm), VHEM_EFORMAT, text[k][1]);
        assert_null(dtm);
    }
    remove(path);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views),
        cmocka_unit_test(invalid),
        cmocka_unit_test(files),
        cmocka_unit_test(broken_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
