/* SPDX-License-Identifier: BSD-3-Clause */
/* assets.h - report.css and report.js, verbatim; the build generates report_assets.c from them. */
#ifndef VH_REPORT_ASSETS_H
#define VH_REPORT_ASSETS_H

#include <stddef.h>

extern const unsigned char vh_report_css[], vh_report_js[];
extern const size_t vh_report_css_size, vh_report_js_size;

#endif
