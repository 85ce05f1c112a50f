/* SPDX-License-Identifier: BSD-3-Clause */
/* emission.h - what an emission family must provide.
 *
 * Every family is an exponential family: log p(y|r) = <theta_r, T(y)>, where the first entry of T is the
 * constant 1, so that theta_r[0] holds all that does not depend on y, and the first entry of a weighted sum
 * of T is the sum of the weights.  A base measure, as the 1/y! of counts, is a statistic whose theta is 1.
 * The engine (pack.h) then serves all families with one matrix product, and asks of none which it is.
 *
 * Families with a place and a width (vh_location) have the product taken in moved and scaled coordinates,
 * x = (y - origin) / scale per dimension, because it loses digits where |mean| >> deviation.  Where numbers
 * have a unit but no place, as durations and distances do, the origin is 0 and the scale is the deviation, so
 * that nothing hangs on the unit.  For all others the origin is 0 and the scale 1.  Parameters are always in
 * the user's coordinates. */
#ifndef VH_EMISSION_EMISSION_H
#define VH_EMISSION_EMISSION_H

#include "core/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VH_MAX_PARAM     3
#define VH_CHANNEL_BLOCK 32 /* frames that a product looks at together */

/* log of a probability of zero: below every real log-probability, yet finite, so that the product makes no
 * NaN.  A component of weight zero is never looked at; it may even be singular. */
#define VH_NEVER (-1e300)

/* log of a probability or rate.  That of 0 is finite, so that 0 log 0 is 0; sums of it over many frames,
 * times numbers of virtual samples, are finite too. */
static inline double vh_log_or_never(double p)
{
    return p > 0 ? log(p) : -1e250;
}

/* A log-density below this has a factor of zero in it: the sum of real ones never gets there. */
#define VH_IMPOSSIBLE (-1e200)
static inline double vh_or_impossible(double log_p)
{
    return log_p < VH_IMPOSSIBLE ? -INFINITY : log_p;
}

/* Less weight than this is rounding, and dividing by it makes noise: nothing was seen. */
#define VH_UNSEEN 1e-200

typedef struct vh_layout vh_layout; /* layout.h */

typedef struct {             /* sizes of a component */
    int d;                   /* columns of a frame */
    int V;                   /* symbols of all columns of symbols; 0 where there is none */
    const vh_layout *layout; /* names of columns and symbols, and the channels of a product; NULL: no names */
    int G;                   /* Gaussians of the background that all HMMs share; 0: there is none */
} vh_shape;

typedef struct {
    vh_shape shape;
    const double *origin, *scale; /* [d] */
} vh_coords;

/* VH_PER_CHANNEL: the parameters of all channels of a product one after the other, which files keep apart. */
typedef enum { VH_PER_COLUMN, VH_PER_SYMBOL, VH_PER_CHANNEL, VH_PER_GAUSSIAN } vh_extent;

typedef struct {     /* n frames whose statistics are at hand */
    const double *y; /* [n][d] */
    const double *T; /* [n][n_stat]  stats_of_obs */
    int64_t n;
} vh_known_frames;

typedef struct { /* one parameter array of a component and its name on disk */
    const char *name;
    int rank; /* numbers of extents */
    vh_extent dim[2];
    bool optional; /* all zero where a file leaves it out */
} vh_param;

/* The form of the prior of a component in variational Bayes: normal-gamma in each dimension, normal-Wishart,
 * counts (vh_counts), or one of each channel.  VH_PRIOR_FRAMES: there is no conjugate one, and a fit has some
 * made-up frames instead (mstep.h). */
typedef enum {
    VH_PRIOR_FRAMES,
    VH_PRIOR_NORMAL_GAMMA,
    VH_PRIOR_NORMAL_WISHART,
    VH_PRIOR_COUNTS,
    VH_PRIOR_CHANNELS
} vh_prior_kind;

