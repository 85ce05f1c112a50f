/* SPDX-License-Identifier: BSD-3-Clause */
/* vhem.h - cluster hidden Markov models.  Read from top to bottom: that is the data flow.
 *
 * Conventions, once for all functions:
 *   - What can fail returns a vhem_status; the sentence for a person is vhem_ctx_error(ctx).  On failure an
 *     output is left as it was.  The one exception is VHEM_ESTOPPED, see vhem_ctx_stop.
 *   - Argument order: context, inputs, options, outputs.  Options may be NULL for the defaults.
 *   - The caller owns what comes through a ** and frees it with the matching _free, which accepts NULL.
 *   - Arrays are row-major; a comment gives their shape.  Indices are 0-based.  Rows of A are "from".
 *   - A context serves one thread at a time; objects passed as const may be shared by all threads.
 *   - The same seed gives the same bits at any number of threads. */
/* clang-format off */
#ifndef VHEM_VHEM_H
#define VHEM_VHEM_H

#include <stdint.h>

#if defined(__GNUC__)
#define VHEM_API __attribute__((visibility("default")))
#else
#define VHEM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define VHEM_VERSION "0.1.0"

typedef enum { VHEM_OK, VHEM_ENOMEM, VHEM_EINVAL, VHEM_EIO, VHEM_EFORMAT,
               VHEM_ENUMERIC, VHEM_EBACKEND, VHEM_ESTOPPED } vhem_status;

typedef struct vhem_ctx  vhem_ctx;   /* where and how to run, and the text of the last error   */
typedef struct vhem_data vhem_data;  /* N sequences y_n, each [T_n][d], with optional labels    */
typedef struct vhem_h3m  vhem_h3m;   /* K HMMs with weights omega; one HMM is an H3M with K = 1 */
typedef struct vhem_dtm  vhem_dtm;   /* K dynamic textures (linear dynamical systems) with weights omega */
typedef struct vhem_tree vhem_tree;  /* a stack of clusterings, each of the centres below it    */
typedef struct vhem_classes vhem_classes;                /* C named H3Ms with priors: of classes, of tags */

/* ---- context ------------------------------------------------------------------------------------------- */

typedef enum { VHEM_LOG_WARN, VHEM_LOG_INFO, VHEM_LOG_DEBUG } vhem_log_level;

typedef struct {
    const char *backend;             /* one of vhem_backends(); NULL: the best usable one */
    int         threads;             /* 0: all cores; more than 1024 are taken as 1024 */
    uint64_t    seed;
    void      (*log)(void *arg, int level, const char *text);                        /* NULL: silent */
    void       *log_arg;
    /* NULL: none.  Called from any thread, one call at a time. */
    void      (*progress)(void *arg, const char *what, int64_t done, int64_t total);
    void       *progress_arg;
} vhem_ctx_options;

VHEM_API const char *vhem_version(void);
VHEM_API const char *vhem_backends(void);                /* usable here, best first: "avx512 avx2 simd ref" */
VHEM_API const char *vhem_status_text(vhem_status);
VHEM_API void        vhem_ctx_options_init(vhem_ctx_options *);        /* each *_init writes the defaults */
VHEM_API vhem_status vhem_ctx_new(const vhem_ctx_options *, vhem_ctx **out);
VHEM_API void        vhem_ctx_free(vhem_ctx *);
VHEM_API const char *vhem_ctx_error(const vhem_ctx *);   /* of the last failure; "" before any */
VHEM_API const char *vhem_ctx_backend(const vhem_ctx *); /* the one in use */
/* Asks the running and all later computations of this context to end soon; may be called from a
 * signal handler or another thread.  They return VHEM_ESTOPPED and, where their comment says so,
 * hand over the best result so far. */
VHEM_API void        vhem_ctx_stop(vhem_ctx *);

/* ---- sequences ----------------------------------------------------------------------------------------- */

typedef struct {
    const char *format;              /* csv, tsv, dir, npy, npz, ts, hdf5; NULL: found out from the file */
    const char *id;                  /* columns that name a sequence, "subject,trial"; NULL: id or seq */
    const char *label, *group;       /* columns; NULL: a column named label / none */
    const char *weight;              /* column with the weight of a sequence; NULL: all 1 */
    const char *columns;             /* the dimensions, "x,y"; NULL: every other numeric column */
    const char *where;               /* "COL=VALUE": keep only these rows or sequences; NULL: all */
    int64_t     memory;              /* bytes of frames (8 a value) that stay in memory, 0: all; with more,
                                        the frames are in a file without a name in TMPDIR, or else /var/tmp,
                                        that ends with the data set.  Default: 1 GiB */
} vhem_data_options;

