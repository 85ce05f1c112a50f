/* SPDX-License-Identifier: BSD-3-Clause */
/* vhem.h - cluster hidden Markov models.  Read from top to bottom: that is the data flow.
 *
 * Conventions, once for all functions:
 *   - Whatever can fail returns a vhem_status; vhem_ctx_error(ctx) is a sentence for a person.  On failure an
 *     output is left as it was.  The exceptions are VHEM_ESTOPPED (see vhem_ctx_stop) and vhem_decode.
 *   - Argument order: context, inputs, options, outputs.  A NULL that no comment allows is VHEM_EINVAL where
 *     there is a status to say so.
 *   - Defaults: VHEM_INIT sets the numbers of an options record to -1 and its pointers to NULL, and in every
 *     options record a negative number or a NULL means "the default".  A NULL record means all defaults; one
 *     that VHEM_INIT has not filled is VHEM_EINVAL.  vhem_option_info tells what the defaults are.
 *   - The caller owns what comes through a **, and releases it with vhem_free, whatever it is.
 *   - Arrays are row-major; a comment gives their shape.  Indices are 0-based.  Rows of A are "from".
 *   - A context serves one thread at a time; objects passed as const may be shared by all threads.
 *   - The same seed gives the same bits at any number of threads.
 *   - fork(): a child may use what its parent made, and make its own.  In a child of a thread that has
 *     computed with more than one thread, all computing is done by one thread, with the same results.  Do not
 *     fork while another thread is inside a call, and give parent and child files of their own to write. */
/* clang-format off */
#ifndef VHEM_VHEM_H
#define VHEM_VHEM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define VHEM_API    __attribute__((visibility("default")))
#define VHEM_RESULT VHEM_API __attribute__((warn_unused_result))
#else
#define VHEM_API
#define VHEM_RESULT VHEM_API         /* a status that must not be ignored */
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define VHEM_VERSION "0.4.0"
#define VHEM_AUTO    0x7fffffff      /* of an option that says so: as the input suggests */

typedef enum { VHEM_OK, VHEM_ENOMEM, VHEM_EINVAL, VHEM_EIO, VHEM_EFORMAT,
               VHEM_ENUMERIC, VHEM_EBACKEND, VHEM_ESTOPPED } vhem_status;

typedef struct vhem_ctx     vhem_ctx;     /* where and how to run, and the text of the last error */
typedef struct vhem_data    vhem_data;    /* N sequences y_n, each [T_n][d], with labels and groups if any */
typedef struct vhem_models  vhem_models;  /* K HMMs, or K dynamic textures, with weights omega */
typedef struct vhem_tree    vhem_tree;    /* a stack of clusterings, each of the centres below it; a
                                             clustering is a tree of one level */
typedef struct vhem_classes vhem_classes; /* models of C classes or tags, with priors */
typedef struct vhem_output  vhem_output;  /* a file that is being written */
typedef struct vhem_partial vhem_partial; /* sums over some of the models, see "many machines" */

/* ---- context ------------------------------------------------------------------------------------------- */

typedef enum { VHEM_LOG_WARN, VHEM_LOG_INFO, VHEM_LOG_DEBUG } vhem_log_level;

typedef struct {                     /* processes that make the same calls with the same arguments, such as
                                        the ranks of an MPI job.  vhem_fit, vhem_distance and vhem_cluster
                                        share work among them: sequences, textures, rows of a table, sums
                                        over more than 4096 HMMs.  All else each does in full; of HMMs on disk
                                        only the first has the names of items and their maps of states.
                                        vhem_fit takes no store then.  vhem_cluster with an executor is for
                                        one of them. */
    int rank, size;                  /* of this process, from 0 to size-1; how many there are */
    /* Hands the *n bytes of process `from` to all the others, or to process 0 alone.  Called by all
     * processes, in the same order.  Where bytes arrive, *bytes is set to memory that is released with
     * free().  When any process has failed, a sentence goes to why [VHEM_WHY] of all the others. */
    vhem_status (*pass)(void *arg, int from, int everyone, void **bytes, size_t *n, char *why);
    void *arg;
} vhem_ranks;

#define VHEM_WHY 1024

typedef struct {
    size_t      size;                /* of the record: VHEM_INIT */
    const char *backend;             /* one of vhem_backend_info's; default: the best usable one */
    int         threads;             /* default, or 0: all cores; at most 1024 */
    int64_t     seed;                /* default 0 */
    void      (*log)(void *arg, int level, const char *text);                        /* default: silent */
    void       *log_arg;
    /* Called from any thread, one call at a time; default: none.  Neither log nor progress may call a
     * function with this context, other than vhem_ctx_stop and vhem_ctx_error: VHEM_EINVAL. */
    void      (*progress)(void *arg, const char *what, int64_t done, int64_t total);
    void       *progress_arg;
    const vhem_ranks *ranks;         /* default: none, this process does all of the work; copied.  VHEM_EINVAL
                                        when rank is not from 0 to size-1, or pass is NULL */
} vhem_ctx_options;

typedef struct {                     /* one backend: kernels for a kind of processor or device */
    const char *name;                /* "avx512", "avx2", "simd", "ref", ... */
    const char *problem;             /* why it cannot be used here; NULL: it can */
} vhem_backend_facts;

