// Products for x86-64-v3; CMakeLists.txt gives this file's -march.
#include "runtime/kernels/cpu/gemm_own_body.h"

namespace mtc::runtime {
const OwnKernels kOwnF32V3 = kWideKernels<float>;
const OwnKernels kOwnBf16V3 = kWideKernels<Bf16>;
const OwnKernels kOwnF16V3 = kWideKernels<F16>;
} // namespace mtc::runtime
