// Products for x86-64-v3; CMakeLists.txt gives this file's -march.
#include "runtime/kernels/cpu/gemm_own_body.h"

namespace mtc::runtime {
const OwnKernelSet kOwnV3 = {kWideKernels<float>, kWideKernels<Bf16>,
                             kWideKernels<F16>};
} // namespace mtc::runtime
