//===- step_gate.h - ranks agree on their last step -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_STEP_GATE_H
#define MTC_RUNTIME_BASE_STEP_GATE_H

#include <atomic>
#include <cstdint>

namespace mtc::runtime {

/// A run that is asked to stop ends behind the same step on every rank, so that
/// its parameters are those of one step. A word that all ranks share has twice
/// the highest step that a rank began, plus 1 once the gate is closed: then it
/// grows no more, and every rank still runs the steps that one of them began.
/// The word is the caller's and starts as 0.
class StepGate {
public:
  explicit StepGate(std::atomic<int64_t> &word) : word_(&word) {}

  /// A rank is about to begin `step`, one more than its last. False: the run
  /// ends before it.
  bool begin(int64_t step) {
    int64_t seen = word_->load();
    while (step > seen >> 1) {
      if (seen & 1)
        return false;
      if (word_->compare_exchange_weak(seen, step << 1))
        return true;
    }
    return true;
  }
  /// From here on no rank begins a step that none has begun.
  void close() { word_->fetch_or(1); }
  bool closed() const { return word_->load() & 1; }

private:
  std::atomic<int64_t> *word_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_STEP_GATE_H
