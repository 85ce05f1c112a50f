/* SPDX-License-Identifier: BSD-3-Clause */
/* emission.c - the table of emission families.  A new one is a file, an entry here and its name below. */
#include "model/emission.h"

#include <string.h>

static const vh_emission *const families[] = { &vh_gaussian_diag, &vh_gaussian_full };
enum { N_FAMILIES = sizeof families / sizeof families[0] };

const vh_emission *vh_emission_find(const char *name)
{
    for (int i = 0; i < N_FAMILIES; i++)
        if (strcmp(families[i]->name, name) == 0)
            return families[i];
    return NULL;
}

const char *vh_emission_names(void)
{
    return "gaussian-diag, gaussian-full";
}