VHEM_API const char *vhem_version(void);
VHEM_API const char *vhem_status_text(vhem_status);
/* Backend i, i = 0, 1, ..., the best first; VHEM_EINVAL past the last. */
VHEM_RESULT vhem_status vhem_backend_info(int i, vhem_backend_facts *out);
/* Without a context there is no sentence: VHEM_EBACKEND means that vhem_backend_info does not have the
 * backend, or says why it cannot be used; VHEM_EINVAL more than 1024 threads, or ranks that cannot be. */
VHEM_RESULT vhem_status vhem_ctx_new(const vhem_ctx_options *, vhem_ctx **out);
VHEM_API const char *vhem_ctx_error(const vhem_ctx *);   /* of the last failure; "" before any */
VHEM_API const char *vhem_ctx_backend(const vhem_ctx *); /* the one in use */
/* Asks the running and all later computations of this context to end soon; may be called from a
 * signal handler or another thread.  They return VHEM_ESTOPPED and, where their comment says so,
 * hand over the best result so far. */
VHEM_API void        vhem_ctx_stop(vhem_ctx *);
/* Releases whatever came through a **: a context, data, models, a tree, a report, ...; NULL is allowed. */
VHEM_API void        vhem_free(void *object);
/* A file that appears at its path only when it is complete, as all files of the library do: write to *fd, and
 * do not close it.  vhem_output_close with keep != 0 puts it there; before that, and with keep == 0, the old
 * file stays.  Pipes and devices are written in place.  vhem_free is a close with keep == 0. */
VHEM_RESULT vhem_status vhem_output_open(vhem_ctx *, const char *path, int *fd, vhem_output **out);
VHEM_RESULT vhem_status vhem_output_close(vhem_ctx *, vhem_output *, int keep);

/* ---- options as data ----------------------------------------------------------------------------------- */

/* The records of options, each under the name of its type; the last four have no vhem_option_info. */
typedef enum { VHEM_DATA_OPTIONS, VHEM_FIT_OPTIONS, VHEM_CLUSTER_OPTIONS, VHEM_DISTANCE_OPTIONS,
               VHEM_TRAIN_OPTIONS, VHEM_RANK_OPTIONS, VHEM_CTX_OPTIONS, VHEM_CHOOSE_OPTIONS,
               VHEM_STATS_INPUT, VHEM_REPORT_INPUT } vhem_option_set;
typedef enum { VHEM_OPTION_INT, VHEM_OPTION_INT64, VHEM_OPTION_REAL, VHEM_OPTION_TEXT, VHEM_OPTION_CHOICE,
               VHEM_OPTION_FLAG } vhem_option_type;

typedef struct {                     /* one field of an options record */
    const char *name;                /* in C, in Python and in files: "cov_floor"; --cov-floor on the command
                                        line */
    char        letter;              /* short form on the command line; 0: none */
    vhem_option_type type;           /* int, int64_t, double, const char *, one of some words, int 0 or 1 */
    size_t      offset;              /* of the field in its record */
    double      least;               /* smallest value allowed */
    const char *argument;            /* what stands for the value in help: "S"; of a choice its words:
                                        "diag|full" */
    const char *fallback;            /* the default as text: "3", "200; emhmm: 101" */
    const char *methods;             /* methods or models that use it, "ppk-sc ppk-ac"; NULL: all */
    const char *help;                /* half a sentence */
} vhem_option;

/* Everything at its default: VHEM_INIT(VHEM_FIT_OPTIONS, &opt) of a vhem_fit_options.  The record keeps its
 * size, so that a program goes on with libraries whose records have more fields than it knows: new fields
 * come at the end. */
VHEM_API void        vhem_options_init(vhem_option_set, void *record, size_t size);
#define VHEM_INIT(set, record) vhem_options_init((set), (record), sizeof *(record))
/* Option i of a record, i = 0, 1, ...; VHEM_EINVAL past the last. */
VHEM_RESULT vhem_status vhem_option_info(vhem_option_set, int i, vhem_option *out);

/* ---- sequences ----------------------------------------------------------------------------------------- */

typedef struct {
    size_t      size;                /* of the record: VHEM_INIT */
    const char *format;              /* csv, tsv, xlsx, dir, npy, npz, ts, hdf5; default: detected from the
                                        file */
    const char *id;                  /* columns that name a sequence, "subject,trial"; default: id or seq */
    const char *label, *group;       /* columns; default: a column named label / none */
    const char *weight;              /* column with the weight of a sequence; default: all 1 */
    const char *columns;             /* the dimensions, "x,y"; default: every other numeric column */
    const char *where;               /* "COL=VALUE": keep only these rows or sequences; default: all */
    const char *order;               /* column by which the rows of a sequence are sorted; default: none */
    int64_t     memory;              /* bytes of frames (8 a value) kept in memory, 0: all; larger sets go to
                                        an unnamed file in TMPDIR, or else /var/tmp, that disappears with the
                                        data set.  Default: 1 GiB */
    const char *symbols;             /* columns of symbols, "place,state", whose cells may be text; "*": every
                                        column, "?": every column of text, "??": the same where no column
                                        holds numbers.  Default: none, and text is left out */
    const char *missing;             /* words and numbers that stand for a missing value in a text file,
                                        "-999,lost"; default: none besides NA, N/A, NaN, NULL, ? and . */
    const char *sheet;               /* of an .xlsx workbook: the name of a sheet, or its number from 1.
                                        Default: the first that is not hidden */
} vhem_data_options;

