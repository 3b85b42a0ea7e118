//===- flat_samples.h - samples from a flat file of tokens ------*- C++ -*-===//
#ifndef MTC_RUNTIME_DATA_FLAT_SAMPLES_H
#define MTC_RUNTIME_DATA_FLAT_SAMPLES_H

#include "runtime/base/mapped_file.h"
#include "runtime/data/flat_file.h"
#include "runtime/data/samples.h"

namespace mtc::runtime {

/// A file of T tokens has W = (T - 1) / seq windows. Sample k is the window
/// perm(k mod W) of epoch k / W (permutation.h), or window k mod W where the
/// order is sequential: its inputs are the tokens [w·seq, w·seq + seq) and its
/// labels the same range shifted by one.
class FlatSamples final : public SampleSource {
public:
  /// Errors: inputRejected: fewer tokens than a sample has; a file of another
  /// size than `tokens` say.
  static Status open(const FlatTokens &tokens, int64_t seq, int64_t vocab,
                     uint64_t seed, bool sequential, FlatSamples &out);

  int64_t samples() const override { return windows_; }
  bool repeats() const override { return true; }
  Status read(int64_t sample, int32_t *out) const override;
  Status documentStarts(int64_t, std::vector<int32_t> &out) const override {
    out.clear();
    return Status::okay();
  }
  Status check(int64_t first, int64_t count,
               const DataProgress &progress) const override;

  /// The first token of sample k's window.
  int64_t firstToken(int64_t sample) const;

private:
  Status readTokens(int64_t first, int64_t count, std::byte *out) const;
  /// Adds bad ones of tokens [first, first + count).
  Status scan(int64_t first, int64_t count, BadTokens &bad) const;
  Status rejection(const BadTokens &bad) const;

  FlatTokens tokens_;
  MappedFile file_;
  int64_t seq_ = 0, vocab_ = 0, windows_ = 0;
  uint64_t seed_ = 0;
  bool sequential_ = false;
  mutable std::vector<std::byte> read_; ///< tokens as in the file
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_FLAT_SAMPLES_H
