// Products for x86-64-v4; CMakeLists.txt gives this file's -march.
#include "runtime/kernels/cpu/gemm_own_body.h"

namespace mtc::runtime {
const OwnKernels kOwnF32V4 = kWideKernels<float>;
const OwnKernels kOwnBf16V4 = kWideKernels<Bf16>;
const OwnKernels kOwnF16V4 = kWideKernels<F16>;
} // namespace mtc::runtime
