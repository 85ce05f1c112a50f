/* SPDX-License-Identifier: BSD-3-Clause */
/* system.h - the process and the machine: arguments, signals, time, processors, memory. */
#ifndef VH_OS_SYSTEM_H
#define VH_OS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At the start of a program: the arguments in UTF-8, and standard streams without translation of bytes. */
char **vh_arguments(int *argc, char **argv);

/* Why a program is asked to stop: Ctrl-C; another program; a launcher of many, by the signal for users. */
typedef enum { VH_STOP_KEYS, VH_STOP_PROGRAM, VH_STOP_LAUNCHER } vh_stop_cause;
typedef void vh_stop_function(vh_stop_cause cause);
/* Calls f, in a signal handler, instead of ending the program. */
void vh_on_stop(vh_stop_function *f, bool launcher_too);

int64_t vh_nanoseconds(void); /* of a clock that only goes forward; allowed in signal handlers */
void vh_sleep(int64_t nanoseconds);
int64_t vh_process_id(void);
int vh_cores(void);        /* processors of the machine */
int vh_cores_usable(void); /* those that this process may run on */

/* Memory, 64-byte aligned and released with free(); NULL when there is none. */
void *vh_memory_aligned(size_t bytes);
/* Returns free memory to the system where the C library can. */
void vh_memory_trim(void);
/* Limits what the process may allocate. */
bool vh_memory_limit(int64_t bytes);
bool vh_memory_is_limited(void);

/* log |Gamma(x)|, from several threads at once. */
double vh_log_gamma(double x);

#endif
