/* SPDX-License-Identifier: BSD-3-Clause */
/* tables.c - all numbers of a report as tab-separated text, one file per kind of item.  Numbers round-trip
 * exactly; indices start at 0, levels at 1. */
#include "core/atomic_file.h"
#include "core/array2.h"
#include "core/number.h"
#include "report/figures.h"
#include "report/text.h"
#include "vhem.h"
#include "os/path.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_number(FILE *f, double x)
{
    char text[VH_NUMBER_SIZE];
    putc('\t', f);
    fwrite(text, 1, vh_number_text(x, text), f);
}

static void put_clusters(FILE *f, const vh_facts *facts)
{
    fputs("level\tcluster\tparent\tmodels\tomega", f);
    for (int k = 0; k < facts->n_class; k++) {
        putc('\t', f);
        vh_tsv_text(f, facts->class_name[k]);
    }
    putc('\n', f);
    for (int l = 0; l < facts->n_level; l++) {
        const vh_level *v = &facts->level[l];
        for (int j = 0; j < v->K; j++) {
            double share = (double)v->size[j] / facts->n_model;
            vhem_hmm_view h;
            vhem_dt_view t;
            bool hmm = v->hmms && vhem_models_hmm(v->hmms, j, &h) == VHEM_OK;
            bool texture = v->textures && vhem_models_texture(v->textures, j, &t) == VHEM_OK;
            fprintf(f, "%d\t%d\t%d\t%d", l + 1, j, v->parent[j], v->size[j]);
            put_number(f, hmm ? h.omega : texture ? t.omega : share);
            for (int k = 0; k < facts->n_class; k++)
                fprintf(f, "\t%d", v->count[j * facts->n_class + k]);
            putc('\n', f);
        }
    }
}

/* Number of columns that name the members, if these are sequences of the data; they are written too. */
static int named_by(const vh_facts *facts, vhem_data_facts *of)
{
    vhem_seq_view seq;
    *of = (vhem_data_facts){ 0 };
    if (!facts->model_of)
        return 0;
    vhem_data_info(facts->in->data, of);
    for (int64_t n = 0; n < of->N; n++)
        if (facts->model_of[n] >= 0)
            return !vhem_data_view(facts->in->data, n, &seq)
                           && strcmp(seq.name, vh_facts_name(facts, facts->model_of[n])) == 0
                       ? of->n_id
                       : 0;
    return 0;
}

/* Writes the parts of a name; only the last may contain a separator. */
static void put_parts(FILE *f, const char *name, int n, char separator)
{
    for (int k = 0; k < n; k++) {
        const char *end = k + 1 < n ? strchr(name, separator) : NULL;
        size_t size = end ? (size_t)(end - name) : strlen(name);
        putc('\t', f);
        vh_tsv_text_of(f, name, size);
        name += size + (name[size] != '\0');
    }
}

static bool is_member_column(const char *name)
{
    return !strcmp(name, "index") || !strcmp(name, "name") || !strcmp(name, "class") || !strcmp(name, "z")
           || !strcmp(name, "share")
           || (!strncmp(name, "level", 5) && name[5] && name[5 + strspn(name + 5, "0123456789")] == '\0');
}

static void put_members(FILE *f, const vh_facts *facts)
{
    vhem_data_facts of;
    int n_id = named_by(facts, &of);
    fprintf(f, "index\tname\tclass\tz%s", facts->level[0].c->share ? "\tshare" : "");
    for (int l = 0; l < facts->n_level; l++)
        fprintf(f, "\tlevel%d", l + 1);
    for (int k = 0; k < n_id; k++) {
        fputs(is_member_column(of.id_column[k]) ? "\tid_" : "\t", f);
        vh_tsv_text(f, of.id_column[k]);
    }
    putc('\n', f);
    for (int64_t i = 0; i < facts->n_model; i++) {
        fprintf(f, "%lld\t", (long long)i);
        vh_tsv_text(f, vh_facts_name(facts, i));
        putc('\t', f);
        vh_tsv_text(f, facts->class_of[i] < 0 ? "" : facts->class_name[facts->class_of[i]]);
        put_number(f, vh_facts_own_z(&facts->level[0], i));
        if (facts->level[0].c->share)
            put_number(f, vh_facts_share(&facts->level[0], i));
        for (int l = 0; l < facts->n_level; l++)
            fprintf(f, "\t%d", facts->level[l].label[i]);
        put_parts(f, vh_facts_name(facts, i), n_id, of.id_separator);
        putc('\n', f);
    }
}

