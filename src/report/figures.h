/* SPDX-License-Identifier: BSD-3-Clause */
/* figures.h - one function per figure, which writes the figure and its caption from the facts. */
#ifndef VH_REPORT_FIGURES_H
#define VH_REPORT_FIGURES_H

#include "report/facts.h"

#include <complex.h>
#include <stdio.h>

void vh_figure_levels(FILE *f, const vh_facts *facts);
void vh_figure_tree(FILE *f, const vh_facts *facts);
void vh_figure_membership(FILE *f, const vh_facts *facts, int l);
void vh_figure_bound(FILE *f, const vh_facts *facts, int l);
void vh_figure_graphs(FILE *f, const vh_facts *facts, int l); /* instead, where vh_facts_graphs */
void vh_figure_confusion(FILE *f, const vh_facts *facts, int l);
void vh_figure_choice(FILE *f, const vh_facts *facts);
void vh_figure_stats(FILE *f, const vh_facts *facts);
vhem_status vh_figure_distance(vhem_ctx *ctx, FILE *f, const vh_facts *facts);
vhem_status vh_figure_separation(vhem_ctx *ctx, FILE *f, const vh_facts *facts, int l);

/* An image shown behind emissions in the plane; all zero: none. */
typedef struct {
    unsigned char *bytes; /* the file, from malloc */
    size_t n;
    int width, height; /* pixels */
    const char *type;  /* "image/png" */
} vh_image;

vhem_status vh_image_load(vhem_ctx *ctx, const char *path, vh_image *out);
void vh_image_free(vh_image *image);
void vh_image_define(FILE *f, const vh_image *image); /* once per page, for all figures */

/* Ranges shared by all emissions of a report, so that centres can be compared by eye. */
typedef struct {
    int d, scaled;         /* scaled: dimensions differ too much, so each is drawn in units of its sd */
    const vh_image *image; /* behind the plane */
    bool planar;           /* two dimensions are drawn as a plane: */
    int plane[2];
    double *mean, *sd;    /* [d] over all centres */
    double *least, *most; /* [d] range of each dimension */
    double lo[2], hi[2];  /* d <= 2, or the plane: per dimension; else lo[0], hi[0] of all */
    bool values;          /* non-Gaussian emissions: only d, least and most are set */
} vh_ranges;

vhem_status vh_ranges_new(vhem_ctx *ctx, const vh_facts *facts, const vh_image *image, vh_ranges *out);
void vh_ranges_free(vh_ranges *ranges);

vhem_status vh_figure_examples(FILE *f, const vh_facts *facts, const vh_ranges *ranges);
/* One card per centre of a level. */
void vh_figure_centers(FILE *f, const vh_facts *facts, int l, const vh_ranges *ranges);
/* An eigenvalue of A of a dynamic texture, a mode of its state; frames to decay to 1/e, and per period. */

/* [found] slowest first, from malloc; found is 0 if they cannot be computed. */
double complex *vh_texture_modes(const vh_facts *facts, const vhem_dt_view *t, int *found);
double vh_mode_decay(const double complex *m);
double vh_mode_period(const double complex *m);
/* The contents of a texture's card. */
void vh_figure_texture(FILE *f, const vh_facts *facts, const vhem_dt_view *t, int l, int j);
/* Parts of a card.  where: level and cluster; id: names the emission shapes, for reuse as thumbnails. */
void vh_draw_states(FILE *f, const vhem_hmm_view *h, const double *share, const char *title);
void vh_draw_emission(FILE *f, const vh_facts *facts, const vhem_hmm_view *h, const vh_ranges *ranges,
                      const int where[2], const char *title, const char *id);
/* The same for non-Gaussian emissions. */
void vh_draw_values(FILE *f, const vh_facts *facts, const vh_ranges *ranges, const int where[2],
                    const char *title, const char *id);
vhem_status vh_value_ranges(vhem_ctx *ctx, const vh_facts *facts, vh_ranges *ranges);
/* Half axes and angle of the ellipse of one standard deviation; cov [2][2] in drawing units. */
void vh_ellipse(const double cov[4], double *rx, double *ry, double *degrees);

/* How well variational Bayes knows centre j: figures of transition probabilities and means. */
void vh_figure_known(FILE *f, const vh_facts *facts, int l, int j);
/* Writes every interval of all levels as a table. */
void vh_known_put(FILE *f, const vh_facts *facts);
/* Writes how many of the possible clusters are used; nothing for other methods. */
void vh_known_lead(FILE *f, const vh_facts *facts, int l);

/* Writes all numbers as TSV files to the folder in->tables. */
vhem_status vh_tables_write(vhem_ctx *ctx, const vh_facts *facts);

enum { VH_MOST_CARDS = 60, VH_MOST_BARS = 200, VH_MOST_STATES = 24 };

#endif
