/* SPDX-License-Identifier: BSD-3-Clause */
/* figures.h - one function for each figure: facts in, a figure with its caption out. */
#ifndef VH_REPORT_FIGURES_H
#define VH_REPORT_FIGURES_H

#include "report/facts.h"

#include <stdio.h>

void vh_figure_levels(FILE *f, const vh_facts *facts);
void vh_figure_tree(FILE *f, const vh_facts *facts);
void vh_figure_membership(FILE *f, const vh_facts *facts, int l);
void vh_figure_bound(FILE *f, const vh_facts *facts, int l);
void vh_figure_confusion(FILE *f, const vh_facts *facts, int l);
void vh_figure_choice(FILE *f, const vh_facts *facts);
void vh_figure_stats(FILE *f, const vh_facts *facts);
vhem_status vh_figure_distance(vhem_ctx *ctx, FILE *f, const vh_facts *facts);
vhem_status vh_figure_separation(vhem_ctx *ctx, FILE *f, const vh_facts *facts, int l);

/* An image to lie under emissions in the plane, ready to be written; all zero: none. */
typedef struct {
    unsigned char *bytes; /* malloc */
    size_t n;
    int width, height; /* pixels */
    const char *type;  /* "image/png" */
} vh_image;

vhem_status vh_image_load(vhem_ctx *ctx, const char *path, vh_image *out);
void vh_image_free(vh_image *image);
void vh_image_define(FILE *f, const vh_image *image); /* once in a page, for all */

typedef struct {
    double lo, hi;
} vh_value_range;

/* The ranges that all emissions of a report share, so that centres can be compared by eye. */
typedef struct {
    int d, scaled;         /* scaled: each dimension is drawn in units of its sd, because they differ too much
                            */
    const vh_image *image; /* to lie under the plane */
    bool planar;           /* two dimensions are drawn as the plane: */
    int plane[2];
    double *mean, *sd;     /* [d] of all the centres */
    double *least, *most;  /* [d] what each dimension reaches */
    double lo[2], hi[2];   /* d <= 2, or of the plane: of each dimension; else lo[0], hi[0] of all */
    vh_value_range *value; /* [d]  where emissions are not Gaussian, instead of all these but d; else NULL */
} vh_ranges;

vhem_status vh_ranges_new(vhem_ctx *ctx, const vh_facts *facts, const vh_image *image, vh_ranges *out);
void vh_ranges_free(vh_ranges *ranges);

vhem_status vh_figure_examples(FILE *f, const vh_facts *facts, const vh_ranges *ranges);
/* The centres of a level, a card for each. */
void vh_figure_centers(FILE *f, const vh_facts *facts, int l, const vh_ranges *ranges);
/* An eigenvalue of A of a dynamic texture, a way its state moves; how many frames it takes to fade to 1/e,
 * and to swing once. */
typedef struct {
    double re, im;
} vh_mode;

/* [found] slowest first, from malloc; found is 0 when they cannot be worked out. */
vh_mode *vh_texture_modes(const vh_facts *facts, const vhem_dt_view *t, int *found);
double vh_mode_decay(const vh_mode *m);
double vh_mode_period(const vh_mode *m);
/* What the card of a texture shows of it. */
void vh_figure_texture(FILE *f, const vh_facts *facts, const vhem_dt_view *t, int l, int j);
/* The pieces of a card.  where: level and cluster; id: by which the shapes of the emissions are used again,
 * small. */
void vh_draw_states(FILE *f, const vhem_hmm_view *h, const double *share, const char *title);
void vh_draw_emission(FILE *f, const vh_facts *facts, const vhem_hmm_view *h, const vh_ranges *ranges,
                      const int where[2], const char *title, const char *id);
/* The same where emissions are not Gaussian. */
void vh_draw_values(FILE *f, const vh_facts *facts, const vh_ranges *ranges, const int where[2],
                    const char *title, const char *id);
vhem_status vh_value_ranges(vhem_ctx *ctx, const vh_facts *facts, vh_ranges *ranges);
/* Half axes and angle of the ellipse of one standard deviation; cov [2][2] in drawing units. */
void vh_ellipse(const double cov[4], double *rx, double *ry, double *degrees);

/* How well variational Bayes knows centre j: transition probabilities and means, in figures. */
void vh_figure_known(FILE *f, const vh_facts *facts, int l, int j);
/* Every interval of all levels, as a table. */
void vh_known_put(FILE *f, const vh_facts *facts);
/* In words: how many clusters there are of at most how many; nothing for other methods. */
void vh_known_lead(FILE *f, const vh_facts *facts, int l);

/* Every number as TSV into the folder in->tables. */
vhem_status vh_tables_write(vhem_ctx *ctx, const vh_facts *facts);

enum { VH_MOST_CARDS = 60, VH_MOST_BARS = 200, VH_MOST_STATES = 24 };

#endif
