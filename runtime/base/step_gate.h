//===- step_gate.h - ranks agree on steps to end and to save ----*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_STEP_GATE_H
#define MTC_RUNTIME_BASE_STEP_GATE_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace mtc::runtime {

/// What a rank does in front of a step.
enum class StepTurn {
  run,  ///< it begins it
  save, ///< it first saves what is behind the step before, as all ranks do
  end   ///< the run ends before it
};

/// A run that is asked to stop ends behind the same step on every rank, so that
/// its parameters are those of one step, and one that is asked to save does so
/// behind the same step. A word that all ranks share has four times the highest
/// step that a rank began, plus 1 once the gate is closed: then no step begins
/// that none has begun, and every rank still runs the others. Plus 2 while
/// somebody asked to save behind that step. A second word has the last step
/// behind which ranks save for that. The words are the caller's and start as 0.
/// No rank ends a step that another has not begun: each step has a sum over all
/// of them. One whose device runs late may ask for the next step before the
/// last one has ended, but ranks that saved behind a step have met since, so
/// that no request is written over one that a rank has not read.
///
/// Ranks that share no memory have words of their own, and ask each other in
/// front of every step what was asked of one of them.
class StepGate {
public:
  /// What was asked of this rank becomes what was asked of any. All ranks call
  /// it together.
  using Ask = std::function<void(bool &closed, bool &asked)>;

  StepGate(std::atomic<int64_t> &word, std::atomic<int64_t> &saves,
           Ask others = {})
      : word_(&word), saves_(&saves), others_(std::move(others)) {}

  /// A rank is in front of `step`, one more than its last. `saved`: the last
  /// step behind which it saves; one that never does gives `step` - 1.
  StepTurn turn(int64_t step, int64_t saved) {
    hearOthers();
    int64_t seen = word_->load();
    while (step > seen >> 2) {
      if ((seen & kAsked) && saved != step - 1) {
        saves_->store(step); // 0 is none
        return StepTurn::save;
      }
      if (seen & kClosed)
        return StepTurn::end;
      if (word_->compare_exchange_weak(seen, step << 2))
        return StepTurn::run;
    }
    // Another rank began it, and if it saved before, this one does, too.
    return saves_->load() == step && saved != step - 1 ? StepTurn::save
                                                       : StepTurn::run;
  }
  /// From here on no rank begins a step that none has begun.
  void close() { word_->fetch_or(kClosed); }
  bool closed() const { return word_->load() & kClosed; }
  /// All ranks save behind the last step that one of them has begun.
  void askToSave() { word_->fetch_or(kAsked); }

private:
  void hearOthers() {
    if (!others_)
      return;
    int64_t seen = word_->load();
    bool closed = seen & kClosed, asked = seen & kAsked;
    others_(closed, asked);
    word_->fetch_or((closed ? kClosed : 0) | (asked ? kAsked : 0));
  }

  static constexpr int64_t kClosed = 1, kAsked = 2;
  std::atomic<int64_t> *word_, *saves_;
  Ask others_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_STEP_GATE_H
