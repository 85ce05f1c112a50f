/* SPDX-License-Identifier: BSD-3-Clause */
/* classes.h - storage of the models of classes or tags, and what each was learned from. */
#ifndef VH_CLASSIFY_CLASSES_H
#define VH_CLASSIFY_CLASSES_H

#include "core/hash.h"
#include "core/text.h"
#include "models/models.h"
#include "vhem/classes.h"

enum { VH_CLASSES_VERSION = 1 };

typedef struct {   /* a piece that a class has */
    vh_key key;    /* of its model in the store */
    int64_t items; /* it was fitted to, or equal ones without a name were */
    int64_t given; /* of these in this run */
} vh_class_part;

typedef struct {
    char *name;
    double prior;
    int64_t items; /* that have it, each once whatever its pieces share */
    int64_t n_part;
    vh_class_part *part; /* [n_part]  in the order of their keys, each once */
    size_t cap;
    vhem_models *model; /* NULL until it is made */
} vh_class;

typedef struct { /* a vhem_train_options, filled in, with what it points to */
    vhem_train_options all;
    vhem_fit_options piece;
    vhem_cluster_options reduce;
} vh_train_options;

struct vhem_classes {
    int C;
    vh_class *cls; /* [C]  in the order of their names */
    size_t cap;
    bool tags; /* an item may have several */
    uint64_t seed;
    vh_train_options opt; /* texts are in texts */
    vh_texts texts;
    char *provenance;
};

/* The options with every default that does not depend on the data; opt may be NULL. */
vh_train_options vh_train_filled(const vhem_train_options *opt);
/* The same of what a caller gave, which may be of another version. */
vhem_status vh_train_take(vhem_ctx *ctx, const vhem_train_options *opt, vh_train_options *out);
/* Empty, with a copy of the options, or with the defaults for NULL. */
vhem_status vh_classes_new(vhem_ctx *ctx, const vh_train_options *opt, vhem_classes **out);
vhem_status vh_classes_copy(vhem_ctx *ctx, const vhem_classes *classes, vhem_classes **out);
/* The class of this name, added in its place when there is none. */
vhem_status vh_classes_put(vhem_ctx *ctx, vhem_classes *classes, const char *name, vh_class **out);
/* The piece under this key, added without items when there is none.  It stays in place until the next. */
vhem_status vh_class_put(vhem_ctx *ctx, vh_class *c, const vh_key *key, vh_class_part **out);
/* The models of all classes in one set; owner [K]: the class of each.  The weights are those within a class.
 */
vhem_status vh_classes_pool(vhem_ctx *ctx, const vhem_classes *classes, vhem_models **out, int **owner);

#endif