typedef struct {                     /* read-only window on sequence n; valid while its data set lives */
    const char   *name, *label, *group;                  /* "" when the file has none */
    double        weight;
    int64_t       T;                 /* frames */
    const double *y;                 /* [T][d], NaN where a value is missing */
} vhem_seq_view;

VHEM_API void        vhem_data_options_init(vhem_data_options *);
VHEM_API vhem_status vhem_data_load(vhem_ctx *, const char *path, const vhem_data_options *, vhem_data **out);
/* Frames of all sequences stacked, y [sum T][d], T [N].  No copy: y must outlive the data set. */
VHEM_API vhem_status vhem_data_wrap(vhem_ctx *, int N, const int *T, int d, const double *y, vhem_data **out);
/* Names, labels, groups and weights of the sequences, [N] each, and names of the dimensions, [d].  NULL
 * leaves them as they are; all are copied. */
VHEM_API vhem_status vhem_data_describe(vhem_ctx *, vhem_data *, const char *const *name,
                                        const char *const *label, const char *const *group,
                                        const double *weight, const char *const *column);
/* The format follows from the ending of the path: .csv .tsv .npy .npz .ts .h5; "-" is CSV on stdout. */
VHEM_API vhem_status vhem_data_save(vhem_ctx *, const vhem_data *, const char *path);
VHEM_API int         vhem_data_size(const vhem_data *);                           /* N */
VHEM_API int         vhem_data_dim(const vhem_data *);                            /* d */
VHEM_API const char *vhem_data_column(const vhem_data *, int k);                  /* name of dimension k */
VHEM_API const char *vhem_data_format(const vhem_data *);                         /* of the file; "memory" */
VHEM_API int64_t     vhem_data_missing(const vhem_data *);                        /* values that are NaN */
VHEM_API vhem_status vhem_data_view(const vhem_data *, int n, vhem_seq_view *out);
VHEM_API void        vhem_data_free(vhem_data *);

/* ---- models -------------------------------------------------------------------------------------------- */

typedef struct {                     /* read-only window on HMM i; valid while its H3M lives */
    int S, M, d, n_theta;            /* states, components per state, dimension, length of theta */
    const char *emission;            /* name of the family, which fixes the layout of theta */
    const char *name, *label;        /* "" when it has none */
    double omega;                    /* weight in the H3M */
    const double *pi, *A, *theta;    /* [S]  [S][S]  [n_theta] all emission parameters */
    const double *c, *mu, *cov;      /* into theta: [S][M] [S][M][d] [S][M][d or d*d]; NULL if not Gaussian */
} vhem_hmm_view;

/* A copy of K HMMs given as views (emission, n_theta, theta or c/mu/cov as above); validated. */
VHEM_API vhem_status vhem_h3m_new(vhem_ctx *, const char *emission, int d, int K, const vhem_hmm_view *hmm,
                                  vhem_h3m **out);
VHEM_API vhem_status vhem_h3m_load(vhem_ctx *, const char *path, vhem_h3m **out);      /* .json or .h5; "-" */
VHEM_API vhem_status vhem_h3m_save(vhem_ctx *, const vhem_h3m *, const char *path);    /* by its ending     */
VHEM_API int         vhem_h3m_size(const vhem_h3m *);                                  /* K */
VHEM_API vhem_status vhem_h3m_view(const vhem_h3m *, int i, vhem_hmm_view *out);
VHEM_API vhem_status vhem_h3m_validate(vhem_ctx *, const vhem_h3m *);
/* Largest difference |a - b| / max(1, |a|, |b|) over all parameters; infinity when the shapes differ. */
VHEM_API double      vhem_h3m_compare(const vhem_h3m *, const vhem_h3m *);
/* What made the file: a JSON object as text, kept in the file under "provenance".  NULL when unknown. */
VHEM_API vhem_status vhem_h3m_set_provenance(vhem_ctx *, vhem_h3m *, const char *json);
VHEM_API const char *vhem_h3m_provenance(const vhem_h3m *);
/* The prior the models were fitted with, a JSON object as text; NULL: none. */
VHEM_API const char *vhem_h3m_prior(const vhem_h3m *);
VHEM_API void        vhem_h3m_free(vhem_h3m *);

/* ---- sequences -> HMMs --------------------------------------------------------------------------------- */

