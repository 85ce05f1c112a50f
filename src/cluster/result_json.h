/* SPDX-License-Identifier: BSD-3-Clause */
/* result_json.h - clustering and tree files. */
#ifndef VH_CLUSTER_RESULT_JSON_H
#define VH_CLUSTER_RESULT_JSON_H

#include "cluster/clustering.h"
#include "cluster/tree.h"

#define VH_CLUSTERING_VERSION 1 /* of both formats; files up to this one are read */

#endif