typedef struct {                     /* what the whole numbers 0, 1, ... of a column stand for */
    int    n;                        /* 0: they are numbers */
    char **name;                     /* [n] */
} vhem_symbols;

typedef struct {                     /* a data set at a glance; valid while it lives */
    int64_t     N, frames, missing;  /* sequences, frames of all, values that are NaN */
    int         d;
    const char *format;              /* of the file; "memory" */
    const char *const *column;       /* [d]  names of the dimensions */
    const vhem_symbols *symbols;     /* [d]  of these; NULL: none has any */
    int         n_id;                /* columns that name a sequence, where there are several; else 0 */
    const char *const *id_column;    /* [n_id]  their names */
    char        id_separator;        /* stands between their values in the name of a sequence, and in none of
                                        them */
    int         n_text;              /* columns of text that were left out */
    const char *const *text_column;  /* [n_text]  their names */
} vhem_data_facts;

typedef struct {                     /* read-only window on sequence n; valid while its data set lives */
    const char   *name, *label, *group;                  /* "" when the file has none */
    double        weight;
    int64_t       T;                 /* frames */
    const double *y;                 /* [T][d], NaN where a value is missing */
} vhem_seq_view;

typedef struct {                     /* what is known about sequences besides frames; each may be NULL */
    const char *const *name, *const *label, *const *group;       /* [N] */
    const double      *weight;                                   /* [N] */
    const char *const *column;                                   /* [d] */
    const vhem_symbols *symbols;     /* [d]  what the whole numbers 0, 1, ... of a column stand for */
} vhem_data_text;

VHEM_RESULT vhem_status vhem_data_load(vhem_ctx *, const char *path, const vhem_data_options *,
                                       vhem_data **out);
/* Frames of all sequences stacked, y [sum T][d], T [N].  No copy: y must outlive the data set.  Texts and
 * weights are copied; text may be NULL. */
VHEM_RESULT vhem_status vhem_data_wrap(vhem_ctx *, int64_t N, const int64_t *T, int d, const double *y,
                                       const vhem_data_text *text, vhem_data **out);
/* The format follows from the ending of the path: .csv .tsv .npy .npz .ts .h5; "-" is CSV on stdout. */
VHEM_RESULT vhem_status vhem_data_save(vhem_ctx *, const vhem_data *, const char *path);
VHEM_API void        vhem_data_info(const vhem_data *, vhem_data_facts *out);
VHEM_RESULT vhem_status vhem_data_view(const vhem_data *, int64_t n, vhem_seq_view *out);

/* ---- models -------------------------------------------------------------------------------------------- */

typedef enum { VHEM_HMMS, VHEM_TEXTURES } vhem_kind;

typedef struct {                     /* a set of models at a glance; valid while it lives */
    vhem_kind   kind;
    int64_t     K;                   /* models */
    int         d;                   /* dimension of a frame */
    int         S, M;                /* largest number of states (textures: dimension of the state) and of
                                        components in a state */
    const char *emission;            /* of HMMs: "gaussian-diag", ...; "" for textures */
    const char *prior;               /* they were fitted with: a JSON object as text; NULL: none */
    const char *provenance;          /* what made the file: a JSON object as text; NULL when unknown */
    int         files;               /* of arrays that they come from; 0: none */
    int         on_disk;             /* they are read when they are needed */
    int         S_least, M_least;    /* the smallest S and M */
} vhem_models_facts;

typedef struct {                     /* read-only window on HMM i; valid while its set lives */
    int S, M, d, n_theta;            /* states, components per state, dimension, length of theta */
    const char *emission;            /* name of the family, which fixes the layout of theta */
    const char *name, *label;        /* "" when it has none */
    double omega;                    /* weight in the set */
    const double *pi, *A, *theta;    /* [S]  [S][S]  [n_theta] all emission parameters */
    const double *c, *mu, *cov;      /* into theta: [S][M] [S][M][d] [S][M][d or d*d]; NULL if not Gaussian */
    const void   *layout;            /* columns, symbols, channels and background of its set, for a copy of
                                        it; NULL: none */
} vhem_hmm_view;

typedef struct {                     /* read-only window on column k of the frames of HMMs */
    const char  *name;               /* "" when it has none */
    const char  *emission;           /* name of its family, which in a product is that of its channel */
    vhem_symbols symbols;
    int          channel;            /* index of its channel in a product, from 0; otherwise 0 */
    int64_t      lacking;            /* HMMs that lack it, as the sequences they were fitted to never had it;
                                        of a set on disk 0 until it has been scored or compared.  Candidates
                                        (vhem_score, vhem_assign, vhem_classes_predict) are compared over the
                                        columns that all have, pairs (vhem_distance) over those of both */
    const char  *values;             /* what it holds: "real", "positive", "angle", "count", "bit",
                                        "symbol" */
    int          full;               /* 1: the last parameter of the emission has a number for each pair of
                                        columns */
} vhem_column_view;

/* A dynamic texture is a linear dynamical system:
 * x_1 ~ N(mu, Sigma), x_{t+1} = A x_t + v, v ~ N(0, Q), y_t = C x_t + ybar + w, w ~ N(0, diag R). */
