/* SPDX-License-Identifier: BSD-3-Clause */
/* store.c - stores of models: what can be read from a damaged one stays, and what is put in is there the next
 * time it is opened. */
#include "models/store.h"

#include "fuzz.h"
#include "vhem.h"

#include <string.h>
#include <unistd.h>

enum { KEY = 32, MOST_KEYS = 8 };

static const char model_text[] =
    "{\"format\": \"vhem-h3m\", \"version\": 1, \"emission\": \"gaussian-diag\", \"d\": 1, \"omega\": [1.0], "
    "\"hmms\": [{\"S\": 1, \"M\": 1, \"pi\": [1.0], \"A\": [[1.0]], \"c\": [[1.0]], \"mu\": [[[0.5]]], "
    "\"cov\": [[[2.0]]]}]}";

static const vhem_models *a_model(void)
{
    static vhem_models *m;
    if (!m) {
        const char *path = fuzz_file("model.json", model_text, sizeof model_text - 1);
        fuzz_require(vhem_models_load(fuzz_ctx(), path, &m) == VHEM_OK, "%s", vhem_ctx_error(fuzz_ctx()));
        unlink(path);
    }
    return m;
}

static vh_store *open_store(const char *path)
{
    vh_store *s = (vh_store *)fuzz_untouched;
    vhem_status st = vh_store_open(fuzz_ctx(), path, &s);
    if (st == VHEM_OK)
        return s;
    fuzz_check_failure(st, s, fuzz_untouched);
    return NULL;
}

/* What is under a key as text; NULL when there is nothing. */
static char *get(vh_store *s, const vh_key *key)
{
    vhem_models *m = NULL;
    bool has = false;
    fuzz_require(vh_store_has(fuzz_ctx(), s, key, &has) == VHEM_OK, "%s", vhem_ctx_error(fuzz_ctx()));
    fuzz_require(vh_store_get(fuzz_ctx(), s, key, &m) == VHEM_OK, "%s", vhem_ctx_error(fuzz_ctx()));
    fuzz_require(has == (m != NULL), "has says %d", has);
    char *text = m ? fuzz_print_models(m) : NULL;
    vhem_free(m);
    return text;
}

/* The first keys that stand anywhere in the bytes. */
static int find_keys(const uint8_t *bytes, size_t size, vh_key *key)
{
    int n = 0;
    for (size_t k = 0; k + KEY + 2 <= size && n < MOST_KEYS; k++) {
        if (bytes[k] != '"' || bytes[k + 1 + KEY] != '"')
            continue;
        memcpy(key[n].text, bytes + k + 1, KEY);
        key[n].text[KEY] = '\0';
        n += strspn(key[n].text, "0123456789abcdef") == KEY;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file("in.jsonl", bytes, size);
    vh_key key[MOST_KEYS], fresh = { "0123456789abcdef0123456789abcdef" };
    char *before[MOST_KEYS], *text;
    vh_store *s = open_store(path);
    if (!s)
        return 0;
    int n = find_keys(bytes, size, key);
    for (int k = 0; k < n; k++)
        before[k] = get(s, &key[k]);
    fuzz_require(vh_store_put(fuzz_ctx(), s, &fresh, a_model()) == VHEM_OK, "%s", vhem_ctx_error(fuzz_ctx()));
    fuzz_require(vh_store_close(fuzz_ctx(), s) == VHEM_OK, "%s", vhem_ctx_error(fuzz_ctx()));
    s = open_store(path);
    fuzz_require(s, "%s", vhem_ctx_error(fuzz_ctx()));
    text = get(s, &fresh);
    fuzz_require(text, "what was put is not there");
    free(text);
    for (int k = 0; k < n; k++) {
        text = get(s, &key[k]);
        bool same = !before[k]
                        ? !text || strcmp(key[k].text, fresh.text) == 0
                        : text && (strcmp(text, before[k]) == 0 || strcmp(key[k].text, fresh.text) == 0);
        fuzz_require(same, "the model of %s changed", key[k].text);
        free(text);
        free(before[k]);
    }
    vh_store_free(s);
    return 0;
}
