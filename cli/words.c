/* SPDX-License-Identifier: BSD-3-Clause */
/* words.c - arguments that are words or lists: names of strategies, 2..6,8. */
#include "cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cli_one_of(const char *text, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(text, *names) == 0)
            return true;
    return false;
}

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

int cli_check_word(cli *c, const char *option, const char *words, const char *text)
{
    if (strpbrk(text, "./") || access(text, F_OK) == 0)
        return CLI_GO;
    return cli_misuse(c, "--%s is %s or a file; '%s' is none of them", option, words, text);
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
            return cli_misuse(c, "--%s needs whole numbers of at least 1 like 8,4,2 or 2..6, not '%s'",
                              option, text);
        if (list->n + (to - from) >= CLI_MAX_LIST)
            return cli_misuse(c, "--%s takes at most %d numbers, '%s' has more", option, CLI_MAX_LIST, text);
        for (long k = from; k <= to; k++)
            list->value[list->n++] = (int)k;
    } while (*rest);
    return CLI_GO;
}