/* The smallest count of a prior: exp psi of much less underflows to 0, and a component would rule out what it
 * has not seen. */
#define VH_LEAST_COUNT 0.002

/* A conjugate prior that is a number of counts a0 [n], all positive, and whose posterior is a0 plus the n
 * entries of T that follow the constant. */
typedef struct {
    int n_array; /* the counts are so many arrays of the size of the first parameter, one after the */
    const char *array[2]; /* other; their names in files */
    /* a0 := what so many frames of a component count for, or less where that would say too much. */
    void (*begin)(const vh_shape *shape, double frames, const double *const *par, double *a0);
    /* exp of the expected logs, which looks like a component, and what E log p(y) has beyond its density for
     * each cell that was observed: par, shift [d]. */
    void (*expect)(const vh_shape *shape, const double *a, double *const *par, double *shift);
    /* KL(a | a0), in nats. */
    double (*kl)(const vh_shape *shape, const double *a, const double *a0);
    void (*mean)(const vh_shape *shape, const double *a, double *const *par);
    /* Entry k of the first parameter is below *low, and above *high, with this probability each. */
    void (*interval)(const vh_shape *shape, const double *a, int k, double outside, double *low,
                     double *high);
} vh_counts;

/* Which counts of what was observed end T: none, one of each column, or one of the frames that have anything.
 * VH_SEEN_CELLS: there is one for each column, but it does not stand at the end (vh_emission.shift). */
typedef enum { VH_SEEN_ALL, VH_SEEN_COLUMNS, VH_SEEN_FRAMES, VH_SEEN_CELLS } vh_seen_kind;

/* What the numbers of a column are, for those who show them; of a product each channel says so. */
typedef enum { VH_REALS, VH_POSITIVES, VH_ANGLES, VH_COUNTS, VH_BITS, VH_SYMBOLS } vh_values_kind;

/* Backends have a product kernel of their own for Gaussians; the rest goes through log_product. */
typedef enum { VH_KERNEL_OF_FAMILY, VH_KERNEL_GAUSSIAN_DIAG, VH_KERNEL_GAUSSIAN_FULL } vh_kernel_kind;

/* Of families that have a mean and a variance in each dimension.  Of a product, some dimensions may have
 * none: the entries from sit to add_frame but widen are then NULL, and it is started and repaired through its
 * statistics. */
typedef struct {
    /* The mean becomes the frame x, which is in the coordinates given. */
    void (*sit)(const vh_coords *c, const double *x, double *const *par);
    /* The means of two equal components step apart by half a deviation, that of the data (scale) at most. */
    void (*part)(const vh_shape *shape, const double *scale, vh_rng *rng, double *const *a, double *const *b);
    /* The mean steps a random fifth of a deviation; scale 0: the column stays, and no number is drawn. */
    void (*jitter)(const vh_shape *shape, const double *scale, vh_rng *rng, double *const *par);
    /* Adds to the variances. */
    void (*widen)(const vh_shape *shape, const double *add, double *const *par);
    /* sum += the statistics of one frame at the origin with the covariance 1; stat and work are scratch. */
    void (*add_frame)(const vh_shape *shape, double *sum, double *stat, double *work);
    bool mean_first; /* the first parameter is the mean [d] */
    /* Has dimension k a mean and a variance?  NULL: all have. */
    bool (*moves)(const vh_shape *shape, int k);
} vh_location;

typedef struct vh_splits vh_splits; /* component_split.h */
typedef struct vh_emission vh_emission;

