//===- attention_call.h - rt.attention as the runtime takes it --*- C++ -*-===//
#ifndef MTC_PASSES_TARGET_ATTENTION_CALL_H
#define MTC_PASSES_TARGET_ATTENTION_CALL_H

#include "dialects/rt/Rt.h"
#include "mtc/runtime/abi.h"

namespace mtc::target {

/// Shapes, strides and attributes of a call, read from the op alone, on tensors
/// or on views.
MtcAttention attentionCall(rt::AttentionOp op);

} // namespace mtc::target
#endif // MTC_PASSES_TARGET_ATTENTION_CALL_H
