/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c - see settings.h. */
#include "annotate/settings.h"

#include "core/number.h"
#include "core/text.h"
#include "model/json.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define FIT(kind, name)                               \
    {                                                 \
#name, kind, offsetof(vhem_fit_options, name) \
    }
#define REDUCE(kind, name)                                \
    {                                                     \
#name, kind, offsetof(vhem_cluster_options, name) \
    }
#define TRAIN(kind, name)                               \
    {                                                   \
#name, kind, offsetof(vhem_train_options, name) \
    }

const vh_setting vh_fit_settings[] = {
    FIT(VH_SET_INT, S),
    FIT(VH_SET_INT, M),
    FIT(VH_SET_INT, K),
    FIT(VH_SET_INT, max_iter),
    FIT(VH_SET_INT, restarts),
    FIT(VH_SET_REAL, tol),
    FIT(VH_SET_REAL, cov_floor),
    FIT(VH_SET_TEXT, emission),
    FIT(VH_SET_TEXT, init),
    FIT(VH_SET_TEXT, topology),
    FIT(VH_SET_INT, repair),
    FIT(VH_SET_TEXT, prior),
    { 0 },
};

const vh_setting vh_reduce_settings[] = {
    REDUCE(VH_SET_TEXT, preset),
    REDUCE(VH_SET_INT, K),
    REDUCE(VH_SET_INT, S),
    REDUCE(VH_SET_INT, M),
    REDUCE(VH_SET_INT, tau),
    REDUCE(VH_SET_INT, max_iter),
    REDUCE(VH_SET_INT, restarts),
    REDUCE(VH_SET_REAL, nv),
    REDUCE(VH_SET_REAL, tol),
    REDUCE(VH_SET_REAL, cov_floor),
    REDUCE(VH_SET_REAL, cov_add),
    REDUCE(VH_SET_TEXT, init),
    REDUCE(VH_SET_INT, soft),
    REDUCE(VH_SET_INT, repair),
    REDUCE(VH_SET_INT, weighted_omega),
    REDUCE(VH_SET_REAL, lambda),
    REDUCE(VH_SET_TEXT, kernel),
    REDUCE(VH_SET_TEXT, diagonal),
    REDUCE(VH_SET_TEXT, linkage),
    { 0 },
};

const vh_setting vh_train_settings[] = {
    TRAIN(VH_SET_TEXT, estimator), TRAIN(VH_SET_INT, by_group),
    TRAIN(VH_SET_INT, chunk),      TRAIN(VH_SET_INT, bootstrap),
    TRAIN(VH_SET_INT, sample),     TRAIN(VH_SET_INT, min_items),
    TRAIN(VH_SET_TEXT, prior),     { 0 },
};

static const void *at(const vh_setting *set, const void *options)
{
    return (const char *)options + set->at;
}

void vh_settings_hash(vh_hash *hash, const vh_setting *set, const void *options)
{
    for (; set->name; set++) {
        vh_hash_text(hash, set->name);
        if (set->kind == VH_SET_INT)
            vh_hash_number(hash, *(const int *)at(set, options));
        else if (set->kind == VH_SET_REAL)
            vh_hash_number(hash, *(const double *)at(set, options));
        else
            vh_hash_text(hash, *(const char *const *)at(set, options));
    }
}

void vh_settings_print(FILE *f, const vh_setting *set, const void *options)
{
    char number[VH_NUMBER_SIZE];
    const char *comma = "";

    putc('{', f);
    for (; set->name; set++, comma = ", ") {
        fprintf(f, "%s\"%s\": ", comma, set->name);
        if (set->kind == VH_SET_INT)
            fprintf(f, "%d", *(const int *)at(set, options));
        else if (set->kind == VH_SET_REAL)
            fwrite(number, 1, vh_number_text(*(const double *)at(set, options), number), f);
        else if (*(const char *const *)at(set, options))
            vh_text_json(f, *(const char *const *)at(set, options));
        else
            fputs("null", f);
    }
    putc('}', f);
}

static vhem_status own_text(vhem_ctx *ctx, vh_names *names, const char *text, const char **slot)
{
    int index;
    bool is_new;
    vhem_status st = vh_names_put(ctx, names, text, strlen(text), &index, &is_new);
    if (st == VHEM_OK)
        *slot = names->text[index];
    return st;
}

vhem_status vh_settings_read(vhem_ctx *ctx, json_t *object, const vh_setting *set, vh_names *names,
                             void *options)
{
    vhem_status st = VHEM_OK;
    for (; set->name; set++) {
        json_t *v = json_object_get(object, set->name);
        double x = json_number_value(v);
        if (!v)
            continue;
        VH_CHECK(set->kind == VH_SET_TEXT ? json_is_string(v) || json_is_null(v) : json_is_number(v),
                 VHEM_EFORMAT, "%s is %s, must be %s", set->name, vh_json_kind(v),
                 set->kind == VH_SET_TEXT ? "text" : "a number");
        VH_CHECK(set->kind != VH_SET_INT || (x == floor(x) && fabs(x) <= INT_MAX), VHEM_EFORMAT,
                 "%s is %.12g, must be a whole number", set->name, x);
        void *to = (char *)options + set->at;
        if (set->kind == VH_SET_INT)
            *(int *)to = (int)x;
        else if (set->kind == VH_SET_REAL)
            *(double *)to = x;
        else if (json_is_null(v))
            *(const char **)to = NULL;
        else
            VH_TRY(own_text(ctx, names, json_string_value(v), (const char **)to));
    }
done:
    return st;
}

vhem_status vh_settings_own(vhem_ctx *ctx, const vh_setting *set, vh_names *names, void *options)
{
    vhem_status st = VHEM_OK;
    for (; set->name; set++) {
        const char **text = (const char **)((char *)options + set->at);
        if (set->kind == VH_SET_TEXT && *text)
            VH_TRY(own_text(ctx, names, *text, text));
    }
done:
    return st;
}