typedef struct {                     /* read-only window on texture i; valid while its set lives */
    int n, d;                        /* dimension of the state, of a frame */
    const char *name, *label;        /* "" when it has none */
    double omega;                    /* weight in the set */
    const double *A, *Q;             /* [n][n] [n][n] */
    const double *mu, *Sigma;        /* [n] [n][n] */
    const double *C, *ybar, *R;      /* [d][n] [d] [d] */
} vhem_dt_view;

/* Copies of K models given as views (HMMs: theta with n_theta, or c, mu and cov); validated.  Symbols,
 * products and tied Gaussians need the layout of a set that has such columns. */
VHEM_RESULT vhem_status vhem_models_new_hmms(vhem_ctx *, const char *emission, int d, int64_t K,
                                             const vhem_hmm_view *hmm, vhem_models **out);
VHEM_RESULT vhem_status vhem_models_new_textures(vhem_ctx *, int d, int64_t K, const vhem_dt_view *dt,
                                                 vhem_models **out);
/* .json, .h5 or a folder of shards; "-" is stdin.  A clustering or a tree gives the centres of its lowest
 * level.  A large set in HDF5 stays on disk; whatever works on it reads what it needs. */
VHEM_RESULT vhem_status vhem_models_load(vhem_ctx *, const char *path, vhem_models **out);
/* Format by the ending of the path.  provenance: a JSON object as text, or NULL to keep what there is. */
VHEM_RESULT vhem_status vhem_models_save(vhem_ctx *, const vhem_models *, const char *provenance,
                                         const char *path);
/* The HMMs of n sets one after the other, in a folder of so many shards, or in a file when shards is 0.  Each
 * set has a share of the weight that follows from its size.  Shards of one set, opened by themselves, become
 * that set again, in its order and with its weights; a warning tells which HMMs are missing. */
VHEM_RESULT vhem_status vhem_models_merge(vhem_ctx *, int n, const vhem_models *const *sets, int shards,
                                          const char *provenance, const char *path);
VHEM_API void        vhem_models_info(const vhem_models *, vhem_models_facts *out);
/* The name of parameter p of an emission family as files have it: "mu" of "gaussian-diag", "rate" of
 * "poisson"; NULL when there is no such family, or no p-th parameter.  In theta of an HMM they follow c, in
 * this order. */
VHEM_API const char *vhem_emission_param(const char *emission, int p);
/* VHEM_EINVAL when there is no column k, or the models are not HMMs. */
VHEM_RESULT vhem_status vhem_models_column(const vhem_models *, int k, vhem_column_view *out);
/* p [S][n]: density of n values of column k in each state of HMM i, whatever the other columns have;
 * probability where values are whole numbers. */
VHEM_RESULT vhem_status vhem_models_density(vhem_ctx *, const vhem_models *, int64_t i, int k, int64_t n,
                                            const double *value, double *p);
/* lo, hi [d]: how far draws from the components of n sets of HMMs reach in each column, but for the outermost
 * draw of each component.  Components that are hardly used do not count.  The draws are always the same. */
VHEM_RESULT vhem_status vhem_models_reach(vhem_ctx *, int n, const vhem_models *const *sets, double *lo,
                                          double *hi);
/* VHEM_EINVAL when i is out of range or the models are of the other kind.  HMMs of a set on disk are read
 * when they are looked at, 512 at a time: another status means that these could not be, and vhem_models_read
 * says why. */
VHEM_RESULT vhem_status vhem_models_hmm(const vhem_models *, int64_t i, vhem_hmm_view *out);
VHEM_RESULT vhem_status vhem_models_texture(const vhem_models *, int64_t i, vhem_dt_view *out);
/* Reads models first .. first+n-1 of a set on disk, so that looking at them cannot fail any more; the
 * sentence names the file and the chunk that is damaged.  Models in memory are there anyway. */
VHEM_RESULT vhem_status vhem_models_read(vhem_ctx *, const vhem_models *, int64_t first, int64_t n);
/* Largest difference |a - b| / max(1, |a|, |b|) over all parameters; infinity when the shapes differ, or when
 * a set on disk cannot be read. */
VHEM_API double      vhem_models_compare(const vhem_models *, const vhem_models *);

/* ---- what is worked on: models, or sequences, or groups of sequences ----------------------------------- */

typedef struct {
    const vhem_models *models;       /* one of the two; where a function takes both, it says so */
    const vhem_data   *data;
    int                by_group;     /* the sequences of a group are one item; a sequence without a group is
                                        one by itself */
} vhem_source;

typedef struct {                     /* the items of a source, in order */
    int64_t  n;
    char   **name, **label;          /* [n]  "" for none; a group has a label when all its sequences agree */
    int64_t *sequences;              /* [n]  of each item; 0 for models */
    int64_t *item;                   /* [N]  of data: the item of each sequence; NULL for models */
} vhem_items;

VHEM_RESULT vhem_status vhem_source_items(vhem_ctx *, const vhem_source *, vhem_items **out);

/* ---- sequences -> models ------------------------------------------------------------------------------- */

