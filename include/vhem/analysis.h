/* SPDX-License-Identifier: BSD-3-Clause */
/* analysis.h - after clustering: measures, statistics of laboratories, credible intervals, the report; and
 * helpers for programs that write files and compare partitions. */
/* clang-format off */
#ifndef VHEM_ANALYSIS_H
#define VHEM_ANALYSIS_H

#include "../vhem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- context ------------------------------------------------------------------------------------------- */

/* A file that appears at its path only when it is complete, as all files of the library do: write to *fd, and
 * do not close it.  vhem_output_close with keep != 0 puts it there; before that, and with keep == 0, the old
 * file stays.  Pipes and devices are written in place.  vhem_free is a close with keep == 0. */
VHEM_RESULT vhem_status vhem_output_open(vhem_ctx *, const char *path, int *fd, vhem_output **out);
VHEM_RESULT vhem_status vhem_output_close(vhem_ctx *, vhem_output *, int keep);

/* ---- models -------------------------------------------------------------------------------------------- */

/* p [S][n]: density of n values of column k in each state of HMM i, whatever the other columns have;
 * probability where values are whole numbers. */
VHEM_RESULT vhem_status vhem_models_density(vhem_ctx *, const vhem_models *, int64_t i, int k, int64_t n,
                                            const double *value, double *p);
/* lo, hi [d]: how far draws from the components of n sets of HMMs reach in each column, but for the outermost
 * draw of each component.  Components that are hardly used do not count.  The draws are always the same. */
VHEM_RESULT vhem_status vhem_models_reach(vhem_ctx *, int n, const vhem_models *const *sets, double *lo,
                                          double *hi);

/* ---- models -> clusters -> hierarchy ------------------------------------------------------------------- */

typedef struct {                     /* how well one parameter of a centre is known */
    int64_t     cluster;
    const char *name;                /* as files have it: "omega", "pi", "A", "c", "mu"; "pi_once": pi, had
                                        each model started once and not nv times */
    int         state, to, component, column;   /* where it stands; -1: that it has not */
    const char *symbol;              /* whose probability it is; NULL: of none */
    double      mean, low, high;     /* posterior mean, and the interval that holds the parameter with a
                                        probability of 95 % */
} vhem_interval;

typedef struct {
    int64_t n;
    const vhem_interval *interval;   /* [n]  centre by centre: its weight, then state by state */
} vhem_intervals;

/* Of one cluster of a level, -1: of all.  Parameters of which a centre has more than `most` numbers are left
 * out, -1: none is.  There are some where the level has a posterior.  They say what the virtual samples leave
 * open, not how far the models themselves are from the truth. */
VHEM_RESULT vhem_status vhem_intervals_find(vhem_ctx *, const vhem_clustering *, int64_t cluster,
                                            int64_t most, vhem_intervals **out);

/* ---- how many clusters and states, and how good -------------------------------------------------------- */

/* How well two partitions of n items agree; labels are any integers, and items with a negative one in either
 * do not count.  nmi: mutual information over the mean of both entropies; purity: share of items whose part
 * of b is the most frequent one in their part of a.  Returns how many items counted, -1 when there is no
 * memory; with fewer than 2 all is NaN. */
VHEM_API int64_t     vhem_partition_compare(int64_t n, const int *a, const int *b, vhem_agreement *out);
/* Names as numbers, in the order of their first appearance; "" becomes -1.  Returns how many there are. */
VHEM_RESULT vhem_status vhem_number_names(vhem_ctx *, int64_t n, const char *const *name, int *number,
                                          int *n_names);

typedef struct {                     /* how good the clusters of one level are; NaN: not available */
    double expected_loglik;          /* mean over the models of L_hmm under the centre they are assigned to,
                                        in nats per virtual sample */
    double loglik;                   /* of the sequences, each under the centre it is assigned to, by its
                                        name or group, or else under the best; in nats */
    double compactness;              /* sum over clusters of the mean kernel between different members */
    double modularity;               /* of the partition in the graph that joins each model with the 5
                                        nearest by divergence; from 6 to 5000 models */
} vhem_measures;

/* Level l of a tree.  The source may have both: models are those that were clustered, data are sequences to
 * judge the centres by.  opt says tau, lambda and kernel; defaults are as the tree was made.  Clusters
 * without members do not count. */
VHEM_RESULT vhem_status vhem_measure(vhem_ctx *, const vhem_tree *, int l, const vhem_source *,
                                     const vhem_cluster_options *opt, vhem_measures *out);
/* Paired t-test of a [n] against b [n], two-sided; n < 2 or no spread at all: p is NaN. */
VHEM_API void        vhem_paired_t(int64_t n, const double *a, const double *b, double *t, double *p);

/* ---- statistics after clustering ------------------------------------------------------------------------
 * A person is an item of the data: a group of sequences, such as the trials of one viewer, or one
 * sequence. */

typedef struct {
    size_t      size;                /* of the record: VHEM_INIT */
    const vhem_tree   *tree;
    int                level;        /* of the tree, 0 is the lowest */
    const vhem_data   *data;
    int                by_group;     /* persons are the groups of the data */
    const vhem_models *models;       /* those that were clustered, for entropies and leave_out; may be NULL */
    int                leave_out;    /* score each person under centres made without this person: of method
                                        vhem, level 0, without the person's model; of method auto without
                                        the sequences, and then the data must have all that were clustered */
    const char        *correction;   /* of p for many tests of one kind: "holm" (default), "bonferroni", "bh"
                                        (false discovery rate), "none" */
    double             confidence;   /* of intervals, between 0 and 1; default 0.95 */
    const char        *persons;      /* "same": who has the name of a model that was clustered is that person,
                                        whatever the data; "new": nobody is; NULL: those who have the data
                                        the model was fitted to are, and it is an error if nobody has */
} vhem_stats_input;

