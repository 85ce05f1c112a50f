#ifndef VH_DISTANCE_DTW_H
#define VH_DISTANCE_DTW_H
#include "data/data.h"
static inline vhem_status vh_dtw(vhem_ctx *ctx, const vhem_data *data, const void *opt, double *D) { (void)data;(void)opt;(void)D; return vh_fail(ctx, VHEM_EINVAL, "no dtw yet"); }
#endif