typedef struct {
    size_t      size;                /* of the record: VHEM_INIT */
    const char *model;               /* "hmm" (default), "dtm": dynamic textures */
    int64_t     K;                   /* 0 (default): one model for each item; else a mixture of K for all */
    int         pieces;              /* with K > 0: a mixture of K for each item by itself, all in one set
                                        with the weights of each divided by the number of items; default 0 */
    int         by_group;            /* items are groups of sequences; default 0 */
    int         S, M;                /* states and components per state; of textures S is the dimension n;
                                        VHEM_AUTO: each HMM gets as many of 1 to 6 states as it needs */
    int         S_max;               /* of HMMs: choose the number from S to this; default: S it is */
    int         max_iter, restarts;
    double      tol;                 /* stop when an iteration gains less, in nats per frame; 0: never */
    double      cov_floor;           /* smallest variance, as a share of that within states (textures:
                                        of all data); 0: none */
    const char *emission;            /* "gaussian-diag" (default), "gaussian-full", "poisson", "bernoulli",
                                        "gamma", "von-mises", "categorical", "gaussian-tied:FILE" (vhem
                                        background); or by column, in a product of channels:
                                        "step:gamma,turn:von-mises,x+y:gaussian-full" */
    const char *init;                /* "kmeans", "random", "segment" */
    const vhem_models *start;        /* instead of init: start here; one HMM for all, or one for each item;
                                        for a mixture its K HMMs */
    const char *topology;            /* "free", "left-right", "linear" */
    const double *fixed_pi, *fixed_A;/* [S] [S][S]: NaN is free, a number stays; default: as topology says */
    int         repair;              /* revive states and components that die, and count them; default 1 */
    const char *prior;               /* of HMMs: "none": highest likelihood; "vb", "eb", each with settings
                                        after a colon, "vb:nu0=1", or those of "vb" alone, "nu0=1"; a file
                                        that holds a prior; its JSON text; default: "vb", "none" with a given
                                        start.  Families without a conjugate prior, and Gaussians with missing
                                        cells: "vb" gives every component nu0 frames of the one component for
                                        all the data */
    const char *learn;               /* textures: "svd": principal components, in closed form; "em" */
    const char *noise;               /* textures, R: "diag", "isotropic" */
    const char *store;               /* file that keeps each model as soon as it is fitted, to go on from */
} vhem_fit_options;

typedef struct {                     /* the outcome of one run of Baum-Welch or EM */
    double loglik;                   /* weighted log-likelihood of the final model, in nats; with a prior, its
                                        bound where a stop left no time to compute it */
    int    n_iter, converged, n_revived, n_floored;    /* revived: states, or transition matrices of textures
                                        made stable; floored: variances held at the floor at the end */
    double bound;                    /* what was maximised: with a prior a lower bound of the log-evidence,
                                        else loglik */
} vhem_fit_run;

typedef struct {                     /* every restart of every model; a mixture has one row */
    int64_t       K;                 /* rows */
    int           R;                 /* restarts of each */
    int          *best;              /* [K]     the restart that was kept */
    int64_t      *frames;            /* [K]     frames the model was fitted to */
    vhem_fit_run *run;               /* [K][R] */
} vhem_fit_report;

/* Weights are uniform, names and labels are carried over from the items.  report may be NULL.  VHEM_ESTOPPED
 * hands over the models that were begun, or the best mixture so far. */
VHEM_RESULT vhem_status vhem_fit(vhem_ctx *, const vhem_data *, const vhem_fit_options *, vhem_models **out,
                                 vhem_fit_report **report);

/* ---- what a model says about sequences ----------------------------------------------------------------- */

/* loglik [items][K]: log-likelihood of every item of a source of sequences under every model, in nats; that
 * of a group is the sum over its sequences. */
VHEM_RESULT vhem_status vhem_score(vhem_ctx *, const vhem_models *, const vhem_source *, double *loglik);
typedef struct {                     /* what is asked of sequences under HMMs: memory, or NULL for what is
                                        not wanted.  Sequences one after the other, n of them; S: states of
                                        its HMM */
    int    *path;                    /* [T] of each  the most likely states */
    double *logprob;                 /* [n]          log-probability of that path; with path */
    double *gamma;                   /* [T][S]       p(state | y) */
    double *xi;                      /* [S][S]       expected counts of transitions */
    double *loglik;                  /* [n]          log-likelihood */
} vhem_decoding;

/* Sequences first .. first+n-1, each under HMM hmm [n], on all threads.  On failure some of the results may
 * be there. */
VHEM_RESULT vhem_status vhem_decode(vhem_ctx *, const vhem_models *, const int64_t *hmm, const vhem_data *,
                                    int64_t first, int64_t n, const vhem_decoding *out);
/* What sequence n says about the states of model i.  HMMs: gamma [T][S], p(state | y_n), and the expected
 * counts xi [S][S] of transitions.  Textures: means [T][n] in gamma, covariances [T][n][n] in xi.  xi and
 * loglik may be NULL. */
VHEM_RESULT vhem_status vhem_posterior(vhem_ctx *, const vhem_models *, int64_t i, const vhem_data *,
                                       int64_t n, double *gamma, double *xi, double *loglik);
/* N sequences of T frames, each from a model drawn with the weights omega, whose name becomes the label. */
VHEM_RESULT vhem_status vhem_sample(vhem_ctx *, const vhem_models *, int64_t N, int64_t T, vhem_data **out);

/* ---- many machines -------------------------------------------------------------------------------------
 * All that method vhem needs to know about the HMMs are sums over them.  They are made in chunks of 512, by
 * number, and added in one fixed tree, so the bits are the same whichever process works on which chunks, in
 * any order.  A task says, as bytes, what to sum; the sums depend on the models and the task alone. */

