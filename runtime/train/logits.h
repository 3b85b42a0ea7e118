//===- logits.h - keeps the logits of a forward pass ------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_LOGITS_H
#define MTC_RUNTIME_TRAIN_LOGITS_H

#include "runtime/program/rank.h"
#include "runtime/train/pieces.h"

#include <deque>
#include <vector>

namespace mtc::runtime {

/// Copies the export `logits` of entry `eval` after each microbatch.
class LogitsCapture final : public Observer {
public:
  explicit LogitsCapture(RankState &rank);
  /// Errors: usage, on a last stage whose program does not export logits.
  Status check() const;
  Status ran(const MtcStep &row) override;
  /// Parts of `logits` [global_batch, ...]; valid while this lives.
  const std::vector<Piece> &pieces() const { return pieces_; }

private:
  /// The exported elements, as fp32.
  std::vector<float> widened(int64_t count) const;

  RankState &rank_;
  const ExportInfo *export_ = nullptr;
  std::deque<std::vector<float>> data_; ///< a deque keeps addresses
  std::vector<Piece> pieces_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_LOGITS_H
