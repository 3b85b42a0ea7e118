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

  /// Calls of these so far, also of those that had nothing to do: as many in
  /// each rank that walks the same rows.
  int64_t count() const { return count_; }

  virtual void launch(int32_t kernel, int64_t blocks,
                      void *const *arguments) = 0;
  virtual void attention(const MtcAttention &shape,
                         const AttentionOperands &operands, bool backward) = 0;
  /// Makes the block of what `order` says and of the updates so far
  /// (update_state.h).
  virtual void stepBegin(MtcStepState *state) = 0;
  /// Behind `repeats` repeats of a period, or, if negative, back from them:
  /// the first sample of the step, and with it what microbatches have of their
  /// own, moves by `samples`.
  virtual void moveOn(MtcStepState *state, int64_t samples,
                      int64_t repeats) = 0;
  /// Copies `bytes` bytes, a multiple of 4 at an aligned place, from `from`,
  /// `stride` bytes further for each repeat that was left behind.
  virtual void take(MtcStepState *state, void *to, const void *from,
                    int64_t bytes, int64_t stride) = 0;
  virtual void normReset(MtcStepState *state) = 0;
  virtual void normAccumulate(MtcStepState *state, MtcDtype dtype,
                              const void *g, int64_t count) = 0;
  virtual void normCheck(MtcStepState *state, const void *x, int64_t count) = 0;
  /// Also counts the step.
  virtual void normFinish(MtcStepState *state) = 0;
  /// Nothing is zeroed where `asked`, of the step's state, is 0; null: always.
  virtual void zero(void *p, int64_t bytes, const int32_t *asked) = 0;

  /// Those of a context; null: the host's own functions.
  static DeviceCalls *of(const MtcContext *ctx) {
    return static_cast<DeviceCalls *>(ctx->device);
  }

protected:
  void countOne() { ++count_; }

private:
  int64_t count_ = 0;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_DEVICE_CALLS_H