/* Writes z and L_hmm of every level: a row per pair of a model of the level and a cluster. */
static void put_pairs(FILE *f, const vh_facts *facts)
{
    fputs("level\tmodel\tname\tcluster\tz\tL_hmm\n", f);
    for (int l = 0; l < facts->n_level; l++) {
        const vhem_clustering *c = facts->level[l].c;
        for (int64_t i = 0; (c->z || c->L_hmm) && i < c->Kb; i++)
            for (int j = 0; j < c->Kr; j++) {
                size_t at = vh_ij(i, c->Kr, j);
                fprintf(f, "%d\t%lld\t", l + 1, (long long)i);
                vh_tsv_text(f, c->name[i]);
                fprintf(f, "\t%d", j);
                put_number(f, c->z ? c->z[at] : NAN);
                put_number(f, c->L_hmm ? c->L_hmm[at] : NAN);
                putc('\n', f);
            }
    }
}

static void put_bound(FILE *f, const vh_facts *facts)
{
    fputs("level\titeration\tbound\n", f);
    for (int l = 0; l < facts->n_level; l++) {
        const vhem_clustering *c = facts->level[l].c;
        for (int k = 0; c->bound && k <= c->n_iter; k++) {
            fprintf(f, "%d\t%d", l + 1, k);
            put_number(f, c->bound[k]);
            putc('\n', f);
        }
    }
}

/* The graphs of sequences that were partitioned. */
static void put_graphs(FILE *f, const vh_facts *facts)
{
    const vhem_clustering *c = facts->level[0].c;
    fputs("graph\tmodularity\tstability\tagreement\tkept\n", f);
    for (int r = 0; r < c->n_run; r++) {
        vh_tsv_text(f, c->run[r].init ? c->run[r].init : "");
        put_number(f, c->run[r].modularity);
        put_number(f, c->run[r].stability);
        put_number(f, c->run[r].agreement);
        fprintf(f, "\t%d\n", c->run[r].as_good);
    }
}

static void put_restarts(FILE *f, const vh_facts *facts)
{
    fputs("level\trestart\tseed\tinit\titerations\tconverged\tfinished\tbound\tmodularity\tagreement\n", f);
    for (int l = 0; l < facts->n_level; l++)
        for (int r = 0; !vh_facts_graphs(&facts->level[l]) && r < facts->level[l].c->n_run; r++) {
            const vhem_cluster_run *u = &facts->level[l].c->run[r];
            fprintf(f, "%d\t%d\t%llu\t", l + 1, r, (unsigned long long)u->seed);
            vh_tsv_text(f, u->init ? u->init : "");
            fprintf(f, "\t%d\t%d\t%d", u->n_iter, u->converged, u->finished);
            put_number(f, u->bound);
            put_number(f, u->modularity);
            put_number(f, u->agreement);
            putc('\n', f);
        }
}

/* widest: the largest number of states of all centres, for tables with rows of equal length. */
typedef void put_center(FILE *f, const vh_facts *facts, const vhem_hmm_view *h, int tau, int widest);

/* A centre with the most states; S is 0 if there are no centres. */
static vhem_hmm_view find_widest(const vh_facts *facts)
{
    vhem_hmm_view most = { 0 }, h;
    for (int l = 0; l < facts->n_level; l++)
        for (int j = 0; facts->level[l].hmms && j < facts->level[l].K; j++)
            if (vhem_models_hmm(facts->level[l].hmms, j, &h) == VHEM_OK && h.S > most.S)
                most = h;
    return most;
}

