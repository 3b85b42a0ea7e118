//===- gpt_index.h - which tokens are which sample --------------*- C++ -*-===//
//
// The indices of Megatron-LM's GPTDataset, to the number
// (megatron/core/datasets: gpt_dataset.py, helpers.cpp). With L tokens in the
// sequences of the part, `seq` tokens a sample and one for the last label:
//
//   epochs     E, the fewest with E·L >= samples·seq + 1
//   documents  the sequences of the part, E times, shuffled as one; or those of
//              E - 1 epochs, then those of the last, each shuffled alone, where
//              the last one gives fewer than int(0.8·((L - 1) / seq)) samples
//   starts     of n + 1 samples, n = (E·L - 1) / seq: the place in `documents`
//              and the token in that sequence; the next sample begins with the
//              last token of the one before
//   shuffle    the order of the n samples; apart those of E - 1 epochs and the
//              rest, where documents are
//
// One generator (numpy_random.h) draws all, in this order.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DATA_GPT_INDEX_H
#define MTC_RUNTIME_DATA_GPT_INDEX_H

#include "runtime/data/index_file.h"
#include "runtime/data/weights.h"

#include <span>
#include <string>

namespace mtc::runtime {

/// What an index follows from, beside the lengths of sequences.
struct GptOrder {
  SequenceRange part;
  int64_t seq = 0;     ///< tokens of a sample
  int64_t samples = 0; ///< at least so many; 0: those of one epoch
  uint32_t seed = 0;
  bool shuffled = true; ///< else sequences and samples are in their order

  std::string text() const; ///< all of it, for keys
};

/// How large an index is.
struct GptShape {
  int64_t tokens = 0;      ///< of an epoch
  int64_t epochs = 1;      ///< E
  int64_t documents = 0;   ///< in all epochs
  int64_t samples = 0;     ///< n
  int64_t beforeFinal = 0; ///< samples of E - 1 epochs; `samples`: no cut

  /// Errors: usage: no sample, or more than there can be.
  static Status of(const GptOrder &order, int64_t tokens, GptShape &out);
  /// Bytes in memory while it is built, beside the lengths: of documents, then
  /// of the shuffle.
  int64_t memory() const;
};

/// Arrays of an index in its file.
enum GptArray : size_t { kGptDocuments, kGptStarts, kGptShuffle };

/// Their sizes; `longest` is that of a sequence.
std::vector<IndexArray> gptArrays(const GptShape &shape, int64_t sequences,
                                  int64_t longest);

/// Builds an index; `lengths` are those of all sequences of the corpus. Linear
/// in documents and samples. Errors: those of the writer; interrupted.
Status buildGptIndex(const GptOrder &order, const GptShape &shape,
                     std::span<const int32_t> lengths, IndexFileWriter &out,
                     const DataProgress &progress);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_GPT_INDEX_H
