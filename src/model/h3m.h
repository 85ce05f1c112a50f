/* h3m.h - storage of an H3M: K HMMs of one emission family and dimension, each with its own S and M. */
#ifndef VH_MODEL_H3M_H
#define VH_MODEL_H3M_H

#include "core/ctx.h"
#include "model/emission.h"

typedef struct {
    int     S, M;
    char   *name, *label;                /* NULL for none */
    char   *extra;                       /* JSON object with the keys we do not know, to be written again; NULL */
    double *pi, *A;                      /* [S] [S][S], in one block with theta; pi owns it */
    double *theta;                       /* c [S][M], then each parameter of the family [S][M][size] */
    size_t  n_theta;
} vh_hmm;

struct vhem_h3m {
    const vh_emission *family;
    int     d, K;
    double *omega;                       /* [K] */
    vh_hmm *hmm;                         /* [K] */
    char   *extra, *provenance;          /* JSON objects as text, or NULL */
};

static inline double *vh_hmm_c(const vh_hmm *h)
{
    return h->theta;                     /* [S][M] */
}
/* Parameter p of all components, [S][M][vh_param_size]. */
double *vh_hmm_param(const vhem_h3m *h3m, const vh_hmm *h, int p);
/* The parameters of component (s, m), par [VH_MAX_PARAM]. */
void vh_hmm_component(const vhem_h3m *h3m, const vh_hmm *h, int s, int m, double **par);

/* K empty slots with omega = 1/K; give each its shape with vh_h3m_shape before use. */
vhem_status vh_h3m_new(vhem_ctx *ctx, const vh_emission *family, int d, int K, vhem_h3m **out);
/* Storage for HMM i, all zero. */
vhem_status vh_h3m_shape(vhem_ctx *ctx, vhem_h3m *h3m, int i, int S, int M);
vhem_status vh_h3m_set_text(vhem_ctx *ctx, char **slot, const char *text);            /* NULL clears */
/* Copies the numbers of HMM src[j] into dst[i], which must have the same shape. */
void        vh_hmm_copy(vh_hmm *dst, const vh_hmm *src);

/* The files.  name is what error sentences call the file. */
vhem_status vh_model_read_json(vhem_ctx *ctx, const char *text, size_t size, const char *name, vhem_h3m **out);
vhem_status vh_model_write_json(vhem_ctx *ctx, const vhem_h3m *h3m, const char *path);
vhem_status vh_model_load_hdf5(vhem_ctx *ctx, const char *path, vhem_h3m **out);
vhem_status vh_model_save_hdf5(vhem_ctx *ctx, const vhem_h3m *h3m, const char *path);

#endif
