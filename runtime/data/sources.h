//===- sources.h - prepares the samples of a run ----------------*- C++ -*-===//
//
// Before ranks start, one process looks at the data, builds the indices that
// are not there yet and checks all; what it found is a SourceFiles, by which
// each rank opens them.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_DATA_SOURCES_H
#define MTC_RUNTIME_DATA_SOURCES_H

#include "runtime/data/flat_file.h"
#include "runtime/data/gpt_samples.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Samples that a run asks for.
struct SourceRequest {
  std::string data;                   ///< parseDataPath
  std::string option;                 ///< what errors call `data`
  TokenType rawType = TokenType::u16; ///< of a flat file without a header
  std::string split;                  ///< of corpora; empty: all is train
  SplitPart part = SplitPart::train;
  bool sequential = false;
  bool once = false;   ///< corpora without weights have one epoch
  int64_t seq = 0;     ///< tokens of a sample
  int64_t samples = 0; ///< of corpora: as many as their indices are to have
  uint64_t seed = 0;
  int64_t eod = -1;  ///< SourceFiles
  std::string cache; ///< a folder of indices; empty: beside the data
};

/// What the order of samples follows from, by name, to be compared and told:
/// "seed" and "1234". Where files lie is no part of it.
using SampleOrder = std::map<std::string, std::string>;

/// Where samples of so many tokens come from: a flat file, one corpus, or
/// several and their blend.
struct SourceFiles {
  int64_t seq = 0;
  FlatTokens flat; ///< path empty: corpora
  bool sequential = false;
  uint64_t seed = 0;
  /// The token with which documents end; -1: with the sequences of a corpus.
  int64_t eod = -1;
  std::vector<GptSamples::Files> corpora;
  std::string blend, blendKey; ///< empty: there is one corpus
  SampleOrder order;
};

/// Finds the files, and builds and keeps the indices that are missing: linear
/// in sequences and samples; memory: GptShape::memory and four bytes a
/// sequence. What is noticed on the way, such as a cached index that is damaged
/// and built again, is added to `notes`. Errors: usage, inputRejected,
/// writeFailed, infeasible (an index that needs more memory than the machine
/// has), interrupted.
Status prepareSource(const SourceRequest &request, const DataProgress &progress,
                     std::vector<std::string> &notes, SourceFiles &out);

/// Opens them. Errors: those of FlatSamples, GptSamples and BlendedSamples.
Status openSource(const SourceFiles &files, int64_t vocab,
                  std::unique_ptr<SampleSource> &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_SOURCES_H
