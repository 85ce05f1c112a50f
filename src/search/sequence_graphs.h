/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence_graphs.h - which sequences, or groups of sequences, are neighbours: by what models of one shape,
 * one fitted to each item, say about all others, or by an elastic distance.
 *
 * No shape suits all data: movements that repeat need models whose states may return, things that begin,
 * happen and end need models that pass through their states in order.  So there is a table of graphs, and the
 * search (sequence_search.h) chooses among their partitions. */
#ifndef VH_SEARCH_SEQUENCE_GRAPHS_H
#define VH_SEARCH_SEQUENCE_GRAPHS_H

#include "fit/sets.h"
#include "math/neighbours.h"
#include "search/views.h"

enum { VH_MOST_GRAPHS = 16 };

typedef struct { /* a row of the table */
    vh_view view;
    const char *topology; /* of the models; NULL: the elastic distance */
    int S;                /* their states */
} vh_graph_kind;

typedef struct {
    const vhem_data *data; /* as models of this emission see it */
    const vh_sets *sets;   /* the items */
    bool by_group;         /* the items are groups of the data */
    const char *emission;
    int S, M;             /* only models of this size; <= 0: all in the table, one component */
    const char *topology; /* only this; NULL: all */
} vh_graph_source;

/* The kinds of graphs that serve these items, and how many there are; says which do not, and why. */
int vh_graph_kinds(vhem_ctx *ctx, const vh_graph_source *from, vh_graph_kind kind[VH_MOST_GRAPHS]);
/* "linear models of 8 states, each standardised"; "elastic distance".  Returns text. */
const char *vh_graph_name(const vh_graph_kind *kind, char *text, size_t size);
/* The nearest items of each item, by mutual rank. */
vhem_status vh_graph_neighbours(vhem_ctx *ctx, const vh_graph_source *from, const vh_graph_kind *kind,
                                vh_near *out);
/* The options of a quick fit of models of this kind, good enough to choose by; states that are passed in
 * order start as equal pieces of the sequences. */
vhem_fit_options vh_graph_fit(const vh_graph_source *from, const vh_graph_kind *kind);

#endif
