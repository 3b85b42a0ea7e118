// Products for x86-64-v4-bf16; CMakeLists.txt gives this file's -march.
#include "runtime/kernels/cpu/gemm_own_body.h"

namespace mtc::runtime {
const OwnKernelSet kOwnV4Bf16 = {kWideKernels<float>, kPairKernels,
                                 kWideKernels<F16>};
} // namespace mtc::runtime
