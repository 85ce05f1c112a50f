/* SPDX-License-Identifier: BSD-3-Clause */
/* vhem.c - the command vhem. */
#include "cli.h"

#include <unistd.h>

int main(int argc, char **argv)
{
    cli c = { 0 };
    int status = cli_main(&c, argc, argv);
    if (status == EXIT_DONE)
        return status;
    fflush(NULL);
    _exit(status); /* HDF5 may fall over its own files at exit after a read or write that failed */
}
