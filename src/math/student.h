/* SPDX-License-Identifier: BSD-3-Clause */
/* student.h - the distribution of Student's t. */
#ifndef VH_MATH_STUDENT_H
#define VH_MATH_STUDENT_H

/* I_x(a, b), the regularised incomplete beta function; a, b > 0, 0 <= x <= 1. */
double vh_incomplete_beta(double a, double b, double x);

/* The probability of a value at least as far from 0 as t, with so many degrees of freedom. */
double vh_student_two_sided(double t, double freedom);

#endif
