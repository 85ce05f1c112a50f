/* SPDX-License-Identifier: BSD-3-Clause */
/* own.h - ownership.  Declare a variable that must be released with its owner: the owner releases it on every
 * return, in reverse order of declaration.  vh_take moves a pointer out of its owner.
 *
 *     VH_AUTOFREE double *work = NULL;            memory of malloc or vh_alloc
 *     VH_OWN(vh_h3m) *models = NULL;              an object whose type VH_OWNED registered
 *     VH_CLEANUP(vh_names_free) vh_names seen = { 0 };
 *     *out = vh_take(models);                     now the caller's */
#ifndef VH_CORE_OWN_H
#define VH_CORE_OWN_H

#include "vhem/types.h"
#include "vhem/classes.h"
#include "vhem/distributed.h"

#include <stdlib.h>
#include <string.h>

/* Calls release(&variable) at the end of the block. */
#define VH_CLEANUP(release) __attribute__((cleanup(release)))

/* Goes beside the function that releases a type: VH_OWNED(vh_h3m, vh_h3m_free). */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type in parentheses is no declaration */
#define VH_OWNED(type, release)                       \
    static inline void type##_own_release(type **own) \
    {                                                 \
        release(*own);                                \
    }
#define VH_OWN(type) VH_CLEANUP(type##_own_release) type
/* NOLINTEND(bugprone-macro-parentheses) */
#define VH_AUTOFREE  VH_CLEANUP(vh_autofree)

static inline void vh_autofree(void *own)
{
    void *memory;
    memcpy(&memory, own, sizeof memory);
    free(memory);
}

/* Returns the pointer p and sets p to NULL. */
#define vh_take(p)                  \
    __extension__({                 \
        __typeof__(p) taken_ = (p); \
        (p) = NULL;                 \
        taken_;                     \
    })

void vh_object_free(void *object); /* vhem_free */

/* Public types that vhem_free releases. */
VH_OWNED(vhem_models, vh_object_free)
VH_OWNED(vhem_data, vh_object_free)
VH_OWNED(vhem_tree, vh_object_free)
VH_OWNED(vhem_tags, vh_object_free)
VH_OWNED(vhem_classes, vh_object_free)
VH_OWNED(vhem_partial, vh_object_free)
VH_OWNED(vhem_task, vh_object_free)
VH_OWNED(vhem_items, vh_object_free)
VH_OWNED(vhem_fit_report, vh_object_free)
VH_OWNED(vhem_prediction, vh_object_free)
VH_OWNED(vhem_judgement, vh_object_free)
VH_OWNED(vhem_output, vh_object_free)

#endif
