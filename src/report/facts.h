/* SPDX-License-Identifier: BSD-3-Clause */
/* facts.h - what every figure needs to know of a tree, worked out once: sizes, parents, classes, and an order
 * of drawing in which whatever belongs together stands together. */
#ifndef VH_REPORT_FACTS_H
#define VH_REPORT_FACTS_H

#include "core/own.h"
#include "vhem/analysis.h"

#include <stdbool.h>
#include <stddef.h>

/* Frames of a virtual sample where a file does not say. */
enum { VH_USUAL_TAU = 10 };

typedef struct {
    const vhem_clustering *c;
    const vhem_models *hmms, *textures; /* its centres: one of them, or neither */
    const int *label;                   /* [n_model] cluster of each input model */
    int K;
    int *parent; /* [K] cluster of the next level, -1: none */
    int *size;   /* [K] input models */
    int *order;  /* [K] clusters as drawn: children of one parent side by side */
    int *first;  /* [K] where its models begin in vh_facts.model, size many */
    int *count;  /* [K][n_class] input models of each class */
} vh_level;

typedef struct {
    vhem_ctx *ctx;
    bool *lacks_memory; /* has a figure been left out for lack of memory? */
    const vhem_report_input *in;
    const char *item, *kind;  /* what was clustered: "texture"; "dynamic textures" */
    vhem_data_facts data;     /* all 0: there is none */
    vhem_column_view *column; /* [d]  of the centres of level 0; NULL: they are no HMMs */
    int d;
    int64_t n_model;
    int n_level, n_class;
    vh_level *level;         /* [n_level] lowest first */
    int64_t *model;          /* [n_model] by cluster in the order of level 0, and in a cluster the nearest to
                                its centre first */
    int *class_of;           /* [n_model] -1: none */
    const char **class_name; /* [n_class] */
    int *class_size;         /* [n_class] */
    int64_t
        *model_of; /* [sequences of the data] model with the name of each, or of its group; -1: none.  NULL:
                                no data, or of another dimension */
    bool measured; /* is any of these known? */
    vhem_measures *measures; /* [n_level] NaN: not known, or too long to wait for */
} vh_facts;

/* in must outlive the facts. */
vhem_status vh_facts_new(vhem_ctx *ctx, const vhem_report_input *in, vh_facts **out);
void vh_facts_free(vh_facts *facts);
VH_OWNED(vh_facts, vh_facts_free)

/* Zeroed room for n things of a size; the caller frees it.  NULL when there is no memory: the figure that
 * asked is left out, and in the end the report fails. */
void *vh_facts_room(const vh_facts *facts, size_t n, size_t size);
/* What L_hmm is in once it is divided by tau: of sequences it is that of a whole one; buf serves for that. */
const char *vh_facts_unit(const vh_facts *facts, const vhem_clustering *c, char *buf, size_t size);
/* z_ij of model i of the level and its own cluster; 1 without z. */
double vh_facts_own_z(const vh_level *level, int64_t i);
/* In how many of the runs that are as good it is in that cluster, as a share; NaN: not known. */
double vh_facts_share(const vh_level *level, int64_t i);
/* Name of model i of level 0; "" for none. */
const char *vh_facts_name(const vh_facts *facts, int64_t i);
/* Name of dimension k of the emissions, from the data if there are any; buf serves for that. */
const char *vh_facts_dimension(const vh_facts *facts, int k, char *buf, size_t size);
/* Which column of the data dimension k of the emissions is, by its name or else by its place. */
int vh_facts_column(const vh_facts *facts, int k);
/* How the clusters of level l match the classes, models without one left out; false with fewer than two. */
bool vh_facts_agreement(const vh_facts *facts, int l, vhem_agreement *out);
/* What n frames are called: "fixation" for one, "fixations"; buf serves for that. */
const char *vh_facts_frames(const vh_facts *facts, double n, char *buf, size_t size);
/* Frames of the longest sequence of the data; without data those of a virtual sample of level l. */
int64_t vh_facts_longest(const vh_facts *facts, int l);
/* Frames of a visit to a state that is kept with probability a, in a sequence of T frames. */
double vh_stay_within(double a, int64_t T);
/* Is any measure of level l known, with classes or without? */
bool vh_facts_measured(const vh_facts *facts, int l);
/* share [S] of tau frames that an HMM spends in each state, on average, starting from pi.  There is room for
 * 3 S numbers, the rest is scratch. */
void vh_hmm_share(const vhem_hmm_view *h, int tau, double *share);

/* Are the covariances of the HMM matrices?  With one dimension it makes no difference. */
static inline bool vh_is_full(const vhem_hmm_view *h)
{
    return h->cov && h->n_theta == h->S * h->M * (1 + h->d + h->d * h->d);
}

#endif
