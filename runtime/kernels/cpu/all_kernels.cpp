//===- all_kernels.cpp - every set, for what is not a program -------------===//
//
// A program defines `mtc_kernel_sets` itself, so that this file is not taken
// from the archive.
//
//===----------------------------------------------------------------------===//
#include "runtime/kernels/cpu/kernel_sets.h"

namespace mtc::runtime {

extern "C" {
extern const KernelSet mtc_kernels_x86_64_v3, mtc_products_x86_64_v3_f32,
    mtc_products_x86_64_v3_bf16, mtc_products_x86_64_v3_fp16,
    mtc_kernels_x86_64_v4, mtc_products_x86_64_v4_f32,
    mtc_products_x86_64_v4_bf16, mtc_products_x86_64_v4_fp16,
    mtc_kernels_x86_64_v4_bf16, mtc_products_x86_64_v4_bf16_f32,
    mtc_products_x86_64_v4_bf16_bf16, mtc_products_x86_64_v4_bf16_fp16,
    mtc_kernels_x86_64_v4_amx, mtc_products_x86_64_v4_amx_f32,
    mtc_products_x86_64_v4_amx_bf16, mtc_products_x86_64_v4_amx_fp16;

const KernelSet *const mtc_kernel_sets[] = {&mtc_kernels_x86_64_v3,
                                            &mtc_products_x86_64_v3_f32,
                                            &mtc_products_x86_64_v3_bf16,
                                            &mtc_products_x86_64_v3_fp16,
                                            &mtc_kernels_x86_64_v4,
                                            &mtc_products_x86_64_v4_f32,
                                            &mtc_products_x86_64_v4_bf16,
                                            &mtc_products_x86_64_v4_fp16,
                                            &mtc_kernels_x86_64_v4_bf16,
                                            &mtc_products_x86_64_v4_bf16_f32,
                                            &mtc_products_x86_64_v4_bf16_bf16,
                                            &mtc_products_x86_64_v4_bf16_fp16,
                                            &mtc_kernels_x86_64_v4_amx,
                                            &mtc_products_x86_64_v4_amx_f32,
                                            &mtc_products_x86_64_v4_amx_bf16,
                                            &mtc_products_x86_64_v4_amx_fp16,
                                            nullptr};
}

} // namespace mtc::runtime
