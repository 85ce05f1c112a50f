/* SPDX-License-Identifier: BSD-3-Clause */
/* words.c - text for terminals; arguments that are words, paths, lists, 2..6,8, or amounts of memory. */
#include "cli.h"
#include "os/path.h"
#include "os/stream.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the character that s [n] begins with; 0: it is not UTF-8; -1: it needs more bytes. */
static int utf8_length(const unsigned char *s, size_t n)
{
    unsigned a = s[0], least = a == 0xE0 ? 0xA0 : a == 0xF0 ? 0x90 : 0x80;
    unsigned most = a == 0xED ? 0x9F : a == 0xF4 ? 0x8F : 0xBF; /* neither overlong nor a surrogate */
    int length = a < 0x80 ? 1 : a < 0xC2 || a > 0xF4 ? 0 : a < 0xE0 ? 2 : a < 0xF0 ? 3 : 4;

    for (int k = 1; k < length; k++, least = 0x80, most = 0xBF) {
        if ((size_t)k == n)
            return -1;
        if (s[k] < least || s[k] > most)
            return 0;
    }
    return length;
}

bool cli_is_utf8(const char *text)
{
    int n = 1;
    for (const char *end = text + strlen(text); n > 0 && text < end; text += n)
        n = utf8_length((const unsigned char *)text, (size_t)(end - text));
    return n > 0;
}

/* The same, but less than 0 for a byte that is not UTF-8 and for a control character (those from 80 to 9f,
 * with which some terminals begin commands, follow a c2); 0: it needs more bytes. */
static int character(const unsigned char *s, size_t n)
{
    int length = utf8_length(s, n);
    if (length <= 0)
        return length == 0 ? -1 : 0;
    return s[0] < 0x20 || s[0] == 0x7F || (s[0] == 0xC2 && s[1] < 0xA0) ? -length : length;
}

void cli_clean(char *text)
{
    size_t left = strlen(text);
    char *to = text;
    while (left > 0) {
        int n = character((unsigned char *)text, left), length = n == 0 ? 1 : abs(n);
        if (n > 0)
            memmove(to, text, (size_t)n);
        else
            *to = '?';
        to += n > 0 ? n : 1;
        text += length;
        left -= (size_t)length;
    }
    *to = '\0';
}

static struct { /* standard output on its way to a terminal */
    FILE *f;
    unsigned char held[4]; /* a character that is not whole yet */
    size_t n;
} terminal;

static size_t terminal_write(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        terminal.held[terminal.n++] = (unsigned char)text[i];
        while (terminal.n > 0) {
            bool layout = terminal.held[0] == '\n' || terminal.held[0] == '\t';
            int n = layout ? 1 : character(terminal.held, terminal.n), length = abs(n);
            if (n == 0)
                break;
            fwrite(n > 0 ? (const char *)terminal.held : "?", 1, n > 0 ? (size_t)n : 1, terminal.f);
            terminal.n -= (size_t)length;
            memmove(terminal.held, terminal.held + length, terminal.n);
        }
    }
    return fflush(terminal.f) == 0 && !ferror(terminal.f) ? size : 0;
}

void cli_clean_terminal(void)
{
    if (!terminal.f && vh_is_terminal(stdout))
        terminal.f = vh_stdout_filter(terminal_write);
}

/* Bytes above 127 are of letters: a backslash is for characters. */
static bool is_plain(char x)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=:+@%";
    return (unsigned char)x > 127 || strchr(plain, x);
}

void cli_put_word(FILE *f, const char *text)
{
    if (!*text)
        fputs("''", f);
    for (; *text; text++) {
        if (*text == '\n') /* a backslash before it would take it away */
            fputs("$'\\n'", f);
        else
            fprintf(f, "%s%c", is_plain(*text) ? "" : "\\", *text);
    }
}

const char *cli_text_close(FILE *f, char **text, size_t *n, char *buf, size_t size)
{
    buf[0] = '\0';
    if (f && vh_memory_close(f, text, n))
        snprintf(buf, size, "%s", *text);
    free(*text);
    return buf;
}

const char *cli_word(const char *text, char *buf, size_t size)
{
    char *word = NULL;
    size_t n;
    FILE *f = vh_memory_open(&word, &n);
    if (f)
        cli_put_word(f, text);
    return cli_text_close(f, &word, &n, buf, size);
}

bool cli_is_path(const char *text)
{
    return strpbrk(text, "./") || vh_path_exists(text);
}

/* "7" or "2..6" at the beginning of the text; what follows it, or NULL when it is neither. */
static const char *read_range(const char *text, long long *from, long long *to)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    *from = *to = strtoll(text, &end, 10);
    if (strncmp(end, "..", 2) == 0) {
        text = end + 2;
        if (*text < '0' || *text > '9')
            return NULL;
        *to = strtoll(text, &end, 10);
    }
    return *end == '\0' || *end == ',' ? end : NULL;
}

int cli_read_list(cli *c, const char *option, const char *text, cli_list *list)
{
    const char *rest = text;
    list->n = 0;
    do {
        long long from, to;
        rest = read_range(rest + (*rest == ','), &from, &to);
        if (!rest || from < 1 || to < from || to > INT_MAX)
            return cli_misuse(c, "--%s needs whole numbers of at least 1 like %s, not '%s'", option,
                              strcmp(c->command, "choose") == 0 ? "2,3 or 2..6" : "8,4,2", text);
        if (list->n + (to - from) >= CLI_MAX_LIST)
            return cli_misuse(c, "--%s takes at most %d numbers, '%s' has more", option, CLI_MAX_LIST, text);
        for (long long k = from; k <= to; k++)
            list->value[list->n++] = k;
    } while (*rest);
    return CLI_GO;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const cli_entry *)a)->name, ((const cli_entry *)b)->name);
}

void cli_sort_names(cli_entry *list, size_t n)
{
    qsort(list, n, sizeof *list, by_name);
}

int64_t cli_find_name(const cli_entry *list, size_t n, const char *name)
{
    const cli_entry own = { name, 0 }, *found = bsearch(&own, list, n, sizeof *list, by_name);
    return found ? found->i : -1;
}

/* ---- amounts of memory --------------------------------------------------------------------------------- */

static const char unit[] = "KMGT";

bool cli_read_size(const char *text, int64_t *size)
{
    int64_t x = 0;
    size_t n = strspn(text, "0123456789");
    const char *letter = text[n] ? strchr(unit, text[n] >= 'a' ? text[n] - 'a' + 'A' : text[n]) : NULL;
    if (n == 0 || (text[n] && (!letter || text[n + 1])))
        return false;
    for (size_t k = 0; k < n; k++) {
        if (x > (INT64_MAX - 9) / 10)
            return false;
        x = 10 * x + (text[k] - '0');
    }
    int shift = letter ? 10 * (int)(letter - unit + 1) : 0;
    if (x > INT64_MAX >> shift)
        return false;
    *size = x << shift;
    return true;
}

const char *cli_put_size(int64_t size, char *buf, size_t room)
{
    const char *letter = "";
    for (const char *next = unit; *next && size > 0 && size % 1024 == 0; next++) {
        size /= 1024;
        letter = next;
    }
    snprintf(buf, room, "%lld%.1s", (long long)size, letter);
    return buf;
}
