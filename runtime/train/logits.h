//===- logits.h - keeps the logits of a forward pass ------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_LOGITS_H
#define MTC_RUNTIME_TRAIN_LOGITS_H

#include "runtime/pieces/pieces.h"
#include "runtime/program/rank.h"

#include <deque>
#include <vector>

namespace mtc::runtime {

/// Copies the export `logits` after each microbatch.
class LogitsCapture final : public Observer {
public:
  /// Of `entry`, one for evaluation.
  LogitsCapture(RankState &rank, const EntryInfo &entry);
  /// Waits: after a failure copies into this may still run.
  ~LogitsCapture() override;
  LogitsCapture(const LogitsCapture &) = delete;
  LogitsCapture &operator=(const LogitsCapture &) = delete;
  /// Errors: usage, on a last stage whose program does not export logits.
  Status check() const;
  Status issued(const MtcStep &row) override;
  /// Parts of `logits` [global_batch, ...] in fp32, once what was issued is
  /// done; they point into this. At most once.
  std::vector<Piece> takePieces();

private:
  /// The pieces of a microbatch of which this rank has parts that do not lie
  /// side by side in the whole: `all` has the data of all, and their box but
  /// for where they lie in that dimension.
  void addParts(Piece all);

  RankState &rank_;
  int64_t globalBatch_; ///< samples of the entry's step
  /// That of the fragment that was issued last, or of any before the first;
  /// null if there is none.
  const ExportInfo *export_ = nullptr;
  std::deque<std::vector<float>> data_; ///< a deque keeps addresses
  MtcDtype dtype_ = MTC_F32;            ///< of the logits in the arena
  std::deque<std::vector<uint16_t>>
      narrow_; ///< of 16 bits, to be widened to data_
  std::vector<Piece> pieces_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_LOGITS_H
