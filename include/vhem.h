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
 *     fork while another thread is inside a call, and give parent and child files of their own to write.
 *
 * Records are in vhem/types.h.  Beside this header stand vhem/classes.h (models of classes and tags),
 * vhem/analysis.h (measures, statistics, the report) and vhem/distributed.h (many processes). */
/* clang-format off */
#ifndef VHEM_H
#define VHEM_H

#include "vhem/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VHEM_VERSION "0.4.0"

/* ---- context ------------------------------------------------------------------------------------------- */

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

/* ---- options as data ----------------------------------------------------------------------------------- */

/* Everything at its default: VHEM_INIT(VHEM_FIT_OPTIONS, &opt) of a vhem_fit_options.  The record keeps its
 * size, so that a program goes on with libraries whose records have more fields than it knows: new fields
 * come at the end. */
VHEM_API void        vhem_options_init(vhem_option_set, void *record, size_t size);
#define VHEM_INIT(set, record) vhem_options_init((set), (record), sizeof *(record))
/* Option i of a record, i = 0, 1, ...; VHEM_EINVAL past the last. */
VHEM_RESULT vhem_status vhem_option_info(vhem_option_set, int i, vhem_option *out);

/* ---- sequences ----------------------------------------------------------------------------------------- */

VHEM_RESULT vhem_status vhem_data_load(vhem_ctx *, const char *path, const vhem_data_options *,
                                       vhem_data **out);
/* Frames of all sequences stacked, y [sum T][d], T [N].  No copy: y must outlive the data set.  Texts and
 * weights are copied; text may be NULL. */
VHEM_RESULT vhem_status vhem_data_wrap(vhem_ctx *, int64_t N, const int64_t *T, int d, const double *y,
                                       const vhem_data_text *text, vhem_data **out);
/* Makes a data set for examples: "gaze", "motions", "courses" or "tracks", with the true kinds as labels.
 * Each seed of the context gives other sequences of the same kinds. */
VHEM_RESULT vhem_status vhem_demo(vhem_ctx *, const char *name, vhem_data **out);
/* The format follows from the ending of the path: .csv .tsv .npy .npz .ts .h5; "-" is CSV on stdout. */
VHEM_RESULT vhem_status vhem_data_save(vhem_ctx *, const vhem_data *, const char *path);
VHEM_API void        vhem_data_info(const vhem_data *, vhem_data_facts *out);
VHEM_RESULT vhem_status vhem_data_view(const vhem_data *, int64_t n, vhem_seq_view *out);

/* ---- models -------------------------------------------------------------------------------------------- */

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

VHEM_RESULT vhem_status vhem_source_items(vhem_ctx *, const vhem_source *, vhem_items **out);

/* ---- sequences -> models ------------------------------------------------------------------------------- */

/* Weights are uniform, names and labels are carried over from the items.  report may be NULL.  VHEM_ESTOPPED
 * hands over the models that were begun, or the best mixture so far. */
VHEM_RESULT vhem_status vhem_fit(vhem_ctx *, const vhem_data *, const vhem_fit_options *, vhem_models **out,
                                 vhem_fit_report **report);

/* ---- what a model says about sequences ----------------------------------------------------------------- */

/* loglik [items][K]: log-likelihood of every item of a source of sequences under every model, in nats; that
 * of a group is the sum over its sequences. */
VHEM_RESULT vhem_status vhem_score(vhem_ctx *, const vhem_models *, const vhem_source *, double *loglik);

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

/* ---- models -> clusters -> hierarchy ------------------------------------------------------------------- */

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

/* Whatever is in a file, opened and parsed once.  opt says how to read sequences; NULL: defaults. */
VHEM_RESULT vhem_status vhem_load(vhem_ctx *, const char *path, const vhem_data_options *opt,
                                  vhem_contents *out);

/* ---- how many clusters and states, and how good -------------------------------------------------------- */

/* Every K with every S, the restarts of opt each.  rows [n_K][n_S], then [n_path] with the largest K and S,
 * is the caller's.  VHEM_ESTOPPED leaves the rows that were finished there; the others have K = 0.  Of
 * sequences, by method auto, with one S: modularity and stability in the graph that is kept. */
VHEM_RESULT vhem_status vhem_choose(vhem_ctx *, const vhem_source *, const vhem_choose_options *,
                                    const vhem_cluster_options *, vhem_choice *rows);

/* ---- distances between HMMs ---------------------------------------------------------------------------- */

/* D [Ka][Kb]: every HMM of a against every HMM of b, for sequences of tau frames: divergences in nats,
 * kernels as their logarithm.  error [Ka][Kb], the standard error where the kind is sampled, else 0, may be
 * NULL.  One set may have diagonal and the other full covariances.  a may be b, which halves the work of a
 * kernel.  VHEM_ESTOPPED hands over nothing.  Tables of at most 4 million numbers are made apart, and on
 * failure those of the caller stay as they were; larger ones are filled in place, in pieces of at most 512
 * rows, and may be overwritten in part: they may be files that are mapped.  Where several processes make the
 * call (vhem_ranks), D and error are filled on the first, and may be NULL on the others. */
VHEM_RESULT vhem_status vhem_distance(vhem_ctx *, const vhem_models *a, const vhem_models *b,
                                      const vhem_distance_options *, double *D, double *error);

#ifdef __cplusplus
}
#endif
#endif
