/* vmath.h - exp and log that the compiler may put into vector loops.  The C library has vector forms of both but
 * offers them only to code built with unsafe arithmetic; saying that they exist is all that is missing.  Without them
 * (another C library or compiler) the loops call the scalar functions, with the same results to a few ulp. */
#ifndef VH_BACKEND_SIMD_VMATH_H
#define VH_BACKEND_SIMD_VMATH_H

#include <math.h>

#ifdef VH_HAVE_LIBMVEC
__attribute__((__simd__("notinbranch"))) extern double exp(double);
__attribute__((__simd__("notinbranch"))) extern double log(double);
#endif

#endif