struct vh_emission {
    const char *name; /* on disk and in options */
    int n_param;
    vh_param param[VH_MAX_PARAM];
    bool slim; /* no entry needs scratch that grows with d^2 */
    vh_values_kind values;
    vh_prior_kind prior;
    const vh_counts *counts; /* VH_PRIOR_COUNTS */
    const char *no_prior;    /* VH_PRIOR_FRAMES: why there is no other */
    vh_kernel_kind kernel;
    const vh_location *location; /* NULL: the origin of the product is 0 */
    /* Mean and variance of each column, [d]; NULL: what is seen has no unit.  Of a product, 0 and 1 where
     * that is so. */
    void (*moments)(const vh_shape *shape, const double *const *par, double *mean, double *var);
    /* Has column k a unit?  NULL: all have, if there are moments. */
    bool (*measures)(const vh_shape *shape, int k);
    const vh_splits *cuts; /* how base components are cut for a tighter bound; NULL: they are not */
    /* The family with the same parameters to whose T a cell that is missing, NaN, adds nothing: itself,
     * another table, or NULL.  takes_gaps (NULL: yes): whether that holds for this shape. */
    const vh_emission *with_gaps;
    vh_seen_kind seen;
    /* theta becomes that of a density times exp(shift_k) for each observed cell of column k, shift [d]; NULL:
     * all cells are always observed. */
    void (*shift)(const vh_shape *shape, const double *shift, double *theta);
    bool (*takes_gaps)(const vh_shape *shape);
    /* What a cell of column k must be, "a whole number of 0 or more", when y is not; NULL when it is.  NULL:
     * any number. */
    const char *(*refuse)(const vh_shape *shape, int k, double y);
    /* Weights of the Gaussians of a background, `c` [S][G] in files, are all it has; frames always go through
     * with_gaps. */
    bool tied;
    /* Can the component never give exactly 0 in column k, though data may have it?  NULL: it can, or data may
     * not. */
    bool (*never_zero)(const vh_shape *shape, const double *const *par, int k);
    bool single; /* a mixture of such components is one of them: M is 1 */
    bool sparse; /* most entries of T(y) are 0 */

    /* Free parameters of a component. */
    double (*n_free)(const vh_shape *shape);
    /* A wider family whose members these components are, and the same component as one of that; or NULL. */
    const vh_emission *wider;
    void (*promote)(const vh_shape *shape, const double *const *par, double *const *wide);

    /* What k-means sees of n frames: X [n][n_feature]; NULL: the frames themselves, d numbers each.
     * mean_features: the same of a component, from E_b[T]; NULL: they stand right behind its constant.
     * uneven: they are of different units, and each is to be divided by its deviation. */
    int (*n_feature)(const vh_shape *shape);
    void (*features)(const vh_shape *shape, const double *y, int64_t n, double *X);
    void (*mean_features)(const vh_shape *shape, const double *T, double *X);
    bool uneven;

