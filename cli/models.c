/* SPDX-License-Identifier: BSD-3-Clause */
/* models.c - sets of models of either kind, HMMs or dynamic textures, for commands that do not mind which. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

int cli_load_textures(cli *c, const char *path, vhem_dtm **dtm)
{
    cli_content content = cli_recognise(path);
    if (content == CLI_IS_TEXTURES)
        return cli_status(c, vhem_dtm_load(c->ctx, path, dtm));
    if (content == CLI_IS_HDF5 || content == CLI_IS_CLUSTERING)
        vhem_dtm_load(c->ctx, path, dtm); /* if it fails, whoever reads the file next says why */
    return CLI_GO;
}

int cli_models_load(cli *c, const char *path, cli_models *m)
{
    int status = cli_load_textures(c, path, &m->dtm);
    return status == CLI_GO && !m->dtm ? cli_load_models(c, path, &m->h3m) : status;
}

void cli_models_free(cli_models *m)
{
    vhem_h3m_free(m->h3m);
    vhem_dtm_free(m->dtm);
    *m = (cli_models){ 0 };
}

int cli_models_size(const cli_models *m)
{
    return m->h3m ? vhem_h3m_size(m->h3m) : vhem_dtm_size(m->dtm);
}

const char *cli_models_kind(const cli_models *m)
{
    return m->h3m ? "HMM" : "texture";
}

double cli_models_omega(const cli_models *m, int i)
{
    vhem_hmm_view hmm;
    vhem_dt_view dt;
    if (m->h3m)
        return vhem_h3m_view(m->h3m, i, &hmm) == VHEM_OK ? hmm.omega : 0;
    return vhem_dtm_view(m->dtm, i, &dt) == VHEM_OK ? dt.omega : 0;
}

const char *cli_models_name(const cli_models *m, int i, char *buf, size_t size)
{
    vhem_dt_view dt;
    if (m->h3m)
        return cli_hmm_name(m->h3m, i, buf, size);
    if (vhem_dtm_view(m->dtm, i, &dt) == VHEM_OK && dt.name[0])
        return dt.name;
    snprintf(buf, size, "%d", i);
    return buf;
}

const char **cli_classes_of_textures(const vhem_dtm *dtm)
{
    int K = vhem_dtm_size(dtm);
    const char **class_of = calloc((size_t)K + 1, sizeof *class_of);
    for (int i = 0; class_of && i < K; i++) {
        vhem_dt_view dt;
        vhem_dtm_view(dtm, i, &dt);
        class_of[i] = dt.label;
    }
    return class_of;
}

const char **cli_models_classes(const cli_models *m)
{
    return m->h3m ? cli_classes_of_models(m->h3m) : cli_classes_of_textures(m->dtm);
}

int cli_models_check(cli *c, const cli_models *m, const char *what, const vhem_clustering *cl,
                     const char *where)
{
    int n = cli_models_size(m);
    char buf[32];
    if (n != cl->Kb)
        return cli_fail(c, "%s holds %d %s%s, but the clusters of %s were made of %d", what, n,
                        cli_models_kind(m), cli_plural(n), where, cl->Kb);
    for (int i = 0; i < n; i++) {
        const char *name = cli_models_name(m, i, buf, sizeof buf);
        if (name != buf && cl->name[i][0] && strcmp(name, cl->name[i]) != 0)
            return cli_fail(c,
                            "%s %d of %s is '%s', but '%s' in %s: other models were clustered there, or "
                            "in another order",
                            cli_models_kind(m), i, what, name, cl->name[i], where);
    }
    return CLI_GO;
}
