/* SPDX-License-Identifier: BSD-3-Clause */
/* models.c - what commands say about models and items of every kind. */
#include "cli.h"
#include "vhem.h"
#include "vhem/classes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Components of a state as files count them: with a background its Gaussians, whose weights are all that
 * theta has behind the weight of the one component. */
static int components(const vhem_hmm_view *h)
{
    const char *first = vhem_emission_param(h->emission, 0);
    return first && strcmp(first, "weights") == 0 ? h->n_theta / h->S - 1 : h->M;
}

cli_model cli_model_at(const vhem_models *models, int64_t i)
{
    vhem_hmm_view hmm;
    vhem_dt_view dt;
    if (vhem_models_hmm(models, i, &hmm) == VHEM_OK)
        return (cli_model){ hmm.name, hmm.label, hmm.omega, hmm.S, components(&hmm) };
    if (vhem_models_texture(models, i, &dt) == VHEM_OK)
        return (cli_model){ dt.name, dt.label, dt.omega, dt.n, 0 };
    return (cli_model){ "", "", 0, 0, 0 };
}

#define FACTS_OF(kind)                                            \
    vhem_##kind##_facts cli_##kind##_facts(const vhem_##kind *of) \
    {                                                             \
        vhem_##kind##_facts facts = { 0 };                        \
        if (of)                                                   \
            vhem_##kind##_info(of, &facts);                       \
        return facts;                                             \
    }
FACTS_OF(models)
FACTS_OF(data)
FACTS_OF(tree)
FACTS_OF(classes)

static void must(vhem_status st)
{
    assert(st == VHEM_OK);
    (void)st;
}

vhem_seq_view cli_sequence_at(const vhem_data *data, int64_t n)
{
    vhem_seq_view view = { 0 };
    must(vhem_data_view(data, n, &view));
    return view;
}

vhem_class_view cli_class_at(const vhem_classes *classes, int k)
{
    vhem_class_view view = { 0 };
    must(vhem_classes_view(classes, k, &view));
    return view;
}

int cli_models_read(cli *c, const vhem_models *models, int64_t n)
{
    const vhem_models_facts facts = cli_models_facts(models);
    return cli_status(c, vhem_models_read(c->ctx, models, 0, n < facts.K ? n : facts.K));
}

const char *cli_model_name(const vhem_models *models, int64_t i, char *buf, size_t size)
{
    const char *name = cli_model_at(models, i).name;
    if (name[0])
        return name;
    snprintf(buf, size, "%lld", (long long)i);
    return buf;
}

json_t *cli_json_names(const vhem_models *models)
{
    json_t *names = json_array();
    char buf[32];
    const vhem_models_facts facts = cli_models_facts(models);
    for (int64_t i = 0; i < facts.K; i++)
        json_array_append_new(names, cli_json_text(cli_model_name(models, i, buf, sizeof buf)));
    return names;
}

const char *cli_model_word(const vhem_models *models)
{
    return cli_models_facts(models).kind == VHEM_TEXTURES ? "texture" : "HMM";
}

const char *cli_item_word(const vhem_source *from)
{
    return from->models ? cli_model_word(from->models) : from->by_group ? "group" : "sequence";
}

int cli_check_models(cli *c, const vhem_models *models, const char *what, const vhem_clustering *cl,
                     const char *where)
{
    const char *word = cli_model_word(models);
    const vhem_models_facts facts = cli_models_facts(models);
    CLI_CHECK(facts.K == cl->Kb, "%s holds %lld %s%s, but the clusters of %s were made of %lld", what,
              (long long)facts.K, word, cli_plural(facts.K), where, (long long)cl->Kb);
    CLI_TRY(cli_models_read(c, models, facts.K));
    for (int64_t i = 0; i < facts.K; i++) {
        cli_model m = cli_model_at(models, i);
        CLI_CHECK(
            !m.name[0] || !cl->name[i][0] || strcmp(m.name, cl->name[i]) == 0,
            "%s %lld of %s is '%s', but '%s' in %s: other models were clustered there, or in another order",
            word, (long long)i, what, m.name, cl->name[i], where);
    }
    return CLI_GO;
}

int64_t *cli_frames(const vhem_data *data, const vhem_items *items)
{
    int64_t *frames = calloc((size_t)items->n + 1, sizeof *frames);
    const vhem_data_facts facts = cli_data_facts(data);
    for (int64_t n = 0; frames && n < facts.N; n++) {
        vhem_seq_view seq = cli_sequence_at(data, n);
        frames[items->item[n]] += seq.T;
    }
    return frames;
}

vhem_method_facts cli_method_facts(const char *name, bool textures)
{
    vhem_method_facts m = { 0 };
    for (int i = 0; vhem_method_info(i, &m) == VHEM_OK; i++)
        if (name ? strcmp(m.name, name) == 0 : textures ? m.takes_textures : m.takes_hmms)
            break;
    return m;
}