typedef struct {
    const void *bytes;
    size_t      n;                   /* of them */
    int64_t     chunks;              /* of all models */
} vhem_task;

typedef struct {                     /* who makes sums over all models: an option of vhem_cluster */
    /* Has all chunks of the task worked on, by vhem_expect in whatever processes, and hands over what
     * vhem_partial_merge made of them.  On failure a sentence goes to why [VHEM_WHY]. */
    vhem_status (*expect)(void *arg, const vhem_task *, vhem_partial **total, char *why);
    void       *arg;
} vhem_executor;

/* The sums over chunks first .. first+chunks-1 of the models.  Refused when the task was made for other
 * models, by another version of the library or with another backend. */
VHEM_RESULT vhem_status vhem_expect(vhem_ctx *, const vhem_models *, const vhem_task *, int64_t first,
                                    int64_t chunks, vhem_partial **out);
/* In any order; refused when a chunk is in both. */
VHEM_RESULT vhem_status vhem_partial_merge(vhem_ctx *, vhem_partial *into, const vhem_partial *from);
/* For a process on a machine of the same kind; the bytes are released with vhem_free. */
VHEM_RESULT vhem_status vhem_partial_write(vhem_ctx *, const vhem_partial *, void **bytes, size_t *n);
VHEM_RESULT vhem_status vhem_partial_read(vhem_ctx *, const void *bytes, size_t n, vhem_partial **out);

/* ---- models -> clusters -> hierarchy ------------------------------------------------------------------- */

typedef struct {
    size_t      size;                /* of the record: VHEM_INIT */
    const char *method;              /* one of vhem_method_info's; default "vhem", "hem-dtm" for textures */
    const char *preset;              /* "paper", "emhmm"; default: none */
    int         S, M;                /* states and components of the centres; default: the largest of the
                                        input; of textures S is the dimension n */
    int         tau;                 /* length of the virtual samples; VHEM_AUTO: that of the sequences the
                                        models were fitted to, their median, but at most 100 */
    int         max_iter, restarts;
    double      nv;                  /* virtual samples per input model: N = nv Kb, any positive number */
    double      tol;                 /* stop when the bound changes by less than this share; 0: never */
    double      cov_floor;           /* smallest variance of a centre, as a share of that of the input; 0:
                                        none */
    double      cov_add;             /* added to the diagonal of covariances after every M-step */
    const char *init;                /* "auto", "base", "emissions", "pooled", "dealt", "far" */
    const vhem_models *start;        /* instead of init: start exactly here */
    int         soft;                /* iterations with few virtual samples before the wanted number */
    int         repair;              /* re-seed empty clusters and dead states, and count them */
    int         weighted_omega;      /* weights of centres by mass of their members, not by their number */
    const char *emission;            /* of the centres, when sequences are clustered; "gaussian-diag" */
    double      lambda;              /* power of the probability product kernel */
    const char *kernel;              /* "normalised": k(a,b) / sqrt(k(a,a) k(b,b)), "raw", "scaled":
                                        normalised, to the power that makes its median 1/e */
    const char *diagonal;            /* of an affinity, for spectral clustering: "zero", "keep" */
    const char *linkage;             /* of agglomerative clustering: "average", "complete", "single" */
    const char *search;              /* of methods vhem, vbhem, hem-gmm: "auto": restarts and candidates from
                                        distances between the models; "fast": one such candidate; "thorough":
                                        more of all; "restarts": random starts alone, as with a preset or an
                                        init */
    int         neighbours;          /* of each model in the graph of method knn-sc */
    int         landmarks;           /* of spectral methods: the eigenvectors are those of so many of the
                                        models, and the others are placed by their distances to these;
                                        default: of more than 20,000 models 2000, or 10 for each cluster */
    int         candidate;           /* keep the N-th best partition instead of the best */
    int         refine;              /* of method vhem: base Gaussians that overlap are cut into so many
                                        slabs, states of symbols by their likeliest symbols, for a tighter
                                        bound; default 1, at most 32 */
    const char *prior;               /* of method vbhem: a file that holds a prior; its JSON text; settings of
                                        the default one, "alpha=1,lambda=0.01,nu=5" */
    int         learn_prior;         /* of method vbhem: before every H-th update; 0 (default): never */
    int         prune;               /* of method vbhem: remove clusters and states that are not needed, so
                                        that K and S are upper limits; default 1 */
    int         first_reduce;        /* of method vhem: every file of a folder is reduced by itself to so many
                                        centres, and these are clustered; models in memory are one file.
                                        Default: no such step */
    int64_t     memory;              /* of method vhem: bytes that HMMs on disk may take in memory, 0: any; a
                                        set that takes more is read chunk by chunk in every iteration.
                                        Default: 1 GiB */
    const char *checkpoint;          /* of method vhem: a file that keeps the sums of every iteration, and
                                        finished clusterings of a choice; a run that was killed continues
                                        from there when it is run again.  NULL: none */
    const vhem_executor *executor;   /* of method vhem: who makes the sums over more than 4096 models;
                                        default: this process.  Sets on disk stay there */
    int         keep_tables;         /* of method vhem: keep z and L_hmm also where they have more than 4
                                        million numbers each; default 0 */
} vhem_cluster_options;