    /* Length of T, the constant included. */
    int (*n_stat)(const vh_shape *shape);
    /* Where T(y) is 1 in its first entry and in at most one more: that one, 0 for none.  Products with it are
     * then look-ups, and T is not made.  NULL: T is of another kind. */
    int (*hot)(const double *y);
    /* T(y) of n frames y [n][d] into T [n][n_stat]. */
    void (*stats_of_obs)(const vh_coords *x, const double *y, int64_t n, double *T);
    /* sum [n_stat] += sum_t w_t E[T(y_t) | what y_t has], n frames, where missing cells hang on the
     * component.  NULL: T(y) is the same for all components.  Densities are then always taken by log_density.
     * gathers (NULL: yes): whether that holds for this shape. */
    bool (*gathers)(const vh_shape *shape);
    void (*gather)(const vh_coords *x, const double *const *par, const double *y, const double *w, int64_t n,
                   double *sum, double *work);
    /* Where log p(y) is not <theta, T(y)>, but follows from it: out [n], the products, become log p(y_t), and
     * gather_known is gather without making T anew.  NULL: log_density and gather. */
    void (*log_density_known)(const vh_shape *shape, const double *const *par, const vh_known_frames *frames,
                              double *out, double *work);
    void (*gather_known)(const vh_coords *x, const double *const *par, const vh_known_frames *frames,
                         const double *w, double *sum, double *work);
    /* E_b[T(y)] of a component b of the family; an observation is a component of no spread. */
    void (*stats_of_component)(const vh_coords *x, const double *const *par, double *T);
    /* theta [n_stat] of one component, for densities in y.  Returns how large the terms of the product can
     * get where the result is of order one, the loss of digits; negative when the parameters are singular. */
    double (*natural)(const vh_coords *x, const double *const *par, double *theta, double *work);
    /* log p(y_t | r) for n frames, straight from its definition: the reference, and the way out where the
     * product would lose too much.  Returns false when the parameters are singular. */
    bool (*log_density)(const vh_shape *shape, const double *const *par, const double *y, int64_t n,
                        double *out, double *work);
    /* E_b[log p(y | r)] likewise, for n components b one after the other, into out[0], out[step], ...; their
     * covariances may be singular, that of r may not. */
    bool (*expected_density)(const vh_shape *shape, const double *const *r, const double *const *b, int n,
                             double *out, int step, double *work);
    /* The parameters that maximise sum_t w_t log p(y_t | r), given the mean statistic stat = sum w T / sum w
     * [n_stat] in coordinates x.  par comes with what it had, which is kept where nothing was seen.  floor
     * [d] limits what can collapse: no variance is below it, no probability or rate at 0; NULL: nothing is
     * limited.  Returns 1 when the floor held something, 0 when not, -1 when the result is singular and there
     * is no floor. */
    int (*maximise)(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                    double *work);
    /* log int p(y)^lambda q(y)^lambda dy, lambda > 0: the probability product kernel of two components,
     * symmetric.  Returns false when a covariance is singular. */
    bool (*log_product)(const vh_shape *shape, const double *const *p, const double *const *q, double lambda,
                        double *out, double *work);
    /* Drawing: root [size of the last parameter] is prepared once per component, then one frame at a time. */
    bool (*root)(const vh_shape *shape, const double *const *par, double *root, double *work);
    void (*draw)(vh_rng *rng, const vh_shape *shape, const double *const *par, const double *root, double *y);
    /* Is it a proper set of parameters?  If not, why [size] says so: "cov[1] is -2, must be positive".  Zero
     * variance is proper (a delta function). */
    bool (*validate)(const vh_shape *shape, const double *const *par, char *why, size_t size, double *work);
};

extern const vh_emission vh_gaussian_diag, vh_gaussian_full, vh_poisson, vh_bernoulli, vh_gamma, vh_von_mises,
    vh_categorical, vh_product_of_channels, vh_gaussian_tied;

#define VH_EMISSION_DEFAULT "gaussian-diag"

/* NULL when there is no such family. */
const vh_emission *vh_emission_find(const char *name);
/* The family in "NAME:FILE" whose Gaussians are in a file, and its path; NULL: it is no such text. */
const vh_emission *vh_emission_of_file(const char *text, const char **path);
/* "gaussian-diag, gaussian-full, ...": for sentences. */
const char *vh_emission_names(void);

