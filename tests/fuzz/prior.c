/* SPDX-License-Identifier: BSD-3-Clause */
/* prior.c - priors as JSON text: printed and read again they are the same, but for the rounding of W = 1 / B
 * and back. */
#include "prior/prior.h"

#include "fuzz.h"
#include "files/prior_json.h"
#include "vhem.h"

#include <float.h>
#include <math.h>
#include <string.h>

static vh_prior *parse(const char *text)
{
    vh_prior *p = (vh_prior *)fuzz_untouched;
    vhem_status st = vh_prior_read(fuzz_ctx(), text, &p);
    if (st == VHEM_OK)
        return p;
    fuzz_check_failure(st, p, fuzz_untouched);
    return NULL;
}

static void check_near(const char *what, const double *a, const double *b, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        fuzz_require(isfinite(a[k]) && isfinite(b[k]), "%s is %g", what, a[k]);
        fuzz_require(fabs(a[k] - b[k]) <= 4 * DBL_EPSILON * fabs(a[k]) + 4 * DBL_TRUE_MIN,
                     "%s: %.17g became %.17g", what, a[k], b[k]);
    }
}

/* Dirichlet parameters of channels have no meaning. */
static void check_same(const vh_prior *p, const vh_prior *again, bool channel)
{
    const double a[] = { p->lambda, p->nu, p->alpha, p->eta, p->eps, p->kappa };
    const double b[] = { again->lambda, again->nu, again->alpha, again->eta, again->eps, again->kappa };
    bool normal = vh_prior_normal(p->family);
    fuzz_require(p->d == again->d && p->family == again->family && p->n_channel == again->n_channel,
                 "another prior");
    check_near("a number", a + (normal ? 0 : 2), b + (normal ? 0 : 2),
               channel  ? (normal ? 2 : 0)
               : normal ? 6
                        : 4);
    check_near("m", p->m, again->m, vh_prior_means(p));
    check_near("B", p->B, again->B, vh_prior_size(p));
    check_near("a count", p->count, again->count, vh_prior_counts(p));
    for (int k = 0; k < p->n_channel; k++)
        check_same(p->channel[k], again->channel[k], true);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1), *printed = NULL;
    memcpy(text, bytes, size);
    text[size] = '\0';
    vh_prior *p = parse(text), *again;
    if (p) {
        fuzz_require(vh_prior_text(fuzz_ctx(), p, &printed) == VHEM_OK, "%s", vhem_ctx_error(fuzz_ctx()));
        again = parse(printed);
        fuzz_require(again, "what was printed is not read: %s\n%s", vhem_ctx_error(fuzz_ctx()), printed);
        check_same(p, again, false);
        vh_prior_free(again);
    }
    vh_prior_free(p);
    free(printed);
    free(text);
    return 0;
}
