//===- step_documents.h - documents of a step's samples ---------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_STEP_DOCUMENTS_H
#define MTC_RUNTIME_TRAIN_STEP_DOCUMENTS_H

#include "runtime/data/samples.h"
#include "runtime/program/rank.h"
#include "runtime/train/positions.h"

#include <span>
#include <vector>

namespace mtc::runtime {

/// What a rank must know of the documents in the samples of a global batch: of
/// its own samples where each document begins, and, where tokens are left out
/// of the loss, how many are in it of each of its microbatches and of the whole
/// batch. So it looks at all samples of the batch, and no rank asks another.
class StepDocuments {
public:
  /// For samples of `seq` tokens. Without an input that asks for documents
  /// nothing is kept, and read() does nothing.
  void open(const Descriptor &program, int64_t seq, int64_t replica);

  /// Looks at the samples [first, first + count) of a batch, at most as many as
  /// the program's largest has. Errors: those of SampleSource::documentStarts;
  /// `sample` is then the one that failed.
  Status read(const SampleSource &source, int64_t first, int64_t count,
              int64_t &sample);

  /// Writes an input of a microbatch of this replica: for each of its samples
  /// the positions of `parts`.
  void write(InputKind kind, int64_t microbatch,
             std::span<const Positions> parts, int32_t *out) const;

private:
  void place(int64_t own);
  float weightOf(InputKind kind, int64_t microbatch) const;
  bool endsDocument(int64_t own, int64_t position) const {
    int64_t next = position + 1;
    return starts_[own * (seq_ + 1) + next] == next;
  }

  bool wanted_ = false, weighs_ = false;
  int64_t seq_ = 0, microBatch_ = 1, replicas_ = 1, replica_ = 0;
  /// Of each own sample, for each of its seq + 1 tokens: the position at which
  /// its document begins, 0 if that is before the sample.
  std::vector<int32_t> starts_;
  std::vector<int64_t> inLoss_;        ///< tokens, by own microbatch
  int64_t allInLoss_ = 0, blocks_ = 0; ///< of the batch; its microbatches
  std::vector<int32_t> found_;         ///< of one sample
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_STEP_DOCUMENTS_H
