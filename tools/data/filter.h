//===- filter.h - leaves documents out by rules -----------------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_FILTER_H
#define MTC_TOOLS_DATA_FILTER_H

#include "tools/data/report.h"
#include "tools/data/text_lines.h"
#include "tools/data/tokenizer.h"

#include <string>
#include <vector>

namespace mtc::data {

struct FilterOptions {
  TextOptions texts;
  std::string output;      ///< empty: only the report
  int64_t minTokens = 128; ///< 0: any number; else `tokenizer` counts them
  TokenizerChoice tokenizer;
  std::vector<std::string> tasks; ///< JSON lines with the same key
  int64_t ngram = 13;             ///< words
};

/// Writes the documents, as they are, that have at least so many tokens
/// (without one that ends documents) and share no run of n words with a text of
/// the tasks (ngrams.h). Reports how many each rule left out, a document of
/// both under the first; and of the tasks' runs, how many any document has, by
/// which one sees how much of a test set a corpus knows. The rules are those of
/// Megatron-LM's paper (arXiv 1909.08053, sections 4 and 5.1). Errors: usage;
/// inputRejected, with file and line of all lines of a piece that cannot be
/// read; writeFailed, interrupted.
runtime::Status filterCorpus(const FilterOptions &options, const Watch &watch,
                             Report &report);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_FILTER_H
