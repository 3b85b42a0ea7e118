// Products for x86-64-v4-bf16; CMakeLists.txt gives this file's -march.
#include "runtime/kernels/cpu/gemm_own_body.h"

namespace mtc::runtime {
const OwnKernels kOwnF32V4Bf16 = kWideKernels<float>;
const OwnKernels kOwnBf16V4Bf16 = kPairKernels;
const OwnKernels kOwnF16V4Bf16 = kWideKernels<F16>;
} // namespace mtc::runtime
