/* SPDX-License-Identifier: BSD-3-Clause */
/* The store: what was put is there again, whatever happened to the end of the file. */
#include "support.h"

#include "models/store.h"
#include "hmm/hmm_set.h"
#include "vhem.h"

static vh_key key_of(vhem_ctx *ctx, const char *text)
{
    vh_hash *hash = NULL;
    vh_key key;
    assert_ok(ctx, vh_hash_new(ctx, &hash));
    vh_hash_text(hash, text);
    vh_hash_key(hash, &key);
    vh_hash_free(hash);
    return key;
}

static void keys(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_key a = key_of(ctx, "a"), again = key_of(ctx, "a"), b = key_of(ctx, "b");
    assert_string_equal(a.text, again.text);
    assert_string_not_equal(a.text, b.text);
    assert_int_equal(strlen(a.text), 32);
    vhem_free(ctx);
}

/* Puts n random models under "0", "1", ...; those that are there are left. */
static vh_h3m **fill(vhem_ctx *ctx, vh_store *store, int n)
{
    vh_h3m **all = calloc((size_t)n, sizeof *all);
    vh_rng rng;
    vh_rng_init(&rng, 1, VH_RNG_TEST, 0);
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        vh_key key = key_of(ctx, name);
        all[i] = random_h3m(ctx, &rng, 2, 2, 1 + i % 2, 2, i % 2, 3);
        assert_ok(ctx, vh_h3m_set_text(ctx, &all[i]->hmm[0].name, "a \"name\"\nof two lines"));
        bool has;
        assert_ok(ctx, vh_store_has(ctx, store, &key, &has));
        if (!has)
            assert_ok(ctx, vh_store_put(ctx, store, &key, HMMS(all[i])));
    }
    return all;
}

static int count_same(vhem_ctx *ctx, vh_store *store, vh_h3m **all, int n)
{
    int same = 0;
    for (int i = 0; i < n; i++) {
        char name[16];
        vhem_models *back = NULL;
        snprintf(name, sizeof name, "%d", i);
        vh_key key = key_of(ctx, name);
        assert_ok(ctx, vh_store_get(ctx, store, &key, &back));
        if (back) {
            assert_true(vh_h3m_compare(back->h3m, all[i]) == 0);
            same++;
        }
        vhem_free(back);
    }
    return same;
}

static void free_all(vh_h3m **all, int n)
{
    for (int i = 0; i < n; i++)
        vh_h3m_free(all[i]);
    free(all);
}

static void put_and_get(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("store");
    vh_store *store = NULL;
    remove(path);
    assert_ok(ctx, vh_store_open(ctx, path, &store));
    vh_h3m **all = fill(ctx, store, 6);
    assert_int_equal(count_same(ctx, store, all, 6), 6);
    assert_ok(ctx, vh_store_close(ctx, store));
    assert_ok(ctx, vh_store_open(ctx, path, &store));
    assert_int_equal(count_same(ctx, store, all, 6), 6);
    vh_store *second = NULL;
    assert_fails(ctx, vh_store_open(ctx, path, &second), VHEM_EIO, "another run is using it");
    vh_store_free(store);
    assert_ok(ctx, vh_store_open(ctx, NULL, &store)); /* without a file */
    assert_int_equal(count_same(ctx, store, all, 6), 0);
    free_all(all, 6);
    all = fill(ctx, store, 6);
    assert_int_equal(count_same(ctx, store, all, 6), 6);
    vh_store_free(store);
    free_all(all, 6);
    remove(path);
    vhem_free(ctx);
}

/* Cut off at every byte: what came before is there, and the file can be gone on with. */
static void cut_anywhere(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("cut");
    vh_store *store = NULL;
    static char text[16384];
    remove(path);
    assert_ok(ctx, vh_store_open(ctx, path, &store));
    vh_h3m **all = fill(ctx, store, 3);
    vh_store_free(store);
    FILE *f = fopen(path, "rb");
    size_t size = fread(text, 1, sizeof text, f);
    fclose(f);
    assert_true(size < sizeof text);
    for (size_t n = 0; n <= size; n += n < 50 || n + 50 > size ? 1 : 37) {
        int lines = 0;
        for (size_t k = 0; k < n; k++)
            lines += text[k] == '\n';
        test_write(path, text, n);
        assert_ok(ctx, vh_store_open(ctx, path, &store));
        assert_int_equal(count_same(ctx, store, all, 3), lines > 0 ? lines - 1 : 0);
        free_all(fill(ctx, store, 3), 3);
        assert_int_equal(count_same(ctx, store, all, 3), 3);
        vh_store_free(store);
    }
    free_all(all, 3);
    remove(path);
    vhem_free(ctx);
}

static void not_a_store(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("other");
    vh_store *store = NULL;
    test_write(path, "precious\n", 9);
    assert_fails(ctx, vh_store_open(ctx, path, &store), VHEM_EFORMAT, "not a store of models");
    assert_fails(ctx, vh_store_open(ctx, "/no/such/folder/s", &store), VHEM_EIO, "cannot open the store");
    char back[16] = "";
    FILE *f = fopen(path, "r");
    assert_int_equal(fread(back, 1, sizeof back, f), 9);
    fclose(f);
    assert_string_equal(back, "precious\n");
    remove(path);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys),
        cmocka_unit_test(put_and_get),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(not_a_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
