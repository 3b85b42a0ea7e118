//===- data.h - feeds a rank with its samples -------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_DATA_H
#define MTC_RUNTIME_TRAIN_DATA_H

#include "runtime/data/sources.h"
#include "runtime/program/rank.h"
#include "runtime/train/positions.h"
#include "runtime/train/step_documents.h"

#include <memory>
#include <vector>

namespace mtc::runtime {

/// The samples of a step, or of a batch of an evaluation.
struct GlobalBatch {
  int64_t number = 0; ///< of the step, from 1
  int64_t first = 0;  ///< sample
  int64_t samples = 0;
  bool operator==(const GlobalBatch &) const = default;
};

/// Feeds a rank with the positions that it has of its samples: microbatch k of
/// dp rank r holds the samples first + (k·dp + r)·micro_batch + [0,
/// micro_batch) of the batch. The tokens of two steps are in memory: a file
/// that is cut or changed is noticed before the step that needs it.
class TokenLoader final : public DataLoader {
public:
  /// Opens samples of `seq` tokens. Only ranks whose program has inputs read
  /// them. `files` may be null where nothing is fetched later: in a run without
  /// steps.
  Status open(const SourceFiles *files, const RankState &rank, int64_t seq);
  /// Reads the samples of a batch, at most as many as the program's largest
  /// has. Errors: those of SampleSource::read, with step and sample.
  Status fetch(const GlobalBatch &batch);
  /// From here on `load` gives samples of this batch, which was fetched last or
  /// before that; else it is now.
  Status turnTo(const GlobalBatch &batch);
  Status load(const InputInfo &in, int64_t microbatch, int32_t *out) override;

private:
  struct Samples {
    GlobalBatch batch;           ///< of no samples: none
    std::vector<int32_t> tokens; ///< seq + 1 of each, by microbatch
    StepDocuments documents;
  };
  int64_t sampleAt(int64_t first, int64_t index) const;
  /// Errors: `sample` is then the one that failed.
  Status read(const GlobalBatch &batch, int64_t &sample);

  std::unique_ptr<SampleSource> source_; ///< null: none was prepared
  bool reads_ = false;
  BatchInfo batch_;
  int64_t seq_ = 0, dp_ = 1, dpRank_ = 0;
  std::vector<Positions> parts_; ///< of each sample
  Samples now_, next_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_DATA_H
