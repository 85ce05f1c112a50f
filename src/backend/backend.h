/* backend.h - the kernel table: everything that is worth doing differently on different hardware. */
#ifndef VH_BACKEND_BACKEND_H
#define VH_BACKEND_BACKEND_H

#include "core/ctx.h"

typedef struct vh_backend {
    const char *name;
    bool      (*usable)(void);
} vh_backend;

#endif