typedef struct {
    int         S, M, max_iter, restarts;             /* 0 restarts: 1 with a given start, else the default */
    int         K;                   /* HMMs of a mixture; fit_each takes no notice */
    double      tol;                 /* stop when an iteration gains less than this, in
                                        nats per frame; 0: never */
    double      cov_floor;           /* smallest variance, as a share of the variance
                                        of all the data; 0: none */
    const char *emission;            /* "gaussian-diag", "gaussian-full" */
    const char *init;                /* "kmeans", "random", "segment" */
    const vhem_h3m *start;           /* instead of init: start here; one HMM for all, or
                                        one for each; for a mixture its K HMMs */
    const char *topology;            /* "free", "left-right", "linear" */
    const double *fixed_pi, *fixed_A;/* [S] [S][S]: NaN is free, a number stays as it is;
                                        NULL: as topology says */
    int         by_group;            /* one HMM for each group of sequences, not for each sequence; in a
                                        mixture the sequences of a group belong together */
    int         repair;              /* revive states and components that die, and count them */
    const char *prior;               /* "none": highest likelihood; "vb", "eb", each with settings after a
                                        colon, "vb:nu0=1"; a file that holds a prior; its JSON text.
                                        NULL: the default, "none" with a given start */
} vhem_fit_options;

typedef struct {                     /* what one run of Baum-Welch came to */
    double loglik;                   /* weighted log-likelihood of the final model, in nats */
    int    n_iter, converged, n_revived, n_floored;    /* floored: covariances held at the floor at the end */
    double bound;                    /* what was maximised: with a prior a lower bound of the log-evidence,
                                        else loglik */
} vhem_fit_run;

typedef struct {                     /* every restart of every model */
    int           K, R;              /* models, restarts of each */
    int          *best;              /* [K]     the restart that was kept */
    int64_t      *frames;            /* [K]     frames the model was fitted to */
    vhem_fit_run *run;               /* [K][R] */
} vhem_fit_report;

VHEM_API void        vhem_fit_options_init(vhem_fit_options *);
/* One HMM per sequence, or per group, by Baum-Welch; omega is uniform, names and labels are carried over.
 * report may be NULL.  VHEM_ESTOPPED hands over the models that were begun. */
VHEM_API vhem_status vhem_fit_each(vhem_ctx *, const vhem_data *, const vhem_fit_options *, vhem_h3m **out,
                                   vhem_fit_report **report);
/* An H3M of opt->K HMMs by EM on all sequences (EM-H3M); vhem_cluster_data tells more.  report may be NULL;
 * its K is 1: one row of restarts.  VHEM_ESTOPPED hands over the best so far. */
VHEM_API vhem_status vhem_fit_mixture(vhem_ctx *, const vhem_data *, const vhem_fit_options *, vhem_h3m **out,
                                      vhem_fit_report **report);
VHEM_API void        vhem_fit_report_free(vhem_fit_report *);

/* ---- what a model says of sequences -------------------------------------------------------------------- */

/* loglik [N][K]: log p(y_n | HMM i), in nats. */
VHEM_API vhem_status vhem_score(vhem_ctx *, const vhem_h3m *, const vhem_data *, double *loglik);
/* The most likely state path of sequence n under HMM i, path [T], and its log-probability. */
VHEM_API vhem_status vhem_viterbi(vhem_ctx *, const vhem_h3m *, int i, const vhem_data *, int n, int *path,
                                  double *logprob);
/* gamma [T][S]: p(state | y_n, HMM i); expected transition counts xi [S][S] and loglik may be NULL. */
VHEM_API vhem_status vhem_posterior(vhem_ctx *, const vhem_h3m *, int i, const vhem_data *, int n,
                                    double *gamma, double *xi, double *loglik);
/* N sequences of T frames, each from an HMM drawn with the weights omega, whose name becomes the label. */
VHEM_API vhem_status vhem_sample(vhem_ctx *, const vhem_h3m *, int N, int T, vhem_data **out);

/* ---- dynamic textures: the other model of sequences ---------------------------------------------------- */

/* x_1 ~ N(mu, Sigma), x_{t+1} = A x_t + v, v ~ N(0, Q), y_t = C x_t + ybar + w, w ~ N(0, diag R). */
typedef struct {                     /* read-only window on texture i; valid while its set lives */
    int n, d;                        /* dimension of the state, of a frame */
    const char *name, *label;        /* "" when it has none */
    double omega;                    /* weight in the set */
    const double *A, *Q;             /* [n][n] [n][n] */
    const double *mu, *Sigma;        /* [n] [n][n] */
    const double *C, *ybar, *R;      /* [d][n] [d] [d] */
} vhem_dt_view;

