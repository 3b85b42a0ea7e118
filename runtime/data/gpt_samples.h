//===- gpt_samples.h - samples of a corpus by its index ---------*- C++ -*-===//
#ifndef MTC_RUNTIME_DATA_GPT_SAMPLES_H
#define MTC_RUNTIME_DATA_GPT_SAMPLES_H

#include "runtime/data/gpt_index.h"
#include "runtime/data/indexed_dataset.h"
#include "runtime/data/samples.h"

#include <functional>
#include <memory>
#include <vector>

namespace mtc::runtime {

/// Samples of one corpus, by an index of gpt_index.h: sample k is the tokens
/// between starts shuffle[k] and shuffle[k] + 1, the last one included.
class GptSamples final : public SampleSource {
public:
  /// A corpus and its index. `tokens` and `sequences` are what they had when
  /// the index was made.
  struct Files {
    std::string prefix, index, key;
    int64_t sequences = 0, tokens = 0;
    SequenceRange part;
  };
  /// Errors: inputRejected: files that are damaged or were changed.
  static Status open(const Files &files, int64_t seq, int64_t vocab,
                     GptSamples &out);

  int64_t samples() const override { return index_.count(kGptShuffle); }
  bool repeats() const override { return false; }
  Status read(int64_t sample, int32_t *out) const override;
  Status documentStarts(int64_t sample,
                        std::vector<int32_t> &out) const override;
  Status check(int64_t first, int64_t count,
               const DataProgress &progress) const override;

private:
  /// Tokens [first, first + count) of the .bin are those from `position` on of
  /// a sample; `begins`: the first of them begins a sequence.
  struct Run {
    int64_t position, first, count;
    bool begins;
  };
  /// The runs of a sample, in its order. No std::function, which may allocate:
  /// steps read samples.
  template <typename Visit>
  Status forRuns(int64_t sample, const Visit &visit) const;
  Status findSequence(int64_t sequence, int64_t &first, int64_t &count) const;
  Status scan(int64_t first, int64_t count, BadTokens &bad) const;
  Status damaged(const std::string &what) const;

  Files files_;
  IndexedDataset set_;
  IndexFile index_;
  int64_t seq_ = 0, vocab_ = 0;
  mutable std::vector<std::byte> read_; ///< tokens as in the file
};

/// Samples of several corpora, as a file of a blend deals them.
class BlendedSamples final : public SampleSource {
public:
  /// Arrays of the file.
  enum Array : size_t { kCorpora, kSamples };

  static Status open(const std::string &file, const std::string &key,
                     std::vector<GptSamples> corpora, BlendedSamples &out);

  int64_t samples() const override { return index_.count(kSamples); }
  bool repeats() const override { return false; }
  Status read(int64_t sample, int32_t *out) const override;
  Status documentStarts(int64_t sample,
                        std::vector<int32_t> &out) const override;
  Status check(int64_t first, int64_t count,
               const DataProgress &progress) const override;

private:
  Status find(int64_t sample, const GptSamples *&corpus, int64_t &own) const;

  IndexFile index_;
  std::vector<GptSamples> corpora_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_GPT_SAMPLES_H
