/* SPDX-License-Identifier: BSD-3-Clause */
/* bessel.h - modified Bessel functions of the first kind, for angles. */
#ifndef VH_MATH_BESSEL_H
#define VH_MATH_BESSEL_H

/* log I0(x) - x, x >= 0; always finite. */
double vh_log_bessel0(double x);
/* I1(x) / I0(x), x >= 0. */
double vh_bessel_ratio(double x);

#endif
