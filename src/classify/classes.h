/* SPDX-License-Identifier: BSD-3-Clause */
/* classes.h - storage of the models of classes or tags, and what they were learnt from. */
#ifndef VH_CLASSIFY_CLASSES_H
#define VH_CLASSIFY_CLASSES_H

#include "core/hash.h"
#include "core/text.h"
#include "models/models.h"
#include "vhem/classes.h"

enum { VH_CLASSES_VERSION = 1 };

typedef struct {   /* a piece of a class */
    vh_key key;    /* key of its model in the store */
    int64_t items; /* number of items it covers, with equal unnamed ones */
    int64_t given; /* of these, in this run */
} vh_class_part;

typedef struct {
    char *name;
    double prior;
    int64_t items; /* number of items of the class, each counted once */
    int64_t n_part;
    vh_class_part *part; /* [n_part]  sorted by key, unique */
    size_t cap;
    vhem_models *model; /* NULL until trained */
} vh_class;

typedef struct { /* vhem_train_options with defaults, and the records it points to */
    vhem_train_options all;
    vhem_fit_options piece;
    vhem_cluster_options reduce;
} vh_train_options;

struct vhem_classes {
    int C;
    vh_class *cls; /* [C]  sorted by name */
    size_t cap;
    bool tags; /* an item may have several tags */
    uint64_t seed;
    vh_train_options opt; /* its strings are in texts */
    vh_texts texts;
    char *provenance;
};

/* Fills in all defaults that do not depend on the data; opt may be NULL. */
vh_train_options vh_train_filled(const vhem_train_options *opt);
/* The same for a record from a caller, which may have another version. */
vhem_status vh_train_take(vhem_ctx *ctx, const vhem_train_options *opt, vh_train_options *out);
/* Creates an empty set with a copy of the options; NULL: defaults. */
vhem_status vh_classes_new(vhem_ctx *ctx, const vh_train_options *opt, vhem_classes **out);
vhem_status vh_classes_copy(vhem_ctx *ctx, const vhem_classes *classes, vhem_classes **out);
/* Finds the class of this name, or inserts it in order. */
vhem_status vh_classes_put(vhem_ctx *ctx, vhem_classes *classes, const char *name, vh_class **out);
/* Finds the piece under this key, or inserts one without items; *out is valid until the next call. */
vhem_status vh_class_put(vhem_ctx *ctx, vh_class *c, const vh_key *key, vh_class_part **out);
/* Pools the models of all classes in one set; owner [K]: the class of each.  Weights are those within a
 * class. */
vhem_status vh_classes_pool(vhem_ctx *ctx, const vhem_classes *classes, vhem_models **out, int **owner);

#endif
