/* SPDX-License-Identifier: BSD-3-Clause */
/* posterior.c - posteriors as JSON text: printed, they can be read again, and their means are proper HMMs.
 * The numbers of the second text may differ in their last digits: files have W, the inverse of what is
 * kept. */
#include "files/posterior_json.h"
#include "prior/posterior_set.h"

#include "fuzz.h"
#include "vhem.h"

#include <math.h>
#include <string.h>

static vh_posteriors *parse(const char *text)
{
    vh_posteriors *post = (vh_posteriors *)fuzz_untouched;
    vhem_status st = vh_posteriors_read(fuzz_ctx(), text, &post);
    if (st == VHEM_OK)
        return post;
    fuzz_check_failure(st, post, fuzz_untouched);
    return NULL;
}

static void check_mean(const vh_posteriors *post)
{
    vh_h3m *mean = (vh_h3m *)fuzz_untouched;
    vhem_status st = vh_posteriors_mean(fuzz_ctx(), post, &mean);
    if (st != VHEM_OK) {
        fuzz_check_failure(st, mean, fuzz_untouched);
        return;
    }
    fuzz_require(mean->K == post->K, "%d HMMs became %lld", post->K, (long long)mean->K);
    vh_h3m_free(mean);
}

static void check_again(const vh_posteriors *post)
{
    char *text = NULL;
    vhem_status st = vh_posteriors_text(fuzz_ctx(), post, &text);
    if (st != VHEM_OK) { /* an inverse past all numbers */
        fuzz_check_failure(st, text, NULL);
        return;
    }
    vh_posteriors *again = parse(text);
    fuzz_require(again, "what was printed is not read: %s\n%s", vhem_ctx_error(fuzz_ctx()), text);
    fuzz_require(again->K == post->K, "%d HMMs became %d", post->K, again->K);
    for (int k = 0; k < post->K; k++)
        fuzz_require(again->alpha[k] == post->alpha[k] && again->hmm[k].S == post->hmm[k].S
                         && again->hmm[k].M == post->hmm[k].M,
                     "HMM %d differs", k);
    vh_posteriors_free(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    memcpy(text, bytes, size);
    text[size] = '\0';
    vh_posteriors *post = parse(text);
    if (post) {
        check_mean(post);
        check_again(post);
    }
    vh_posteriors_free(post);
    free(text);
    return 0;
}
