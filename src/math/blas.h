/* SPDX-License-Identifier: BSD-3-Clause */
/* blas.h - what of BLAS belongs to the whole process: its threads. */
#ifndef VHEM_MATH_BLAS_H
#define VHEM_MATH_BLAS_H

/* BLAS must run with one thread inside our own threads.  The setting is the process's: the first computation
 * to enter takes it, the last to leave gives back what was there.  Calls come in pairs. */
void vh_blas_enter(void);
void vh_blas_leave(void);

#endif
