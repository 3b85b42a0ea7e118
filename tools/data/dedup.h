//===- dedup.h - leaves near-duplicates out ---------------------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_DEDUP_H
#define MTC_TOOLS_DATA_DEDUP_H

#include "tools/data/report.h"
#include "tools/data/text_lines.h"

#include <string>

namespace mtc::data {

struct DedupOptions {
  TextOptions texts;
  std::string output;     ///< empty: only the report
  std::string pairs;      ///< JSON lines, one for each left out; empty: none
  double threshold = 0.7; ///< Jaccard index from which two are duplicates
  int64_t shingle = 5;    ///< characters
  int64_t seed = 1;       ///< of the random orders of shingles
};

/// Writes the documents, as they are, without near-duplicates. Pairs that a
/// band of their signatures has in common (minhash.h) are compared by their
/// true index, computed from both texts; those at or above the threshold are
/// joined, and of all that are joined, over others as well, the first in the
/// order of the input stays. Equal input, seed and options give equal output.
/// Memory: some 300 bytes a document. Errors: usage; inputRejected, with file
/// and line of all lines of a piece that cannot be read, and for files that
/// change meanwhile, as they are read several times; writeFailed, interrupted.
runtime::Status dedupCorpus(const DedupOptions &options, const Watch &watch,
                            Report &report);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_DEDUP_H