typedef struct {
    int         n;                   /* dimension of the state */
    const char *method;              /* "svd": principal components, in closed form; "em" */
    const char *noise;               /* R: "diag", "isotropic" */
    int         K;                   /* 0: a texture for each sequence or group; else a mixture of K by EM */
    int         by_group;            /* the sequences of a group belong together */
    int         max_iter, restarts;  /* of EM; restarts of a mixture */
    double      tol;                 /* stop when an iteration gains less, in nats per frame; 0: never */
    double      cov_floor;           /* smallest R, as a share of the variance of all the data; above 0 */
} vhem_dtm_fit_options;

/* A copy of K textures given as views; validated.  The functions are those of an H3M. */
VHEM_API vhem_status vhem_dtm_new(vhem_ctx *, int d, int K, const vhem_dt_view *dt, vhem_dtm **out);
VHEM_API vhem_status vhem_dtm_load(vhem_ctx *, const char *path, vhem_dtm **out);
VHEM_API vhem_status vhem_dtm_save(vhem_ctx *, const vhem_dtm *, const char *path);
VHEM_API int         vhem_dtm_size(const vhem_dtm *);
VHEM_API vhem_status vhem_dtm_view(const vhem_dtm *, int i, vhem_dt_view *out);
VHEM_API vhem_status vhem_dtm_validate(vhem_ctx *, const vhem_dtm *);
VHEM_API double      vhem_dtm_compare(const vhem_dtm *, const vhem_dtm *);
VHEM_API vhem_status vhem_dtm_set_provenance(vhem_ctx *, vhem_dtm *, const char *json);
VHEM_API const char *vhem_dtm_provenance(const vhem_dtm *);
VHEM_API void        vhem_dtm_free(vhem_dtm *);

VHEM_API void        vhem_dtm_fit_options_init(vhem_dtm_fit_options *);
/* report may be NULL; for a mixture its K is 1, one row of restarts, else a row for each texture.  Repairs it
 * counts: n_revived, transition matrices made stable; n_floored, entries of R held at the floor. */
VHEM_API vhem_status vhem_dtm_fit(vhem_ctx *, const vhem_data *, const vhem_dtm_fit_options *, vhem_dtm **out,
                                  vhem_fit_report **report);
/* loglik [N][K]: log p(y_n | texture i) by the Kalman filter, in nats. */
VHEM_API vhem_status vhem_dtm_score(vhem_ctx *, const vhem_dtm *, const vhem_data *, double *loglik);
/* What texture i says of the states behind sequence n: means x [T][n], covariances cov [T][n][n]; cov and
 * loglik may be NULL. */
VHEM_API vhem_status vhem_dtm_smooth(vhem_ctx *, const vhem_dtm *, int i, const vhem_data *, int n, double *x,
                                     double *cov, double *loglik);
VHEM_API vhem_status vhem_dtm_sample(vhem_ctx *, const vhem_dtm *, int N, int T, vhem_data **out);

/* ---- HMMs -> clusters ---------------------------------------------------------------------------------- */

typedef struct {                     /* negative (0 for sizes, NULL for names): take the
                                        default or the preset's */
    const char *method;              /* one of vhem_methods(); default "vhem" */
    const char *preset;              /* NULL, "paper", "emhmm" */
    int         K;                   /* clusters */
    int         S, M;                /* states and components of the centres; default:
                                        the largest of the input */
    int         tau;                 /* length of the virtual samples; -1: that of the sequences the models
                                        were fitted to, their median, but at most 100 */
    int         max_iter, restarts;
    double      nv;                  /* virtual samples per input model: N = nv Kb, any positive number */
    double      tol;                 /* stop when the bound changes by less than this share; 0: never */
    double      cov_floor;           /* smallest variance of a centre, as a share of
                                        that of the input; 0: none */
    double      cov_add;             /* added to the diagonal of covariances after every M-step */
    const char *init;                /* "auto", "base", "emissions", "pooled", "dealt", "far" */
    const vhem_h3m *start;           /* instead of init: start exactly here */
    const vhem_dtm *start_dtm;       /* the same for dynamic textures, of which S is the dimension n */
    int         soft;                /* iterations with N = 0.1 Kb before the wanted N */
    int         repair;              /* re-seed empty clusters and dead states, and count them */
    int         weighted_omega;      /* weights of centres by mass of their members, not by their number */
    const char *emission;            /* of the centres, when sequences are clustered; "gaussian-diag" */
    int         by_group;            /* the sequences of a group are one thing to cluster */
    double      lambda;              /* power of the probability product kernel */
    const char *kernel;              /* "normalised": k(a,b) / sqrt(k(a,a) k(b,b)), "raw", "scaled":
                                        normalised, to the power that makes its median 1/e */
    const char *diagonal;            /* of an affinity, for spectral clustering: "zero", "keep" */
    const char *linkage;             /* of agglomerative clustering: "average", "complete", "single" */
    const char *search;              /* of method vhem: "auto": restarts and candidates from distances between
                                        the models; "fast": one such candidate; "thorough": more of all;
                                        "restarts": random starts alone, as with a preset or an init */
    int         neighbours;          /* of each model in the graph of method knn-sc; 0: 10, or fewer
                                        where clusters are smaller */
    int         candidate;           /* keep the N-th best partition instead of the best; 0: 1, the best */
} vhem_cluster_options;