typedef struct {                     /* an M-step; released with vhem_free */
    double      J;                   /* the bound of the centres that the task had, in nats */
    int         n_iter, converged;   /* M-steps before it */
    int         n_empty, n_revived, n_fell;     /* so far, as in vhem_clustering */
    const vhem_models *centers;      /* after it, repairs and all; those of the task when the run has ended */
    const vhem_task *next;           /* NULL: the run has ended */
} vhem_step;

/* To run the loop of VHEM yourself, with the bits of vhem_cluster from the same start: make the first task
 * from some centres; call vhem_expect and vhem_partial_merge; vhem_maximise then makes the new centres and
 * the next task from the sums over all chunks.  The task is released with vhem_free. */
VHEM_RESULT vhem_status vhem_task_new(vhem_ctx *, const vhem_models *, const vhem_models *centers,
                                      const vhem_cluster_options *, vhem_task **out);
VHEM_RESULT vhem_status vhem_maximise(vhem_ctx *, const vhem_models *, const vhem_task *,
                                      const vhem_partial *total, vhem_step **out);

typedef struct {                     /* one clustering method; the first that takes a kind of input is its
                                        default */
    const char *name;
    int         takes_hmms, takes_textures, takes_data;  /* what it can cluster */
    int         has_bound;           /* it climbs a bound: restarts, tol and max_iter apply */
    int         by_part;             /* it takes HMMs a part at a time: sets on disk, tasks, other
                                        processes */
    int         finds_k;             /* the number of clusters asked for is the most there may be */
    const char *about;               /* half a sentence */
    const char *inits;               /* words of init that it knows, "auto|far|dealt"; NULL: all of them, or
                                        it does not use init */
} vhem_method_facts;

typedef struct {                     /* one restart */
    uint64_t    seed;                /* of its random numbers */
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
    int         next;                /* 1: the next candidate would be this one */
    int         as_good;             /* 1: its groups are known, and its bound is that of the run that was
                                        kept, or higher, as nearly as bounds tell groups apart */
} vhem_cluster_run;

typedef struct {                     /* one level of a tree; what a method does not have is NULL */
    const char *method;
    int64_t     Kb, Kr;              /* items, clusters */
    const char *items;               /* what they are: "models", "sequences", "groups" */
    int         n_iter, converged;
    int         n_empty, n_revived, n_fell;     /* clusters re-seeded, states revived, times the bound fell */
    const int  *label;               /* [Kb]        argmax_j z_ij */
    const double *z;                 /* [Kb][Kr]    soft assignments z_ij */
    const double *share;             /* [Kb]        of the runs that are as good, in how many the item is in
                                        the group it has here; NULL where fewer than two are known */
    const double *L_hmm;             /* [Kb][Kr]    bound on the expected log-likelihood, in nats */
    const double *bound;             /* [n_iter+1]  objective J of the initial model and after each M-step, in
                                        nats */
    const int  *state_map;           /* for each input model, [its S]: state of its centre most often
                                        paired with it */
    const int64_t *state_map_at;     /* [Kb+1]      where the map of a model begins */
    int         n_run;
    const vhem_cluster_run *run;     /* [n_run] */
    const char *const *name;         /* [Kb]        of the items, "" for none */
    const char *posterior, *prior;   /* of method vbhem: JSON objects as text; else NULL */
    int64_t     K_max;               /* clusters there were before pruning: Kr, or more */
    const vhem_models *centers;      /* Kr of them */
    const vhem_cluster_options *options;     /* as they were used, with all defaults filled in; start is
                                        NULL */
    const int  *base_label;          /* [Kb of level 0]  cluster of each item of the lowest level; -1: none */
    const int  *parent;              /* [Kr]        cluster of each centre in the level above; NULL at the
                                        top; -1: left out */
    const int  *lacking;             /* [Kb]        columns that the item, an HMM, lacks, so that its L_hmm is
                                        over fewer values than that of others; NULL: none lacks any */
} vhem_clustering;

typedef struct {                     /* a tree at a glance; valid while it lives */
    int         levels;
    vhem_kind   kind;                /* of the centres */
    const char *provenance;          /* of the tree or else its lowest level: a JSON object as text; NULL when
                                        unknown */
    int         stopped_level;       /* from vhem_cluster: the level, from 1, that a stop ended; 0: none */
} vhem_tree_facts;

/* Method i, i = 0, 1, ..., the default first; VHEM_EINVAL past the last. */
VHEM_RESULT vhem_status vhem_method_info(int i, vhem_method_facts *out);
/* Level 0 groups the items of the source into K[0] clusters; level l groups the centres of level l-1, with
 * their weights, into K[l].  With one level it is a clustering.  VHEM_ESTOPPED hands over the levels that
 * were finished, and the best result so far of the lowest. */
VHEM_RESULT vhem_status vhem_cluster(vhem_ctx *, const vhem_source *, int levels, const int64_t *K,
                                     const vhem_cluster_options *, vhem_tree **out);
VHEM_API void        vhem_tree_info(const vhem_tree *, vhem_tree_facts *out);
/* NULL when there is no such level; valid while the tree lives. */
VHEM_API const vhem_clustering *vhem_tree_level(const vhem_tree *, int l);
/* Are these the models that were clustered, in the same order?  VHEM_EINVAL when there is another number of
 * them, or one has another name than its item. */
