/* SPDX-License-Identifier: BSD-3-Clause */
/* words.c - arguments that are words, paths or lists: 2..6,8. */
#include "cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_put_word(FILE *f, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=:+@%";
    if (*text && text[strspn(text, plain)] == '\0') {
        fputs(text, f);
        return;
    }
    fputc('\'', f);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", f);
        else
            fputc(*text, f);
    fputc('\'', f);
}

bool cli_is_path(const char *text)
{
    return strpbrk(text, "./") || access(text, F_OK) == 0;
}

/* "7" or "2..6" at the beginning of the text; what follows it, or NULL when it is neither. */
static const char *read_range(const char *text, long *from, long *to)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    *from = *to = strtol(text, &end, 10);
    if (strncmp(end, "..", 2) == 0) {
        text = end + 2;
        if (*text < '0' || *text > '9')
            return NULL;
        *to = strtol(text, &end, 10);
    }
    return *end == '\0' || *end == ',' ? end : NULL;
}

int cli_read_list(cli *c, const char *option, const char *text, cli_list *list)
{
    const char *rest = text;
    list->n = 0;
    do {
        long from, to;
        rest = read_range(rest + (*rest == ','), &from, &to);
        if (!rest || from < 1 || to < from || to > INT_MAX)
            return cli_misuse(c, "--%s needs whole numbers of at least 1 like %s, not '%s'", option,
                              strcmp(c->command, "choose") == 0 ? "2,3 or 2..6" : "8,4,2", text);
        if (list->n + (to - from) >= CLI_MAX_LIST)
            return cli_misuse(c, "--%s takes at most %d numbers, '%s' has more", option, CLI_MAX_LIST, text);
        for (long k = from; k <= to; k++)
            list->value[list->n++] = k;
    } while (*rest);
    return CLI_GO;
}