static void put_centers(FILE *f, const vh_facts *facts, int widest, put_center *put)
{
    for (int l = 0; l < facts->n_level; l++) {
        const vh_level *v = &facts->level[l];
        for (int j = 0; v->hmms && j < v->K; j++) {
            vhem_hmm_view h;
            if (vhem_models_hmm(v->hmms, j, &h) != VHEM_OK)
                continue;
            char where[32];
            snprintf(where, sizeof where, "%d\t%d", l + 1, j);
            h.name = where; /* the first two columns of each row */
            put(f, facts, &h, vh_facts_usual(v), widest);
        }
    }
}

static void put_center_states(FILE *f, const vh_facts *facts, const vhem_hmm_view *h, int tau, int widest)
{
    double *share = vh_facts_room(facts, 3 * (size_t)h->S, sizeof *share);
    int64_t T = facts->in->data ? vh_facts_longest(facts, 0) : tau;
    if (!share)
        return;
    vh_hmm_share(h, tau, share);
    for (int s = 0; s < h->S; s++) {
        double stay = h->A[s * h->S + s];
        fprintf(f, "%s\t%d", h->name, s);
        put_number(f, h->pi[s]);
        put_number(f, share[s]);
        put_number(f, stay < 1 ? 1 / (1 - stay) : INFINITY);
        put_number(f, vh_stay_within(stay, T));
        for (int r = 0; r < h->S; r++)
            put_number(f, h->A[s * h->S + r]);
        for (int r = h->S; r < widest; r++)
            putc('\t', f); /* pad missing states */
        putc('\n', f);
    }
    free(share);
}

static void put_states(FILE *f, const vh_facts *facts)
{
    int widest = find_widest(facts).S;
    fputs("level\tcluster\tstate\tpi\tshare\tduration\tstay", f);
    for (int r = 0; r < widest; r++)
        fprintf(f, "\tA_%d", r);
    putc('\n', f);
    put_centers(f, facts, widest, put_center_states);
}

static size_t count_params(const vhem_hmm_view *h)
{
    size_t n = 0;
    while (vhem_emission_param(h->emission, (int)n))
        n++;
    return n;
}

/* Width of a parameter.  Parameters of non-Gaussian families are [S][M][width] each, one after the other
 * behind c, with the same width within a family: one number per column, per symbol, or for all channels. */
static size_t find_width(const vhem_hmm_view *h)
{
    size_t components = vh_cells(h->S, h->M), n = components * count_params(h);
    return n > 0 ? ((size_t)h->n_theta - components) / n : 0;
}

static void put_parameters(FILE *f, const vhem_hmm_view *h, size_t at)
{
    size_t components = vh_cells(h->S, h->M), width = find_width(h);
    for (size_t p = 0; p < count_params(h); p++)
        for (size_t k = 0; k < width; k++)
            put_number(f, h->theta[components + (p * components + at) * width + k]);
}

static void put_center_emissions(FILE *f, const vh_facts *facts, const vhem_hmm_view *h, int tau, int widest)
{
    (void)facts;
    (void)tau;
    (void)widest;
    size_t width = !h->cov ? 0 : vh_is_full(h) ? vh_cells(h->d, h->d) : (size_t)h->d;
    for (int s = 0; s < h->S; s++)
        for (int m = 0; m < h->M; m++) {
            size_t at = vh_ij(s, h->M, m);
            fprintf(f, "%s\t%d\t%d", h->name, s, m);
            put_number(f, h->c[at]);
            for (int k = 0; h->mu && k < h->d; k++)
                put_number(f, h->mu[at * (size_t)h->d + (size_t)k]);
            for (size_t k = 0; k < width; k++)
                put_number(f, h->cov[at * width + k]);
            if (!h->mu)
                put_parameters(f, h, at);
            putc('\n', f);
        }
}

/* Writes "_x": the name of dimension k, or its number. */
static void put_dimension(FILE *f, const vh_facts *facts, int k)
{
    char buf[32], unnamed[16];
    const char *name = vh_facts_dimension(facts, k, buf, sizeof buf);
    snprintf(unnamed, sizeof unnamed, "y%d", k);
    putc('_', f);
    vh_tsv_text(f, name + (strcmp(name, unnamed) == 0));
}

/* Writes "\tp_state_work": the header of a parameter of n numbers, by the names of its d columns, starting at
 * `first`, or of its symbols. */
