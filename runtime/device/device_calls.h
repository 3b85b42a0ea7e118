//===- device_calls.h - what a device does for fragments --------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_DEVICE_CALLS_H
#define MTC_RUNTIME_DEVICE_DEVICE_CALLS_H

#include "mtc/runtime/abi.h"

namespace mtc::runtime {

/// Arguments of mtc_attention_forward and mtc_attention_backward (abi.h);
/// those of the other one are null.
struct AttentionOperands {
  const void *q, *k, *v;
  const int32_t *documents;
  void *out, *lse; ///< backward reads them
  const void *dout;
  void *dq, *dk, *dv;
  void *scratch;
  int64_t sample, head, begin, begin2;
};

/// The functions of abi.h that the host would do at once, as work of a device's
/// stream of fragments: addresses are the device's. What fails stops the
/// stream, which says so where somebody waits for it or launches the next
/// fragment; later calls do nothing.
class DeviceCalls {
public:
  virtual ~DeviceCalls() = default;

  virtual void launch(int32_t kernel, int64_t blocks,
                      void *const *arguments) = 0;
  virtual void attention(const MtcAttention &shape,
                         const AttentionOperands &operands, bool backward) = 0;
  virtual void normReset(MtcStepState *state) = 0;
  virtual void normAccumulate(MtcStepState *state, MtcDtype dtype,
                              const void *g, int64_t count) = 0;
  virtual void normCheck(MtcStepState *state, const void *x, int64_t count) = 0;
  virtual void normFinish(MtcStepState *state) = 0;
  /// Nothing is zeroed where `applies`, of the step block, is 0; null: always.
  virtual void zero(void *p, int64_t bytes, const int32_t *applies) = 0;

  /// Those of a context; null: the host's own functions.
  static DeviceCalls *of(const MtcContext *ctx) {
    return static_cast<DeviceCalls *>(ctx->device);
  }
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_DEVICE_CALLS_H
