/* SPDX-License-Identifier: BSD-3-Clause */
/* dtm_hdf5.h - sets of textures in open HDF5 files. */
#ifndef VH_DTM_DTM_HDF5_H
#define VH_DTM_DTM_HDF5_H

#include "files/hdf5.h"

vh_h5_get vh_dtm_get_hdf5; /* out: a vh_dtm ** */

#endif
