/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c - the version, and a description of each status. */
#include "vhem.h"

const char *vhem_version(void)
{
    return VHEM_VERSION;
}

const char *vhem_status_text(vhem_status st)
{
    switch (st) {
    case VHEM_OK: return "ok";
    case VHEM_ENOMEM: return "out of memory";
    case VHEM_EINVAL: return "invalid argument";
    case VHEM_EIO: return "input or output failed";
    case VHEM_EFORMAT: return "wrong file format";
    case VHEM_ENUMERIC: return "numerical failure";
    case VHEM_EBACKEND: return "backend failure";
    case VHEM_ESTOPPED: return "stopped on request";
    }
    return "unknown status";
}
