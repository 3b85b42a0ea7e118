// The kernel bodies for x86-64-v4-bf16; CMakeLists.txt gives this file's
// -march.
#include "runtime/kernels/cpu/attention_backward.h"
#include "runtime/kernels/cpu/attention_forward.h"
#include "runtime/kernels/cpu/f16_body.h"
#include "runtime/kernels/cpu/norm_body.h"
#include "runtime/kernels/cpu/normal_body.h"

namespace mtc::runtime {
const KernelTable kKernelsV4Bf16 = {attentionForward, attentionBackward,
                                    normChunk,        normalRun,
                                    widenF16Range,    roundToF16Range};
} // namespace mtc::runtime
