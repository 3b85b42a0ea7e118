//===- kernel_sets.cpp - the kernels of each instruction set --------------===//
//
// Each set lies in a section of its own: the linker drops those that a program
// does not name.
//
//===----------------------------------------------------------------------===//
#include "runtime/kernels/cpu/kernel_sets.h"

namespace mtc::runtime {

extern "C" const KernelSet mtc_kernels_x86_64_v3 = {.isa = "x86-64-v3",
                                                    .table = &kKernelsV3};
extern "C" const KernelSet mtc_products_x86_64_v3_f32 = {
    .isa = "x86-64-v3", .type = MTC_F32, .products = &kOwnF32V3};
extern "C" const KernelSet mtc_products_x86_64_v3_bf16 = {
    .isa = "x86-64-v3", .type = MTC_BF16, .products = &kOwnBf16V3};
extern "C" const KernelSet mtc_products_x86_64_v3_fp16 = {
    .isa = "x86-64-v3", .type = MTC_F16, .products = &kOwnF16V3};

extern "C" const KernelSet mtc_kernels_x86_64_v4 = {.isa = "x86-64-v4",
                                                    .table = &kKernelsV4};
extern "C" const KernelSet mtc_products_x86_64_v4_f32 = {
    .isa = "x86-64-v4", .type = MTC_F32, .products = &kOwnF32V4};
extern "C" const KernelSet mtc_products_x86_64_v4_bf16 = {
    .isa = "x86-64-v4", .type = MTC_BF16, .products = &kOwnBf16V4};
extern "C" const KernelSet mtc_products_x86_64_v4_fp16 = {
    .isa = "x86-64-v4", .type = MTC_F16, .products = &kOwnF16V4};

extern "C" const KernelSet mtc_kernels_x86_64_v4_bf16 = {
    .isa = "x86-64-v4-bf16", .table = &kKernelsV4Bf16};
extern "C" const KernelSet mtc_products_x86_64_v4_bf16_f32 = {
    .isa = "x86-64-v4-bf16", .type = MTC_F32, .products = &kOwnF32V4Bf16};
extern "C" const KernelSet mtc_products_x86_64_v4_bf16_bf16 = {
    .isa = "x86-64-v4-bf16", .type = MTC_BF16, .products = &kOwnBf16V4Bf16};
extern "C" const KernelSet mtc_products_x86_64_v4_bf16_fp16 = {
    .isa = "x86-64-v4-bf16", .type = MTC_F16, .products = &kOwnF16V4Bf16};

extern "C" const KernelSet mtc_kernels_x86_64_v4_amx = {
    .isa = "x86-64-v4-amx", .table = &kKernelsV4Bf16};
extern "C" const KernelSet mtc_products_x86_64_v4_amx_f32 = {
    .isa = "x86-64-v4-amx", .type = MTC_F32, .products = &kOwnF32V4Bf16};
extern "C" const KernelSet mtc_products_x86_64_v4_amx_bf16 = {
    .isa = "x86-64-v4-amx",
    .type = MTC_BF16,
    .products = &kOwnAmx,
    .attention = &kAttentionAmx};
extern "C" const KernelSet mtc_products_x86_64_v4_amx_fp16 = {
    .isa = "x86-64-v4-amx", .type = MTC_F16, .products = &kOwnF16V4Bf16};

} // namespace mtc::runtime