static void put_parameter_head(FILE *f, const vh_facts *facts, const char *name, int n, int first, int d)
{
    const vhem_symbols *symbols = &facts->column[first].symbols;
    for (int k = 0; k < n; k++) {
        fprintf(f, "\t%s", name);
        if (symbols->n > 0) {
            put_dimension(f, facts, first);
            putc('_', f);
            vh_tsv_text(f, symbols->name[k]);
        } else if (n == d) {
            put_dimension(f, facts, first + k);
        } else if (n == d * d) {
            put_dimension(f, facts, first + k / d);
            put_dimension(f, facts, first + k % d);
        } else {
            fprintf(f, "_%d", k);
        }
    }
}

/* Writes the headers for one channel of a product. */
static void put_channel_heads(FILE *f, const vh_facts *facts, int first, int d)
{
    const vhem_column_view *c = &facts->column[first];
    for (int p = 0; vhem_emission_param(c->emission, p); p++) {
        bool matrix = c->full && !vhem_emission_param(c->emission, p + 1);
        int n = c->symbols.n > 0 ? c->symbols.n : matrix ? d * d : d;
        put_parameter_head(f, facts, vhem_emission_param(c->emission, p), n, first, d);
    }
}

/* Writes the headers that match put_parameters. */
static void put_parameter_heads(FILE *f, const vh_facts *facts, const vhem_hmm_view *h)
{
    bool product = h->emission && strcmp(facts->column[0].emission, h->emission) != 0;
    for (int first = 0, end; product && first < facts->d; first = end) {
        for (end = first + 1; end < facts->d && facts->column[end].channel == facts->column[first].channel;)
            end++;
        put_channel_heads(f, facts, first, end - first);
    }
    for (int p = 0; !product && vhem_emission_param(h->emission, p); p++)
        put_parameter_head(f, facts, vhem_emission_param(h->emission, p), (int)find_width(h), 0, facts->d);
}

static void put_emissions(FILE *f, const vh_facts *facts)
{
    vhem_hmm_view h = find_widest(facts);
    fputs("level\tcluster\tstate\tcomponent\tc", f);
    if (!h.mu)
        put_parameter_heads(f, facts, &h);
    for (int k = 0; h.mu && k < h.d; k++) {
        fputs("\tmu", f);
        put_dimension(f, facts, k);
    }
    for (int k = 0; h.mu && k < h.d; k++)
        for (int e = 0; e < (vh_is_full(&h) ? h.d : 1); e++) {
            fputs("\tcov", f);
            put_dimension(f, facts, k);
            if (vh_is_full(&h))
                put_dimension(f, facts, e);
        }
    putc('\n', f);
    put_centers(f, facts, h.S, put_center_emissions);
}

static void put_modes(FILE *f, const vh_facts *facts)
{
    fputs("level\tcluster\tmode\treal\timaginary\tdecay\tperiod\n", f);
    for (int l = 0; l < facts->n_level; l++) {
        const vhem_models *centers = facts->level[l].textures;
        for (int j = 0; centers && j < facts->level[l].K; j++) {
            vhem_dt_view t;
            if (vhem_models_texture(centers, j, &t) != VHEM_OK)
                continue;
            int n;
            double complex *mode = vh_texture_modes(facts, &t, &n);
            for (int k = 0; k < n; k++) {
                fprintf(f, "%d\t%d\t%d", l + 1, j, k);
                put_number(f, creal(mode[k]));
                put_number(f, cimag(mode[k]));
                put_number(f, vh_mode_decay(&mode[k]));
                put_number(f, vh_mode_period(&mode[k]));
                putc('\n', f);
            }
            free(mode);
        }
    }
}

static void put_measures(FILE *f, const vh_facts *facts)
{
    fputs("level\trand\tadjusted_rand\tnmi\tpurity\texpected_loglik\tloglik\tcompactness\tmodularity\n", f);
    for (int l = 0; l < facts->n_level; l++) {
        vhem_agreement g = { NAN, NAN, NAN, NAN };
        vh_facts_agreement(facts, l, &g);
        fprintf(f, "%d", l + 1);
        put_number(f, g.rand);
        put_number(f, g.adjusted_rand);
        put_number(f, g.nmi);
        put_number(f, g.purity);
        put_number(f, facts->measures[l].expected_loglik);
        put_number(f, facts->measures[l].loglik);
        put_number(f, facts->measures[l].compactness);
        put_number(f, facts->measures[l].modularity);
        putc('\n', f);
    }
}

