/* simd.c - the table of the vector backend for the instruction set being compiled. */
#include "backend/simd/simd.h"

const vh_backend VH_NAME(vh_backend) = {
    .name = VH_TEXT(VH_ISA),
    .usable = VH_NAME(vh_usable),
    .forward_backward = VH_NAME(vh_simd_forward_backward),
    .score = VH_NAME(vh_simd_score),
    .accumulate = VH_NAME(vh_simd_accumulate),
    .product = VH_NAME(vh_simd_product),
};
