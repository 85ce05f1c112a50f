/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_texture.c - the centre of a cluster of dynamic textures: the modes of its state (eigenvalues of A),
 * in the unit circle and as times. */
#include "math/linalg.h"
#include "report/figures.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 250, EDGE = 22, MOST_ROWS = 8 };

/* Not cabs(): compilers and C libraries of Windows do not agree on how a complex number is passed. */
static double modulus(double complex m)
{
    return hypot(creal(m), cimag(m));
}

static int by_radius(const void *a, const void *b)
{
    const double complex *p = a, *q = b;
    double x = modulus(*p), y = modulus(*q);
    return x > y                   ? -1
           : x < y                 ? 1
           : creal(*p) > creal(*q) ? -1
           : creal(*p) < creal(*q) ? 1
           : cimag(*p) > cimag(*q) ? -1
                                   : 1;
}

double complex *vh_texture_modes(const vh_facts *facts, const vhem_dt_view *t, int *found)
{
    size_t n = (size_t)t->n;
    double complex *mode = vh_facts_room(facts, n, sizeof *mode);
    double *A = vh_facts_room(facts, n * n + 2 * n, sizeof *A), *w = A ? A + n * n : NULL;
    *found = 0;
    if (mode && A) {
        memcpy(A, t->A, n * n * sizeof *A);
        *found = vh_eigenvalues(t->n, A, w) ? t->n : 0;
    }
    for (int k = 0; k < *found; k++)
        mode[k] = w[k] + w[(int)n + k] * I;
    if (*found > 0)
        qsort(mode, (size_t)*found, sizeof *mode, by_radius);
    free(A);
    return mode;
}

/* Frames until a mode decays to 1/e; infinity if it does not decay. */
double vh_mode_decay(const double complex *m)
{
    double r = modulus(*m);
    return r >= 1 ? INFINITY : r > 0 ? -1 / log(r) : 0;
}

/* Frames per period; infinity if it does not oscillate. */
double vh_mode_period(const double complex *m)
{
    double angle = fabs(atan2(cimag(*m), creal(*m)));
    return angle > 1e-9 ? 2 * VH_PI / angle : INFINITY;
}

/* Draws the unit circle, the axes, and a dot per mode. */
static void draw_modes(FILE *f, const double complex *mode, int n, const char *title)
{
    double c = SIDE / 2.0, r = c - EDGE;
    char tip[VH_TIP_MAX];

    vh_svg_begin(f, SIDE, SIDE, title, "The eigenvalues of A as dots in the unit circle.");
    vh_svg_line(f, c - r - 8, c, c + r + 8, c, vh_paint("grid"));
    vh_svg_line(f, c, c - r - 8, c, c + r + 8, vh_paint("grid"));
    fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" %s/>\n", c, c, r, vh_paint("axis"));
    vh_svg_text(f, c + r + 5, c - 5, 's', vh_paint("soft"), "1", 4);
    vh_svg_text(f, c + 5, c - r - 6, 's', vh_paint("soft"), "i", 4);
    for (int k = 0; k < n; k++) {
        snprintf(tip, sizeof tip, "Mode %d: %.4f %c %.4fi, |eigenvalue| %.4f", k, creal(mode[k]),
                 cimag(mode[k]) < 0 ? '-' : '+', fabs(cimag(mode[k])), modulus(mode[k]));
        vh_svg_circle(f, c + r * fmax(-1.1, fmin(1.1, creal(mode[k]))),
                      c - r * fmax(-1.1, fmin(1.1, cimag(mode[k]))), 5, vh_paint_series(0),
                      "fill-opacity=\"0.75\"", tip);
    }
    vh_svg_end(f);
}

static void put_time(FILE *f, double frames, const char *never)
{
    if (isfinite(frames))
        fprintf(f, frames < 1000 ? "<td>%.3g frames</td>" : "<td>%.0f frames</td>", frames);
    else
        fprintf(f, "<td>%s</td>", never);
}

/* Writes a row per mode; a conjugate pair of eigenvalues shares one. */
static void put_modes(FILE *f, const double complex *mode, int n)
{
    int rows = 0, k = 0;
    fputs("<table class=\"states\"><thead><tr><th scope=\"col\">mode</th><th scope=\"col\">|eigenvalue|</th>"
          "<th scope=\"col\">fades in</th><th scope=\"col\">swings once in</th></tr></thead><tbody>\n",
          f);
    for (; k < n && rows < MOST_ROWS; k++, rows++) {
        bool pair = k + 1 < n && cimag(mode[k]) != 0 && cimag(mode[k + 1]) == -cimag(mode[k]);
        fprintf(f, pair ? "<tr><th scope=\"row\">%d, %d</th>" : "<tr><th scope=\"row\">%d</th>", k, k + 1);
        fprintf(f, "<td>%.4f</td>", modulus(mode[k]));
        put_time(f, vh_mode_decay(&mode[k]), "never");
        put_time(f, vh_mode_period(&mode[k]), "-");
        fputs("</tr>\n", f);
        k += pair;
    }
    fputs("</tbody></table>\n", f);
    if (k < n)
        fprintf(f, "<p class=\"soft\">and %d that fade faster</p>\n", n - k);
}

void vh_figure_texture(FILE *f, const vh_facts *facts, const vhem_dt_view *t, int l, int j)
{
    int n;
    double complex *mode = vh_texture_modes(facts, t, &n);
    char name[64], title[96];

    if (n > 0) {
        snprintf(name, sizeof name, "center-%d-%d-modes", l + 1, j);
        snprintf(title, sizeof title, "Modes of the centre of cluster %d, level %d", j, l + 1);
        fputs("<div class=\"pair\">\n", f);
        vh_figure_begin(f, name, -1);
        draw_modes(f, mode, n, title);
        vh_figure_caption(f, "Modes");
        vh_figure_end(f);
        fprintf(f,
                "<ul class=\"facts\"><li><span>dimension of the state, n</span> <b>%d</b></li><li><span>"
                "dimension of a frame, d</span> <b>%d</b></li><li><span>spectral radius of A</span> "
                "<b>%.4f</b></li></ul></div>\n",
                t->n, t->d, modulus(mode[0]));
        put_modes(f, mode, n);
    } else {
        fprintf(f,
                "<p class=\"note\">State of dimension %d, frames of dimension %d; the eigenvalues of A "
                "could not be found.</p>\n",
                t->n, t->d);
    }
    free(mode);
}
