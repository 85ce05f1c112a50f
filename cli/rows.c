/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - tables, described cell by cell: with tabs, as CSV, as JSON. */
#include "cli.h"

#include <math.h>
#include <string.h>

/* Quotes in CSV are those of RFC 4180; a semicolon has them too, which some programs take for a comma. */
static void put_text(const cli_row *r, const char *text)
{
    FILE *f = r->out->f;
    bool quote = r->out->separator == ',' && strpbrk(text, r->exact ? ",\"\r\n" : ",;\"");
    if (quote)
        fputc('"', f);
    for (; *text; text++) {
        if (quote && *text == '"')
            fputc('"', f);
        fputc(strchr("\t\n\r", *text) && !(quote && r->exact) ? ' ' : *text, f);
    }
    if (quote)
        fputc('"', f);
}

/* Is the value to be written, to the table?  JSON takes it over, into the row or a list of it. */
static bool wants(cli_row *r, const char *list, const char *name, json_t *value)
{
    if (r->json && !list) {
        json_object_set_new(r->json, name, value);
    } else if (r->json) {
        if (!json_object_get(r->json, list))
            json_object_set_new(r->json, list, json_array());
        json_array_append_new(json_object_get(r->json, list), value);
    } else {
        if (r->begun)
            fputc(r->out->separator, r->out->f);
        r->begun = true;
        if (r->head)
            put_text(r, name);
    }
    return !r->json && !r->head;
}

void cli_cell_text(cli_row *r, const char *name, const char *text)
{
    if (wants(r, NULL, name, r->json ? cli_json_text(text) : NULL))
        put_text(r, text);
}

void cli_cell_int(cli_row *r, const char *name, int64_t x)
{
    cli_cell_int_of(r, NULL, name, x);
}

void cli_cell_int_of(cli_row *r, const char *list, const char *name, int64_t x)
{
    if (wants(r, list, name, r->json ? json_integer(x) : NULL))
        fprintf(r->out->f, "%lld", (long long)x);
}

/* digits behind the point; -1: as many as it takes. */
static void put_real(cli_row *r, const char *list, const char *name, double x, int digits)
{
    if (!wants(r, list, name, r->json ? cli_json_real(x) : NULL))
        return;
    if (r->unknown && !isfinite(x))
        fputs(r->unknown, r->out->f);
    else if (digits >= 0)
        fprintf(r->out->f, "%.*f", digits, x);
    else
        cli_put_number(r->out->f, x);
}

void cli_cell_real(cli_row *r, const char *name, double x)
{
    put_real(r, NULL, name, x, -1);
}

void cli_cell_real_of(cli_row *r, const char *list, const char *name, double x)
{
    put_real(r, list, name, x, -1);
}

void cli_cell_fixed(cli_row *r, const char *name, double x, int digits)
{
    put_real(r, NULL, name, x, digits);
}

static void put_row(cli_row *r, cli_put_row *put, const void *of, int64_t i)
{
    put(r, of, i);
    if (r->begun)
        fputc('\n', r->out->f);
    r->begun = r->head = false;
}

void cli_put_rows(cli_row *r, int64_t n, cli_put_row *put, const void *of)
{
    if (r->head)
        put_row(r, put, of, 0);
    for (int64_t i = 0; i < n && !ferror(r->out->f); i++)
        put_row(r, put, of, i);
}

void cli_write_rows(const cli_out *out, const cli_rows *t)
{
    cli_row r = { .out = out, .head = true, .unknown = t->unknown, .exact = t->exact };
    cli_put_rows(&r, t->n, t->put, t->of);
}

json_t *cli_rows_json(const cli_rows *t)
{
    json_t *rows = json_array();
    for (int64_t i = 0; i < t->n; i++) {
        cli_row r = { .json = json_object() };
        t->put(&r, t->of, i);
        if (json_object_size(r.json) > 0)
            json_array_append_new(rows, r.json);
        else
            json_decref(r.json);
    }
    return rows;
}

int cli_write_table(cli *c, const char *path, json_t *json, const cli_rows *t)
{
    CLI_CLEANUP(cli_out_close) cli_out out = { 0 };
    json_auto_t *own = json;
    CLI_TRY(cli_out_open(c, path, &out));
    if (own)
        cli_json_put(out.f, json_incref(own));
    else
        cli_write_rows(&out, t);
    return cli_out_commit(c, &out);
}

const char *cli_numbered(const char *stem, int64_t k, char buf[32])
{
    snprintf(buf, 32, "%s%lld", stem, (long long)k);
    return buf;
}