typedef struct {                     /* one restart */
    uint64_t    seed;                /* what its random numbers came from */
    const char *init;                /* how it started */
    double      bound;               /* at its end */
    int         n_iter, converged;
    int         finished;            /* 0: given up early, others looked better */
    double     *bounds;              /* [n_iter+1]  as bound of the clustering; NULL: not known, or the run
                                        that was kept */
    double      modularity;          /* of its partition in the graph of 5 nearest neighbours; NaN: unknown */
    double      agreement;           /* adjusted Rand index of its partition with the one that was kept; NaN:
                                        unknown */
    int        *label;               /* [Kb]  its partition; NULL: not known, or the one that was kept */
} vhem_cluster_run;

typedef struct {                     /* what every clustering method returns; what it does not have is NULL */
    const char *method;
    int         Kb, Kr, n_iter, converged;
    int         n_empty, n_revived, n_fell;     /* clusters re-seeded, states revived, times the bound fell */
    int        *label;               /* [Kb]        argmax_j z_ij */
    double     *z;                   /* [Kb][Kr]    soft assignments z_ij */
    double     *L_hmm;               /* [Kb][Kr]    bound on the expected log-likelihood, in nats */
    double     *bound;               /* [n_iter+1]  objective J of the initial model and
                                        after each M-step, in nats */
    int        *state_map;           /* for each input model, [its S]: state of its
                                        centre most often beside it */
    int64_t    *state_map_at;        /* [Kb+1]      where the map of a model begins */
    int         n_run;
    vhem_cluster_run *run;           /* [n_run] */
    char      **name;                /* [Kb]        of the input models, "" for none */
    vhem_h3m   *centers;             /* K = Kr */
    vhem_dtm   *textures;            /* K = Kr; the centres when dynamic textures were clustered */
    vhem_cluster_options options;    /* as they were used, all defaults filled in; start is NULL */
    char       *provenance;          /* JSON object as text, or NULL; the caller may set it (malloc) */
} vhem_clustering;

VHEM_API void        vhem_cluster_options_init(vhem_cluster_options *);
VHEM_API const char *vhem_methods(void);                 /* by name: "vhem em-h3m ...", the default first */
/* Does the method start from sequences?  0 for models, and for names that are unknown. */
VHEM_API int         vhem_method_takes_data(const char *method);
/* VHEM_ESTOPPED hands over the best result so far. */
VHEM_API vhem_status vhem_cluster(vhem_ctx *, const vhem_h3m *, const vhem_cluster_options *,
                                  vhem_clustering **out);
/* The same for methods that start from sequences; Kb is then the number of sequences or groups. */
VHEM_API vhem_status vhem_cluster_data(vhem_ctx *, const vhem_data *, const vhem_cluster_options *,
                                       vhem_clustering **out);
/* The same for dynamic textures; the default method is then hem-dtm. */
VHEM_API vhem_status vhem_cluster_dtm(vhem_ctx *, const vhem_dtm *, const vhem_cluster_options *,
                                      vhem_clustering **out);
VHEM_API vhem_status vhem_clustering_load(vhem_ctx *, const char *path, vhem_clustering **out);
VHEM_API vhem_status vhem_clustering_save(vhem_ctx *, const vhem_clustering *, const char *path);
VHEM_API void        vhem_clustering_free(vhem_clustering *);

/* ---- clusters -> hierarchy ----------------------------------------------------------------------------- */

/* Level 0 clusters the models into K[0], level l the centres of level l-1, with their weights, into K[l].
 * VHEM_ESTOPPED hands over the levels that were finished. */
VHEM_API vhem_status vhem_tree_build(vhem_ctx *, const vhem_h3m *, int n_levels, const int *K,
                                     const vhem_cluster_options *, vhem_tree **out);
