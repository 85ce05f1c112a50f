/* json.c - see json.h. */
#include "model/json.h"

#include "core/alloc.h"
#include "core/number.h"
#include "core/text.h"

#include <stdio.h>

const char *vh_json_kind(const json_t *v)
{
    switch (json_typeof(v)) {
    case JSON_OBJECT:  return "an object";
    case JSON_ARRAY:   return "an array";
    case JSON_STRING:  return "text";
    case JSON_INTEGER:
    case JSON_REAL:    return "a number";
    case JSON_TRUE:    return "true";
    case JSON_FALSE:   return "false";
    case JSON_NULL:    return "null";
    }
    return "unknown";
}

json_t *vh_json_parse(vhem_ctx *ctx, const char *text, size_t size)
{
    json_error_t err;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &err);
    /* An integer past 64 bits, a seed for example: rather a little inexact than unreadable. */
    if (!root && json_error_code(&err) == json_error_numeric_overflow)
        root = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &err);
    if (!root && json_error_code(&err) == json_error_out_of_memory)
        vh_fail(ctx, VHEM_ENOMEM, "out of memory: the JSON text has %zu bytes", size);
    else if (!root)
        vh_fail(ctx, VHEM_EFORMAT, "line %d, column %d: not valid JSON: %s", err.line, err.column, err.text);
    return root;
}

/* Any value as compact JSON.  Its depth is limited by the parser it came from. */
static void print_value(FILE *f, json_t *v)
{
    char number[VH_NUMBER_SIZE];
    const char *key, *comma = "";
    json_t *child;
    size_t k;

    switch (json_typeof(v)) {
    case JSON_OBJECT:
        putc('{', f);
        json_object_foreach(v, key, child) {
            fputs(comma, f);
            vh_text_json(f, key);
            fputs(": ", f);
            print_value(f, child);
            comma = ", ";
        }
        putc('}', f);
        break;
    case JSON_ARRAY:
        putc('[', f);
        json_array_foreach(v, k, child) {
            fputs(comma, f);
            print_value(f, child);
            comma = ", ";
        }
        putc(']', f);
        break;
    case JSON_STRING:  vh_text_json(f, json_string_value(v)); break;
    case JSON_INTEGER: fprintf(f, "%" JSON_INTEGER_FORMAT, json_integer_value(v)); break;
    case JSON_REAL:    fwrite(number, 1, vh_number_text(json_real_value(v), number), f); break;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:    fputs(vh_json_kind(v), f); break;
    }
}

vhem_status vh_json_keep(vhem_ctx *ctx, json_t *v, char **slot)
{
    vhem_status st = VHEM_OK;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    VH_CHECK(f, VHEM_ENOMEM, "out of memory: could not open a text in memory");
    print_value(f, v);
    VH_CHECK(fclose(f) == 0, VHEM_ENOMEM, "out of memory: could not keep unknown keys");
    free(*slot);
    *slot = text;
    text = NULL;
done:
    free(text);
    return st;
}