static void put_choice(FILE *f, const vh_facts *facts)
{
    fputs("K\tS\tbound\tloglik\tn_param\tbic\ticl\tstability\tevidence\tframes\tK_used\tS_used\tsame_runs\t"
          "same_seeds\n",
          f);
    for (int i = 0; i < facts->in->n_choice; i++) {
        const vhem_choice *row = &facts->in->choice[i];
        const double number[] = { row->bound,  row->loglik,    row->n_param,   row->bic,
                                  row->icl,    row->stability, row->evidence,  row->frames,
                                  row->K_used, row->S_used,    row->same_runs, row->same_seeds };
        fprintf(f, "%lld\t%d", (long long)row->K, row->S);
        for (size_t k = 0; k < sizeof number / sizeof *number; k++)
            put_number(f, number[k]);
        putc('\n', f);
    }
}

static void put_distances(FILE *f, const vh_facts *facts)
{
    size_t n = (size_t)facts->n_model;
    fputs("model", f);
    for (size_t i = 0; i < n; i++) {
        putc('\t', f);
        vh_tsv_text(f, vh_facts_name(facts, i));
    }
    putc('\n', f);
    for (size_t i = 0; i < n; i++) {
        vh_tsv_text(f, vh_facts_name(facts, i));
        for (size_t k = 0; k < n; k++)
            put_number(f, facts->in->distance[i * n + k]);
        putc('\n', f);
    }
}

typedef void put_table(FILE *f, const vh_facts *facts);

static vhem_status write_table(vhem_ctx *ctx, const vh_facts *facts, const char *name, put_table *put)
{
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file out = { 0 };
    char path[4096];

    VH_CHECK(snprintf(path, sizeof path, "%s/%s", facts->in->tables, name) < (int)sizeof path, VHEM_EINVAL,
             "%s: the path is too long", facts->in->tables);
    VH_TRY(vh_atomic_file_open(ctx, path, &out));
    put(out.f, facts);
    return vh_atomic_file_commit(ctx, &out);
}

vhem_status vh_tables_write(vhem_ctx *ctx, const vh_facts *facts)
{
    static const struct {
        const char *name;
        put_table *put;
    } tables[] = {
        { "clusters.tsv", put_clusters }, { "members.tsv", put_members },   { "membership.tsv", put_pairs },
        { "bound.tsv", put_bound },       { "restarts.tsv", put_restarts },
    };

    VH_CHECK(vh_folder_make(facts->in->tables), VHEM_EIO, "%s: cannot make the folder: %s", facts->in->tables,
             strerror(errno));
    for (size_t k = 0; k < sizeof tables / sizeof tables[0]; k++)
        VH_TRY(write_table(ctx, facts, tables[k].name, tables[k].put));
    if (facts->level[0].textures) {
        VH_TRY(write_table(ctx, facts, "modes.tsv", put_modes));
    } else {
        VH_TRY(write_table(ctx, facts, "states.tsv", put_states));
        VH_TRY(write_table(ctx, facts, "emissions.tsv", put_emissions));
    }
    if (vh_facts_graphs(&facts->level[0]))
        VH_TRY(write_table(ctx, facts, "graphs.tsv", put_graphs));
    if (facts->level[0].c->posterior)
        VH_TRY(write_table(ctx, facts, "intervals.tsv", vh_known_put));
    if (vh_facts_measured(facts, 0))
        VH_TRY(write_table(ctx, facts, "measures.tsv", put_measures));
    if (facts->in->n_choice > 0)
        VH_TRY(write_table(ctx, facts, "choice.tsv", put_choice));
    if (facts->in->distance)
        VH_TRY(write_table(ctx, facts, "distances.tsv", put_distances));
    return VHEM_OK;
}