/* Level l clusters what level l-1 has put together: all sequences of a cluster stay together. */
VHEM_API vhem_status vhem_tree_build_data(vhem_ctx *, const vhem_data *, int n_levels, const int *K,
                                          const vhem_cluster_options *, vhem_tree **out);
VHEM_API vhem_status vhem_tree_build_dtm(vhem_ctx *, const vhem_dtm *, int n_levels, const int *K,
                                         const vhem_cluster_options *, vhem_tree **out);
VHEM_API int         vhem_tree_levels(const vhem_tree *);
VHEM_API const vhem_clustering *vhem_tree_level(const vhem_tree *, int l);
/* [Kb of level 0]: where each model ended up. */
VHEM_API const int  *vhem_tree_base_labels(const vhem_tree *, int l);
/* Also reads a clustering: a tree of one level. */
VHEM_API vhem_status vhem_tree_load(vhem_ctx *, const char *path, vhem_tree **out);
VHEM_API vhem_status vhem_tree_save(vhem_ctx *, const vhem_tree *, const char *path);
VHEM_API vhem_status vhem_tree_set_provenance(vhem_ctx *, vhem_tree *, const char *json);
VHEM_API const char *vhem_tree_provenance(const vhem_tree *);
VHEM_API void        vhem_tree_free(vhem_tree *);

/* New models (by L_hmm) or new sequences (by likelihood, a level up by following the tree) into the clusters
 * of every level: label [n][levels]; posterior [n][Kr of level 0] and score [n] (L_hmm or log-likelihood
 * under the best cluster of level 0) may be NULL. */
VHEM_API vhem_status vhem_assign_models(vhem_ctx *, const vhem_tree *, const vhem_h3m *, int *label,
                                        double *posterior, double *score);
VHEM_API vhem_status vhem_assign_dtm(vhem_ctx *, const vhem_tree *, const vhem_dtm *, int *label,
                                     double *posterior, double *score);
VHEM_API vhem_status vhem_assign_data(vhem_ctx *, const vhem_tree *, const vhem_data *, int *label,
                                      double *posterior, double *score);

/* ---- how many clusters and states, and how good -------------------------------------------------------- */

typedef struct {                     /* one row of a choice */
    int    K, S;
    double bound;                    /* J of the best run, in nats */
    double loglik;                   /* sum_i omega_i Kb max_j L_ij: expected log-likelihood of
                                        one virtual sample each */
    double n_param, bic, icl;        /* smaller is better: -2 loglik + n_param log Kb;
                                        ICL adds the entropy of z */
    double stability;                /* mean adjusted Rand index between the labels two
                                        halves give; NaN: not asked, K = 1 or K > Kb / 2 */
} vhem_choice;

/* Every K in K[n_K] with every S in S[n_S] (0: as the input), the restarts of opt each; n_splits halvings for
 * stability.  rows [n_K][n_S] is the caller's.  VHEM_ESTOPPED leaves the rows that were finished there; the
 * others have K = 0. */
VHEM_API vhem_status vhem_choose(vhem_ctx *, const vhem_h3m *, int n_K, const int *K, int n_S, const int *S,
                                 int n_splits, const vhem_cluster_options *, vhem_choice *rows);

typedef struct {
    double rand, adjusted_rand, nmi, purity;
} vhem_agreement;

/* How well two partitions of n things agree; labels are any integers.  nmi: mutual information over the mean
 * of both entropies; purity: share of things that are in b what most of their part of a are. */
VHEM_API void vhem_partition_compare(int n, const int *a, const int *b, vhem_agreement *out);

typedef struct {                     /* how good the clusters of one level are; NaN: cannot be said */
    double expected_loglik;          /* mean over the models of L_hmm under the centre they
                                        are assigned to, in nats per virtual sample */
    double loglik;                   /* of the sequences, each under the centre it is assigned to, by its
                                        name or group, or else under the best; in nats */
    double compactness;              /* sum over clusters of the mean kernel between different members */
    double modularity;               /* of the partition in the graph that joins each model with the 5
                                        nearest by divergence; from 6 to 5000 models */
} vhem_measures;

/* Level l of a tree: models are those that were clustered, data sequences to judge the centres by; either may
 * be NULL.  opt says tau, lambda and kernel; what it leaves open is as the tree was made.  Clusters without
 * members do not count. */
VHEM_API vhem_status vhem_measure(vhem_ctx *, const vhem_tree *, int l, const vhem_h3m *models,
                                  const vhem_data *data, const vhem_cluster_options *opt,
                                  vhem_measures *out);