typedef struct {                     /* one test */
    const char *kind;                /* "paired-t"; between two groups of persons "t" (Welch) and
                                        "mann-whitney" */
    const char *measure;             /* what is compared: "loglik", "scale", "entropy" */
    int         centre, other;       /* whose loglik or scale, -1: of none; paired: the centre it is compared
                                        with, else -1 */
    const char *a, *b;               /* groups of persons; b is NULL in a paired test */
    int64_t     n_a, n_b;            /* persons that counted */
    double      mean_a, mean_b;      /* paired: under centre and under other */
    double      statistic, freedom;  /* t and its degrees of freedom; U of group a, and NaN */
    double      p, p_greater;        /* two-sided; one-sided, that a (paired: centre) is the greater */
    double      p_adjusted;          /* p, corrected for all tests of its kind */
    double      d, d_low, d_high;    /* Cohen's d and its interval: of the differences, or by the pooled
                                        standard deviation; NaN for mann-whitney */
} vhem_test;

typedef struct {
    int64_t     n;                   /* persons */
    int         K;                   /* centres */
    char      **name, **label;       /* [n]  "" for none */
    int64_t    *sequences, *frames;  /* [n] */
    int        *cluster;             /* [n]  of the item that was clustered under this name, else the one that
                                        fits best */
    int        *clustered;           /* [n]  1: the item was clustered; 2: so was the person, by other data */
    double     *share;               /* [n]  as that of the clustering; NaN: not known, or not clustered */
    double     *loglik;              /* [n][K]  mean over the sequences of log p(y | centre) / T, in nats */
    double     *scale;               /* [n][K]  (L_j - L_k) / (|L_j| + |L_k|), k the best of the other
                                        centres: the A-B scale when there are two */
    double     *uncertainty;         /* [n]  entropy of p(centre | all sequences of the person), in nats */
    double     *entropy;             /* [n]  minus the loglik under the person's own model; NaN: not known */
    int         n_group;
    char      **group;               /* [n_group]  labels, if there are two or more, else "cluster 0", ... */
    int        *group_of;            /* [n]  -1: none */
    int         left_out;            /* centres were made without the person */
    int         n_test;
    vhem_test  *test;                /* [n_test] */
} vhem_statistics;

VHEM_RESULT vhem_status vhem_stats(vhem_ctx *, const vhem_stats_input *, vhem_statistics **out);
/* The same without groups and tests: how well each person fits each centre. */
VHEM_RESULT vhem_status vhem_score_persons(vhem_ctx *, const vhem_stats_input *, vhem_statistics **out);

/* ---- hierarchy -> report ------------------------------------------------------------------------------- */

typedef struct {                     /* sequences to show; released with vhem_free */
    int64_t           n;
    const int64_t    *sequence;      /* [n]     index in the data */
    const int        *cluster;       /* [n]     of level 0 */
    const int *const *path;          /* [n][T]  states of the centre that most likely made each frame */
} vhem_examples;

/* At most so many sequences of each cluster of level 0, decoded by its centre.  A sequence is in the cluster
 * of the item that has its name or that of its group; if none has one, in the cluster that fits it best.
 * Centres that are not HMMs have no examples. */
VHEM_RESULT vhem_status vhem_examples_find(vhem_ctx *, const vhem_tree *, const vhem_data *, int each,
                                           vhem_examples **out);

typedef struct {                     /* what a report shows; all but the tree may be NULL or 0 */
    size_t      size;                /* of the record: VHEM_INIT */
    const vhem_tree   *tree;
    const char        *title;        /* of the page */
    const vhem_models *models;       /* those that were clustered: their labels and provenance */
    const char *const *truth;        /* [Kb of level 0] class of each item, "" for none, instead of the
                                        labels of the models */
    const vhem_data   *data;         /* sequences: names of their dimensions, and those of the examples */
    const vhem_examples *examples;   /* of the data, from vhem_examples_find */
    const double      *distance;     /* [Kb][Kb] between the models, in their order */
    int                n_choice;
    const vhem_choice *choice;       /* [n_choice] */
    const vhem_measures *measures;   /* [levels]  from vhem_measure */
    const char        *image;        /* PNG or JPEG to draw under 2-D emissions, one pixel per unit */
    int                y_down;       /* in the plane the second dimension grows downwards, as in images */
    const char        *frame_name;   /* what frames are called, "fixations"; default: "frames" */
    const char        *plane;        /* two dimensions to draw as the plane, "x,y"; default: the first two
                                        when there are two */
    const vhem_statistics *stats;    /* from vhem_stats */
    const char        *tables;       /* folder that gets every number as TSV; created if it does not exist */
    const char        *command;      /* line that made this report, to be shown */
} vhem_report_input;

/* One HTML file that needs nothing else; "-" is stdout.  Nothing is clustered, fitted or measured for it. */
VHEM_RESULT vhem_status vhem_report_write(vhem_ctx *, const vhem_report_input *, const char *path);

#ifdef __cplusplus
}
#endif
#endif
