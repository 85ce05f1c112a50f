/* SPDX-License-Identifier: BSD-3-Clause */
/* classes.h - models of classes and tags: training, prediction, judgement. */
/* clang-format off */
#ifndef VHEM_CLASSES_H
#define VHEM_CLASSES_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- models of classes and tags ------------------------------------------------------------------------
 * An item is a sequence or a group of sequences (a song consists of many fragments).  The data is cut into
 * pieces, models are fitted to each, and the pieces of a class are pooled and reduced to its model. */

typedef struct {                     /* which items have which tags */
    int64_t n;
    int     C;
    char  **item, **tag;             /* [n]  [C]  names */
    unsigned char *has;              /* [n][C]  0 or 1 */
} vhem_tags;

typedef struct {
    size_t      size;                /* of the record: VHEM_INIT */
    const char *estimator;           /* a clustering method; one that takes models reduces pieces, one that
                                        takes sequences goes without; default "vhem", of textures "hem-dtm" */
    const vhem_fit_options *piece;   /* of a piece: its K models, of either kind; may be NULL */
    const vhem_cluster_options *reduce;      /* of a class; may be NULL */
    int64_t     K;                   /* models of a class, or fewer when it has fewer pieces */
    int         by_group;            /* the groups of the data are the items, not its sequences */
    int         chunk;               /* items of a class that make a piece; default 1 */
    int         bootstrap, sample;   /* instead: so many subsamples of so many items of a class; default 0 */
    int         min_items;           /* classes with fewer are left out; default 1 */
    const char *prior;               /* "uniform", "counts" */
    const char *store;               /* file that keeps what is fitted, to go on from */
} vhem_train_options;

typedef struct {                     /* models of classes at a glance; valid while they live */
    int         C;
    const vhem_train_options *options;       /* as they were used; store is NULL */
    const char *provenance;
} vhem_classes_facts;

typedef struct {                     /* read-only window on class c */
    const char        *name;
    double             prior;
    int64_t            items, pieces;        /* it was learned from */
    const vhem_models *models;
} vhem_class_view;

typedef struct {                     /* what the models say about n items */
    int64_t  n;
    int      C;
    char   **name, **label, **class_name;    /* [n]  [n] what the data calls its class, "" for none  [C] */
    int64_t *sequences;              /* [n]     of the item */
    int     *fold;                   /* [n]     of a cross-validation, -1: never held out; else NULL */
    double  *loglik;                 /* [n][C]  mean over its sequences of log p(y | class), in nats; -inf
                                        for a class that a fast search skipped */
    double  *log_posterior;          /* [n][C]  by Bayes' rule */
    double   scored;                 /* share of the models that were scored: 1, or less in a fast search */
} vhem_prediction;

/* tags NULL: the labels of the data are the classes.  VHEM_ESTOPPED: what was fitted is in the store. */
VHEM_RESULT vhem_status vhem_classes_train(vhem_ctx *, const vhem_data *, const vhem_tags *,
                                           const vhem_train_options *, vhem_classes **out);
/* More data, with the options of the training: pieces that are not in the store are fitted, the classes they
 * touch are reduced again. */
VHEM_RESULT vhem_status vhem_classes_update(vhem_ctx *, vhem_classes *, const vhem_data *, const vhem_tags *,
                                            const char *store);
VHEM_RESULT vhem_status vhem_classes_load(vhem_ctx *, const char *path, vhem_classes **out);
VHEM_RESULT vhem_status vhem_classes_save(vhem_ctx *, const vhem_classes *, const char *provenance,
                                          const char *path);
VHEM_API void        vhem_classes_info(const vhem_classes *, vhem_classes_facts *out);
VHEM_RESULT vhem_status vhem_classes_view(const vhem_classes *, int c, vhem_class_view *out);
/* fast: look the models up in a tree and score only the `fast` branches that fit best; 0: score all. */
VHEM_RESULT vhem_status vhem_classes_predict(vhem_ctx *, const vhem_classes *, const vhem_data *, int fast,
                                             vhem_prediction **out);
/* Trains without the items of one fold and predicts them, for every one of `folds`; folds < 2: only once,
 * and the share `holdout` of the items is held out. */
VHEM_RESULT vhem_status vhem_crossvalidate(vhem_ctx *, const vhem_data *, const vhem_tags *,
                                           const vhem_train_options *, int folds, double holdout,
                                           vhem_prediction **out);
/* CSV or TSV with names of items in the first column: one column for each tag, with 0 and 1 below its name;
 * or two columns, the second called "tag", and a row for each tag of each item. */
VHEM_RESULT vhem_status vhem_tags_load(vhem_ctx *, const char *path, vhem_tags **out);

typedef struct {                     /* how well one class or tag is given and found */
    int64_t n, given, right;         /* items that have it, that were given it, both */
    double  precision, recall, F;    /* 0 where they are 0/0; precision: see never_given */
    double  average_precision;       /* of the ranking: mean precision at the ranks of those that have it */
} vhem_tag_measure;

typedef struct {
    size_t      size;                /* of the record: VHEM_INIT */
    int         top;                 /* tags that every item is given, its best; default 10, 1 for classes */
    int         n_k;                 /* default 0 */
    const int64_t *k;                /* [n_k]  precision among the first k items */
    const char *never_given;         /* precision of a tag that no item was given, 0/0: "zero", "base-rate":
                                        the share of the items that have it */
} vhem_rank_options;

typedef struct {                     /* predictions against the truth */
    int64_t n, unknown;              /* items judged; items of no known class, which do not count */
    int     C, n_k;
    double  accuracy;                /* share of items whose best class is right */
    double  precision, recall, F, MAP;       /* means over the classes or tags that occur */
    double *p_at;                    /* [n_k]     mean precision among the first k items */
    vhem_tag_measure *tag;           /* [C] */
    double *tag_p_at;                /* [C][n_k] */
    int64_t *confusion;              /* [C][C]    true, predicted */
} vhem_judgement;

/* score [n][C] ranks tags within an item, and items within a tag; truth [n][C].  Ties: the lowest index
 * first. */
VHEM_RESULT vhem_status vhem_rank(vhem_ctx *, int64_t n, int C, const double *score,
                                  const unsigned char *truth, const vhem_rank_options *,
                                  vhem_judgement **out);
/* The same for a prediction: tags say what is true, NULL: the labels of the data.  Items that were never
 * held out do not count. */
VHEM_RESULT vhem_status vhem_judge(vhem_ctx *, const vhem_prediction *, const vhem_tags *,
                                   const vhem_rank_options *, vhem_judgement **out);

#ifdef __cplusplus
}
#endif
#endif