VHEM_RESULT vhem_status vhem_tree_check(vhem_ctx *, const vhem_tree *, const vhem_models *);
/* A tree or a clustering; a model file, of a mixture for instance, is a level without items. */
VHEM_RESULT vhem_status vhem_tree_load(vhem_ctx *, const char *path, vhem_tree **out);
VHEM_RESULT vhem_status vhem_tree_save(vhem_ctx *, const vhem_tree *, const char *provenance,
                                       const char *path);

/* New models (by L_hmm) or new sequences or groups (by likelihood) into the clusters of every level, by the
 * largest posterior in level 0.  Models count by their weights, nv times on average, as in vhem_cluster: what
 * method "vhem" has clustered goes where it is.  label [items][levels]; posterior [items][Kr of level 0] and
 * score [items] (L_hmm or log-likelihood under the best cluster of level 0) may be NULL. */
VHEM_RESULT vhem_status vhem_assign(vhem_ctx *, const vhem_tree *, const vhem_source *, int *label,
                                    double *posterior, double *score);

typedef struct {                     /* what a file holds; all but one are NULL */
    vhem_models  *models;
    vhem_tree    *tree;
    vhem_classes *classes;
    vhem_data    *data;
} vhem_contents;

/* Whatever is in a file, opened and parsed once.  opt says how to read sequences; NULL: defaults. */
VHEM_RESULT vhem_status vhem_load(vhem_ctx *, const char *path, const vhem_data_options *opt,
                                  vhem_contents *out);

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

typedef struct {                     /* what to choose from, and how much to spend on it */
    size_t      size;                /* of the record: VHEM_INIT */
    int            n_K, n_S;
    const int64_t *K;                /* [n_K]  numbers of clusters */
    const int     *S;                /* [n_S]  numbers of states of the centres; 0: as the input */
    int            n_splits;         /* halvings of the models for stability; default 0 */
    int            n_seeds;          /* other seeds that every clustering is repeated with; default 0 */
    int            n_path;           /* numbers of virtual frames, each 10^(1/2) times the one before, for
                                        which it is asked how many of the most clusters are needed; default
                                        0 */
} vhem_choose_options;

typedef struct {                     /* one row of a choice; NaN: not asked for, or not available */
    int64_t K;
    int    S;
    int    path;                     /* 1: a step of the path: only evidence, K_used, S_used and frames
                                        count */
    double bound;                    /* J of the best run, in nats */
    double loglik;                   /* sum_i omega_i Kb max_j L_ij: expected log-likelihood of one virtual
                                        sample each */
    double n_param, bic, icl;        /* smaller is better: -2 loglik + n_param log Kb; ICL adds the entropy
                                        of z */
    double stability;                /* mean adjusted Rand index between the labels two halves give; NaN: not
                                        asked, K = 1 or K > Kb / 2 */
    double evidence;                 /* bound on the log-evidence of at most K clusters of at most S states,
                                        by vbhem, whatever their names; larger is better */
    double frames;                   /* virtual frames of each model that this is for */
    double K_used, S_used;           /* clusters that were needed, and states of the largest of their
                                        centres */
    double same_runs;                /* share of the finished runs whose groups are those that were kept */
    double same_seeds;               /* mean adjusted Rand index of these groups with those of other seeds */
} vhem_choice;

/* Every K with every S, the restarts of opt each.  rows [n_K][n_S], then [n_path] with the largest K and S,
 * is the caller's.  VHEM_ESTOPPED leaves the rows that were finished there; the others have K = 0. */
VHEM_RESULT vhem_status vhem_choose(vhem_ctx *, const vhem_source *, const vhem_choose_options *,
                                    const vhem_cluster_options *, vhem_choice *rows);

typedef struct {
    double rand, adjusted_rand, nmi, purity;
} vhem_agreement;

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
    int                leave_out;    /* score each person under centres made without the model of this
                                        person; level 0 of method vhem */
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

/* ---- distances between HMMs ---------------------------------------------------------------------------- */

typedef struct {
    size_t      size;                /* of the record: VHEM_INIT */
    const char *kind;                /* "kl" (default): variational, may be negative; "kl-sampled"; "ppk":
                                        kernel, large where HMMs are alike */
    int         tau;                 /* frames */
    int         symmetric;           /* divergences: the mean of both directions */
    int         samples;             /* sequences drawn from each HMM */
    double      lambda;              /* power of the kernel */
    int         normalised;          /* k(a,b) / sqrt(k(a,a) k(b,b)) */
} vhem_distance_options;

/* D [Ka][Kb]: every HMM of a against every HMM of b, for sequences of tau frames: divergences in nats,
 * kernels as their logarithm.  error [Ka][Kb], the standard error where the kind is sampled, else 0, may be
 * NULL.  One set may have diagonal and the other full covariances.  a may be b, which halves the work of a
 * kernel.  VHEM_ESTOPPED hands over nothing.  Tables of at most 4 million numbers are made apart, and on
 * failure those of the caller stay as they were; larger ones are filled in place, in pieces of at most 512
 * rows, and may be overwritten in part: they may be files that are mapped.  Where several processes make the
 * call (vhem_ranks), D and error are filled on the first, and may be NULL on the others. */
VHEM_RESULT vhem_status vhem_distance(vhem_ctx *, const vhem_models *a, const vhem_models *b,
                                      const vhem_distance_options *, double *D, double *error);

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
