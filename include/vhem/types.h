/* SPDX-License-Identifier: BSD-3-Clause */
/* types.h - the records and words of vhem: statuses, options, results and views.  The functions are in
 * vhem.h and in vhem/classes.h, vhem/analysis.h and vhem/distributed.h. */
/* clang-format off */
#ifndef VHEM_TYPES_H
#define VHEM_TYPES_H

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
typedef struct vhem_partial vhem_partial; /* sums over some of the models: vhem/distributed.h */
typedef struct vhem_executor vhem_executor; /* who makes them: vhem/distributed.h */

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

/* How sentences of the library spell an option: as its field, "cov_floor"; as the command does,
 * "--cov-floor"; as Python does, "cov_floor=". */
typedef enum { VHEM_WORDS_FIELDS, VHEM_WORDS_COMMAND, VHEM_WORDS_PYTHON } vhem_words;

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
    int         words;               /* one of vhem_words; default VHEM_WORDS_FIELDS */
} vhem_ctx_options;

typedef struct {                     /* one backend: kernels for a kind of processor or device */
    const char *name;                /* "avx512", "avx2", "simd", "ref", ... */
    const char *problem;             /* why it cannot be used here; NULL: it can */
    const char *slower;              /* why it is slower here than it could be; NULL: no reason is known */
} vhem_backend_facts;

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
    int64_t     length;              /* median frames of the sequences that they, or what they represent,
                                        were fitted to; 0: unknown */
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

/* ---- what a model says about sequences ----------------------------------------------------------------- */

typedef struct {                     /* what is asked of sequences under HMMs: memory, or NULL for what is
                                        not wanted.  Sequences one after the other, n of them; S: states of
                                        its HMM */
    int    *path;                    /* [T] of each  the most likely states */
    double *logprob;                 /* [n]          log-probability of that path; with path */
    double *gamma;                   /* [T][S]       p(state | y) */
    double *xi;                      /* [S][S]       expected counts of transitions */
    double *loglik;                  /* [n]          log-likelihood */
} vhem_decoding;

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
    const char *topology;            /* of method auto: only models of this topology, "free",
                                        "left-right", "linear"; default: free and linear.  As it was used:
                                        that of the centres */
} vhem_cluster_options;

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
                                        kept, or higher, as nearly as bounds tell groups apart; of graphs of
                                        sequences: this one was kept */
    double      stability;           /* of a graph of sequences: mean adjusted Rand index of its partition
                                        with those of samples; NaN: unknown */
    int         S;                   /* of a graph of sequences: states of its models, */
    const char *topology;            /* and "free", "left-right", "linear"; 0, NULL: it has none */
} vhem_cluster_run;

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
    double modularity;               /* of these groups in their graph of sequences; stability is then that of
                                        samples */
} vhem_choice;

typedef struct {                     /* one level of a tree; what a method does not have is NULL */
    const char *method;
    int64_t     Kb, Kr;              /* items, clusters */
    const char *items;               /* what they are: "models", "sequences", "groups" */
    int         n_iter, converged;
    int         n_empty, n_revived, n_fell;     /* clusters re-seeded, states revived, times the bound fell */
    const int  *label;               /* [Kb]        argmax_j z_ij; of method auto the groups found */
    const double *z;                 /* [Kb][Kr]    soft assignments z_ij */
    const double *share;             /* [Kb]        of the runs that are as good, in how many the item is in
                                        the group it has here; NULL where fewer than two are known; of
                                        method auto: of samples of the items */
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
    int         n_choice;            /* method auto, when K was chosen: */
    const vhem_choice *choice;       /* [n_choice]  the numbers of groups that were tried, in the graph that
                                        was kept */
} vhem_clustering;

typedef struct {                     /* a tree at a glance; valid while it lives */
    int         levels;
    vhem_kind   kind;                /* of the centres */
    const char *provenance;          /* of the tree or else its lowest level: a JSON object as text; NULL when
                                        unknown */
    int         stopped_level;       /* from vhem_cluster: the level, from 1, that a stop ended; 0: none */
} vhem_tree_facts;

typedef struct {                     /* what a file holds; all but one are NULL */
    vhem_models  *models;
    vhem_tree    *tree;
    vhem_classes *classes;
    vhem_data    *data;
} vhem_contents;

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

typedef struct {
    double rand, adjusted_rand, nmi, purity;
} vhem_agreement;

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

#ifdef __cplusplus
}
#endif
#endif