/* The number of entries along extent k of a parameter, and what it is called: "d" or "V". */
int vh_param_extent(const vh_param *p, int k, const vh_shape *shape);
static inline const char *vh_param_extent_name(const vh_param *p, int k)
{
    return p->dim[k] == VH_PER_SYMBOL     ? "V"
           : p->dim[k] == VH_PER_CHANNEL  ? "all channels"
           : p->dim[k] == VH_PER_GAUSSIAN ? "G"
                                          : "d";
}
/* Is parameter p that of a product, a list of channels in files? */
static inline bool vh_param_is_channels(const vh_param *p)
{
    return p->rank == 1 && p->dim[0] == VH_PER_CHANNEL;
}
/* Has it one number for each column? */
static inline bool vh_param_is_by_column(const vh_param *p)
{
    return p->rank == 1 && p->dim[0] == VH_PER_COLUMN;
}
/* Are the sizes of its parameters known from a layout alone? */
static inline bool vh_emission_needs_layout(const vh_emission *f)
{
    return f->param[0].dim[0] != VH_PER_COLUMN;
}
/* Has column k a unit, so that the product is taken on a scale of its own? */
static inline bool vh_measured(const vh_emission *f, const vh_shape *shape, int k)
{
    return f->moments && (!f->measures || f->measures(shape, k));
}
/* Has the product an origin of its own along dimension k? */
static inline bool vh_located(const vh_emission *f, const vh_shape *shape, int k)
{
    return f->location && (!f->location->moves || f->location->moves(shape, k));
}
/* How components are moved as a whole; NULL: through their statistics. */
static inline const vh_location *vh_emission_place(const vh_emission *f)
{
    return f->location && f->location->part ? f->location : NULL;
}
/* The family for data with missing cells, or NULL. */
static inline const vh_emission *vh_emission_with_gaps(const vh_emission *f, const vh_shape *shape)
{
    return !f->takes_gaps || f->takes_gaps(shape) ? f->with_gaps : NULL;
}
/* Does what a frame adds to the sums hang on the component? */
static inline bool vh_emission_gathers(const vh_emission *f, const vh_shape *shape)
{
    return f->gather && (!f->gathers || f->gathers(shape));
}
/* Numbers of parameter p of a component. */
static inline size_t vh_param_size(const vh_emission *f, int p, const vh_shape *shape)
{
    size_t size = 1;
    for (int k = 0; k < f->param[p].rank; k++)
        size *= (size_t)vh_param_extent(&f->param[p], k, shape);
    return size;
}
/* Counts of what was observed at the end of T. */
static inline int vh_seen_counts(const vh_emission *f, const vh_shape *shape)
{
    return f->seen == VH_SEEN_COLUMNS ? shape->d : f->seen == VH_SEEN_FRAMES ? 1 : 0;
}
/* Numbers that a shift of what was observed has: one for each column, one for all, or 0 where it is
 * constant. */
static inline int vh_shift_counts(const vh_emission *f, const vh_shape *shape)
{
    return f->seen == VH_SEEN_CELLS ? shape->d : vh_seen_counts(f, shape);
}
static inline int vh_features(const vh_emission *f, const vh_shape *shape)
{
    return f->n_feature ? f->n_feature(shape) : shape->d;
}
/* Doubles of scratch (`work`) that any entry of any family may ask for, */
static inline size_t vh_emission_work(const vh_shape *shape)
{
    size_t d = (size_t)shape->d, V = (size_t)(shape->V + shape->G);
    return 4 * d * d + (60 + VH_CHANNEL_BLOCK) * d + 4 * V + 64 + VH_CHANNEL_BLOCK;
}
/* and those of this one: with very many columns d^2 of them would be more than there is.  A product takes
 * what the widest of its channels does. */
size_t vh_emission_room(const vh_emission *f, const vh_shape *shape);
void vh_emission_copy(const vh_emission *f, const vh_shape *shape, const double *const *from,
                      double *const *to);

/* What starts and repairs do to components; families with a location have their own ways.
 * The others are changed through their statistics: a share of them is replaced by those of a frame.
 * work [vh_nudge_work]. */
size_t vh_nudge_work(const vh_emission *f, const vh_shape *shape);
/* The component comes to describe the frame y, which is in the coordinates x. */
void vh_emission_sit(const vh_emission *f, const vh_coords *x, const double *y, double *const *par,
                     double *work);
/* Two equal components become different ones; scale [d] is the spread of the data. */
void vh_emission_part(const vh_emission *f, const vh_coords *x, vh_rng *rng, double *const *a,
                      double *const *b, double *work);
/* One of several equal components becomes a little different. */
void vh_emission_jitter(const vh_emission *f, const vh_coords *x, vh_rng *rng, double *const *par,
                        double *work);

#endif