/* Paired t-test of a [n] against b [n], two-sided; n < 2 or no spread at all: p is NaN. */
VHEM_API void vhem_paired_t(int n, const double *a, const double *b, double *t, double *p);

/* ---- distances between HMMs ---------------------------------------------------------------------------- */

typedef struct {
    const char *kind;                /* "kl": variational, may be negative; "kl-sampled"; "ppk": kernel, large
                                        where HMMs are alike */
    int         tau;                 /* frames; 0: 10 */
    int         symmetric;           /* of a divergence: the mean of both directions */
    int         samples;             /* sequences drawn from each HMM; 0: 1000 */
    double      lambda;              /* power of the kernel; 0: 0.5 */
    int         normalised;          /* k(a,b) / sqrt(k(a,a) k(b,b)) */
} vhem_distance_options;

VHEM_API void        vhem_distance_options_init(vhem_distance_options *);
/* D [Ka][Kb]: every HMM of a against every HMM of b, for sequences of tau frames: divergences in nats,
 * kernels as their logarithm.  error [Ka][Kb], the standard error where the kind is sampled, else 0, may be
 * NULL.  One set may have diagonal and the other full covariances.  a may be b, which halves the work of a
 * kernel.  VHEM_ESTOPPED hands over nothing. */
VHEM_API vhem_status vhem_distance(vhem_ctx *, const vhem_h3m *a, const vhem_h3m *b,
                                   const vhem_distance_options *, double *D, double *error);

/* ---- models of classes and tags ------------------------------------------------------------------------
 * The things that have a class or tags are sequences, or groups of them: a song is many fragments.  The data
 * is cut into pieces, an H3M is fitted to each, and the pieces of a class are pooled and reduced to its
 * model. */

typedef struct {                     /* which things have which tags */
    int    n, C;
    char **thing, **tag;             /* [n]  [C]  names */
    unsigned char *has;              /* [n][C]  0 or 1 */
} vhem_tags;

typedef struct {
    const char *estimator;           /* one of vhem_methods(); one that takes models reduces pieces, one that
                                        takes sequences goes without; default "vhem" */
    vhem_fit_options piece;          /* of a piece; its K HMMs */
    vhem_cluster_options reduce;     /* of a class; its K HMMs, or fewer when it has fewer pieces */
    int         by_group;            /* the groups of the data are the things, not its sequences */
    int         chunk;               /* things of a class that make a piece; 1 */
    int         bootstrap, sample;   /* instead: so many subsamples of so many things of each class;
                                        0: none */
    int         min_things;          /* classes with fewer are left out; 1 */
    const char *prior;               /* "uniform", "counts" */
    const char *store;               /* file that keeps what is fitted, to go on from; NULL: none */
} vhem_train_options;

typedef struct {                     /* read-only window on class c */
    const char     *name;
    double          prior;
    int             things, pieces;  /* it was learned from */
    const vhem_h3m *model;
} vhem_class_view;

typedef struct {                     /* what the models say of n things */
    int     n, C;
    char  **name, **label, **class_name;     /* [n]  [n] what the data calls its class, "" for none  [C] */
    int    *fragments;               /* [n]     sequences of the thing */
    int    *fold;                    /* [n]     of a cross-validation, -1: never held out; else NULL */
    double *loglik;                  /* [n][C]  mean over its sequences of log p(y | class), in nats; -inf
                                        for a class that a fast search passed by */
    double *log_posterior;           /* [n][C]  by Bayes' rule */
    double  scored;                  /* share of the HMMs that were scored: 1, or less in a fast search */
} vhem_prediction;

/* The first half alone: opt->K HMMs for each sequence, or group, side by side and each in the store (NULL:
 * none) as soon as it is fitted; all of them pooled in one H3M, the weights within each divided by their
 * number.  The second half of one class is vhem_cluster.  VHEM_ESTOPPED: what was fitted is in the store. */
VHEM_API vhem_status vhem_fit_pieces(vhem_ctx *, const vhem_data *, const vhem_fit_options *,
                                     const char *store, vhem_h3m **out);
VHEM_API void        vhem_train_options_init(vhem_train_options *);
/* tags NULL: the labels of the data are the classes.  VHEM_ESTOPPED: what was fitted is in the store. */
VHEM_API vhem_status vhem_classes_train(vhem_ctx *, const vhem_data *, const vhem_tags *,
                                        const vhem_train_options *, vhem_classes **out);
/* More data, with the options of the training: pieces that are not in the store are fitted, the classes they
 * touch are reduced again. */
