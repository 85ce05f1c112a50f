/* SPDX-License-Identifier: BSD-3-Clause */
/* classes.h - storage of the models of classes or tags, and what each was learned from. */
#ifndef VH_ANNOTATE_CLASSES_H
#define VH_ANNOTATE_CLASSES_H

#include "core/hash.h"
#include "data/names.h"
#include "model/h3m.h"

enum { VH_CLASSES_VERSION = 1 };

typedef struct { /* a piece that a class has */
    vh_key key;  /* of its model in the store */
    int things;  /* it was fitted to, or equal ones without a name were */
    int given;   /* of these in this run */
} vh_part;

typedef struct {
    char *name;
    double prior;
    int things; /* that have it, each once whatever its pieces share */
    int n_part;
    vh_part *part; /* [n_part]  in the order of their keys, each once */
    size_t cap;
    vh_h3m *model; /* NULL until it is made */
} vh_class;

struct vhem_classes {
    int C;
    vh_class *cls; /* [C]  in the order of their names */
    size_t cap;
    bool tags; /* a thing may have several */
    uint64_t seed;
    vhem_train_options opt; /* texts are in names */
    vh_names names;
    char *provenance;
};

/* The options, with the default for every name that is NULL; opt may be NULL itself. */
vhem_train_options vh_train_filled(const vhem_train_options *opt);
/* Empty, with a copy of the options, or with the defaults for NULL. */
vhem_status vh_classes_new(vhem_ctx *ctx, const vhem_train_options *opt, vhem_classes **out);
vhem_status vh_classes_copy(vhem_ctx *ctx, const vhem_classes *classes, vhem_classes **out);
/* The class of this name, added in its place when there is none. */
vhem_status vh_classes_put(vhem_ctx *ctx, vhem_classes *classes, const char *name, vh_class **out);
/* The piece under this key, added without things when there is none.  It stays in place until the next. */
vhem_status vh_class_put(vhem_ctx *ctx, vh_class *c, const vh_key *key, vh_part **out);
/* All HMMs of all classes in one H3M; owner [K]: the class of each.  The weights are those within a class. */
vhem_status vh_classes_pool(vhem_ctx *ctx, const vhem_classes *classes, vh_h3m **out, int **owner);

#endif
