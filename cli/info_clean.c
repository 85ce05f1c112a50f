/* SPDX-License-Identifier: BSD-3-Clause */
/* info_clean.c - takes control characters out of the facts about a file before a person sees them: the names
 * in a file from elsewhere may hold commands for the terminal. */
#include "info.h"

#include <stdlib.h>
#include <string.h>

static bool has_control(const char *text)
{
    while (*text && !((unsigned char)*text < 32 || *text == 127 || (*text == '\xC2' && text[1] < '\xA0')))
        text++;
    return *text != '\0';
}

/* A copy with '?' for each; from malloc.  NULL: no memory. */
static char *cleaned(const char *text)
{
    char *copy = strdup(text);
    if (copy)
        cli_clean(copy);
    return copy;
}

/* Two keys may become one: the number at the end keeps them apart. */
static void clean_key(json_t *object, const char *key, int number)
{
    char *copy = cleaned(key), *name = NULL;
    size_t size = copy ? strlen(copy) + 16 : 0;
    if (copy && (name = malloc(size))) {
        snprintf(name, size, "%s", copy);
        if (json_object_get(object, name))
            snprintf(name, size, "%s %d", copy, number);
        json_object_set(object, name, json_object_get(object, key));
    }
    json_object_del(object, key);
    free(name);
    free(copy);
}

void info_clean(json_t *v)
{
    const char *key;
    json_t *child;
    void *next;
    size_t k;
    int number = 0;

    if (json_is_string(v) && has_control(json_string_value(v))) {
        char *copy = cleaned(json_string_value(v));
        json_string_set(v, copy ? copy : "");
        free(copy);
    }
    if (json_is_array(v))
        json_array_foreach(v, k, child) info_clean(child);
    if (!json_is_object(v))
        return;
    json_object_foreach(v, key, child) info_clean(child);
    json_object_foreach_safe(v, next, key, child) if (has_control(key)) clean_key(v, key, ++number);
}