VHEM_API vhem_status vhem_classes_update(vhem_ctx *, vhem_classes *, const vhem_data *, const vhem_tags *,
                                         const char *store);
VHEM_API vhem_status vhem_classes_load(vhem_ctx *, const char *path, vhem_classes **out);
/* provenance: a JSON object as text, or NULL to keep what there is. */
VHEM_API vhem_status vhem_classes_save(vhem_ctx *, const vhem_classes *, const char *provenance,
                                       const char *path);
VHEM_API int         vhem_classes_size(const vhem_classes *);                     /* C */
VHEM_API const vhem_train_options *vhem_classes_options(const vhem_classes *);    /* store is NULL */
VHEM_API vhem_status vhem_classes_view(const vhem_classes *, int c, vhem_class_view *out);
VHEM_API void        vhem_classes_free(vhem_classes *);
/* fast: look the HMMs up in a tree and score only the `fast` branches that fit best; 0: score all. */
VHEM_API vhem_status vhem_classes_predict(vhem_ctx *, const vhem_classes *, const vhem_data *, int fast,
                                          vhem_prediction **out);
/* Trains without the things of one fold and predicts them, for every one of `folds`; folds < 2: only once,
 * and the share `holdout` of the things is held out. */
VHEM_API vhem_status vhem_crossvalidate(vhem_ctx *, const vhem_data *, const vhem_tags *,
                                        const vhem_train_options *, int folds, double holdout,
                                        vhem_prediction **out);
VHEM_API void        vhem_prediction_free(vhem_prediction *);
/* CSV or TSV with names of things in the first column: one column for each tag, with 0 and 1 below its name;
 * or two columns, the second called "tag", and a row for each tag of each thing. */
VHEM_API vhem_status vhem_tags_load(vhem_ctx *, const char *path, vhem_tags **out);
VHEM_API void        vhem_tags_free(vhem_tags *);

typedef struct {                     /* how well one tag is given and found */
    int    n, given, right;          /* things that have it, that were given it, both */
    double precision, recall, F;     /* 0 where they are 0/0; precision: see never_given */
    double average_precision;        /* of the ranking: mean precision at the ranks of those
                                        that have it */
} vhem_tag_measure;

typedef struct {
    int         top;                 /* tags that every thing is given, its best; 10 */
    int         n_k;
    const int  *k;                   /* [n_k]  precision among the first k things; NULL: none */
    const char *never_given;         /* precision of a tag that no thing was given, 0/0: "zero", "base-rate":
                                        the share of the things that have it */
} vhem_rank_options;

VHEM_API void        vhem_rank_options_init(vhem_rank_options *);
/* score [n][C] ranks tags within a thing, and things within a tag; truth [n][C].  out [C]; p_at [C][n_k]:
 * precision among the first k things, may be NULL.  Ties: the lowest index first. */
VHEM_API vhem_status vhem_rank(vhem_ctx *, int n, int C, const double *score, const unsigned char *truth,
                               const vhem_rank_options *, vhem_tag_measure *out, double *p_at);

/* ---- hierarchy -> report ------------------------------------------------------------------------------- */

typedef struct {                     /* what a report shows; all but the tree may be NULL or 0 */
    const vhem_tree   *tree;
    const char        *title;        /* of the page */
    const vhem_h3m    *models;       /* those that were clustered: their labels and provenance */
    const char *const *truth;        /* [Kb of level 0] class of each model, "" for none, instead of
                                        the labels of the models */
    const vhem_data   *data;         /* sequences to show some of, coloured by decoded state; a sequence
                                        named, or in a group named, like a model is in its cluster */
    int                n_example;    /* of them for each cluster; 0: 2 */
    const double      *distance;     /* [Kb][Kb] between the models, in their order */
    int                n_choice;
    const vhem_choice *choice;       /* [n_choice] */
    const char        *image;        /* path of a PNG or JPEG to lie under 2-D emissions, one unit a pixel */
    int                y_down;       /* in the plane the second dimension grows downwards, as in images */
    const char        *tables;       /* folder that gets every number as TSV; made if it is not there */
    const char        *command;      /* line that made this report, to be shown */
} vhem_report_input;

VHEM_API void        vhem_report_input_init(vhem_report_input *);
/* One HTML file that needs nothing else; "-" is stdout.  Nothing is clustered or fitted for it. */
VHEM_API vhem_status vhem_report_write(vhem_ctx *, const vhem_report_input *, const char *path);

#ifdef __cplusplus
}
#endif
#endif
