//===- samples.h - samples of tokens by their number ------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DATA_SAMPLES_H
#define MTC_RUNTIME_DATA_SAMPLES_H

#include "runtime/base/status.h"
#include "runtime/data/indexed_dataset.h"

#include <cstdint>
#include <vector>

namespace mtc::runtime {

/// Where samples come from. Sample k is a pure function of k: which rank reads
/// it when does not matter. Numbers begin with 0.
class SampleSource {
public:
  virtual ~SampleSource() = default;

  /// How many there are. Where `repeats`, sample k of a later epoch is there as
  /// well; else a number from here on is the caller's error.
  virtual int64_t samples() const = 0;
  virtual bool repeats() const = 0;

  /// Reads the seq + 1 tokens of a sample: its inputs, and the label of the
  /// last of them. Errors: inputRejected: a file was cut, or a token is not in
  /// the vocabulary, with its position. One caller at a time: what was read is
  /// kept in memory of the source, so that no later step allocates.
  virtual Status read(int64_t sample, int32_t *out) const = 0;

  /// The positions of a sample, among its seq + 1 tokens, with which a sequence
  /// of the corpus begins, ascending; 0 only where the sample begins with one.
  /// What resets positions, masks attention between documents or leaves tokens
  /// out of the loss asks for these. None where data have no documents. Errors:
  /// as read().
  virtual Status documentStarts(int64_t sample,
                                std::vector<int32_t> &out) const = 0;

  /// Reads all tokens of the samples [first, first + count) once. Errors:
  /// inputRejected, with the number of tokens that are not in the vocabulary
  /// and the first of them; interrupted, when `progress` ends it.
  virtual Status check(int64_t first, int64_t count,
                       const DataProgress &progress) const = 0;
};

/// What is said of tokens of a file that are not in the vocabulary; ok if there
/// are none. `help`: what to do.
Status rejectionOf(const BadTokens &bad, const std::string &file, int64_t vocab,
                   const char *help);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_SAMPLES_H
