/* SPDX-License-Identifier: BSD-3-Clause */
/* facts.h - facts about a tree shared by all figures: sizes, parents, classes, and a drawing order that keeps
 * related items together. */
#ifndef VH_REPORT_FACTS_H
#define VH_REPORT_FACTS_H

#include "core/own.h"
#include "vhem/analysis.h"

#include <stdbool.h>
#include <stddef.h>

/* Frames of a sequence if a file does not say. */
enum { VH_USUAL_TAU = 10 };

typedef struct {
    const vhem_clustering *c;
    const vhem_models *hmms, *textures; /* the centres: at most one of the two is set */
    const int *label;                   /* [n_model] cluster of each input model */
    int K;
    int *parent; /* [K] cluster of the next level; -1: none */
    int *size;   /* [K] number of input models */
    int *order;  /* [K] clusters in drawing order: children of a parent side by side */
    int *first;  /* [K] index of its first model in vh_facts.model */
    int *count;  /* [K][n_class] input models of each class */
} vh_level;

typedef struct {
    vhem_ctx *ctx;
    bool *lacks_memory; /* set if a figure was omitted for lack of memory */
    const vhem_report_input *in;
    const char *item, *kind;  /* what was clustered: "texture"; "dynamic textures" */
    vhem_data_facts data;     /* all 0 without data */
    vhem_column_view *column; /* [d]  of the centres of level 0; NULL: not HMMs */
    int d;
    int64_t n_model;
    int n_level, n_class;
    vh_level *level; /* [n_level] lowest first */
    int64_t *model;  /* [n_model] by cluster in the order of level 0, then by nearness to the centre */
    int *class_of;   /* [n_model] -1: none */
    const char **class_name; /* [n_class] */
    int *class_size;         /* [n_class] */
    int64_t *model_of; /* [data sequences] model named like it or its group; -1: none; NULL: no such data */
    bool measured;     /* any measure is known */
    vhem_measures *measures; /* [n_level] NaN: unknown, or too slow to compute */
} vh_facts;

/* `in` must outlive the facts. */
vhem_status vh_facts_new(vhem_ctx *ctx, const vhem_report_input *in, vh_facts **out);
void vh_facts_free(vh_facts *facts);
VH_OWNED(vh_facts, vh_facts_free)

/* Allocates n zeroed elements; the caller frees them.  NULL if out of memory: the caller omits its figure,
 * and the report finally fails. */
void *vh_facts_room(const vh_facts *facts, size_t n, size_t size);
/* Unit of L_hmm after division by tau, or of the whole L_hmm for sequences, which have no tau; uses buf. */
const char *vh_facts_unit(const vh_facts *facts, const vhem_clustering *c, char *buf, size_t size);
/* z_ij of model i of the level and its own cluster; 1 without z. */
double vh_facts_own_z(const vh_level *level, int64_t i);
/* Share of the equally good runs, or of samples of sequences, in which model i is in that cluster; NaN:
 * unknown. */
double vh_facts_share(const vh_level *level, int64_t i);
/* True if the clusters of a level were found in graphs of sequences: its runs are graphs, without a bound. */
bool vh_facts_graphs(const vh_level *level);
/* Name of model i of level 0; "" if none. */
const char *vh_facts_name(const vh_facts *facts, int64_t i);
/* Name of dimension k of the emissions, from the data if there are any; may use buf. */
const char *vh_facts_dimension(const vh_facts *facts, int k, char *buf, size_t size);
/* Data column of dimension k of the emissions, by name or else by position. */
int vh_facts_column(const vh_facts *facts, int k);
/* Agreement of clusters at level l with classes, over models with a class; false with fewer than two. */
bool vh_facts_agreement(const vh_facts *facts, int l, vhem_agreement *out);
/* The word for n frames: "fixation" for one, "fixations"; may use buf. */
const char *vh_facts_frames(const vh_facts *facts, double n, char *buf, size_t size);
/* Frames of a virtual sample of a level, or of a usual sequence where sequences were clustered. */
int vh_facts_usual(const vh_level *level);
/* Frames of the longest sequence of the data; without data, of a usual one of level l. */
int64_t vh_facts_longest(const vh_facts *facts, int l);
/* Expected frames per visit to a state with self-transition probability a, in a sequence of T frames. */
double vh_stay_within(double a, int64_t T);
/* True if any measure of level l is known, with or without classes. */
bool vh_facts_measured(const vh_facts *facts, int l);
/* share [S]: expected share of tau frames that an HMM spends in each state, starting from pi.  share must
 * have room for 3 S numbers; the rest is scratch. */
void vh_hmm_share(const vhem_hmm_view *h, int tau, double *share);

/* True if the covariances of the HMM are full matrices; with one dimension it makes no difference. */
static inline bool vh_is_full(const vhem_hmm_view *h)
{
    return h->cov && h->n_theta == h->S * h->M * (1 + h->d + h->d * h->d);
}

#endif
