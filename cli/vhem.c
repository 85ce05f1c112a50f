/* SPDX-License-Identifier: BSD-3-Clause */
/* vhem.c - the command vhem. */
#include "cli.h"
#include "os/system.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    cli c = { 0 };
    argv = vh_arguments(&argc, argv);
    int status = cli_main(&c, argc, argv);
    if (status == EXIT_DONE)
        return status;
    fflush(NULL);
    _Exit(status); /* HDF5 may fall over its own files at exit after a read or write that failed */
}
