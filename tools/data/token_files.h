//===- token_files.h - looks at files of tokens, and joins them -*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_TOKEN_FILES_H
#define MTC_TOOLS_DATA_TOKEN_FILES_H

#include "tools/data/meter.h"
#include "tools/data/report.h"

#include <string>
#include <vector>

namespace mtc::data {

/// Corpora of PREFIX.bin and PREFIX.idx (runtime/data/indexed_dataset.h); a
/// prefix may be given as the name of either file.

/// What a corpus has: documents, sequences, tokens, their type, and lengths of
/// sequences. All of the .idx is checked. Memory: four bytes a sequence.
/// Errors: inputRejected, interrupted.
runtime::Status describeTokens(const std::string &prefix, const Watch &watch,
                               Report &report);

/// Checks every field of the .idx, and that all tokens are in [0, vocab).
/// Errors: inputRejected, with what is wrong; interrupted.
runtime::Status checkTokens(const std::string &prefix, int64_t vocab,
                            const Watch &watch, Report &report);

/// Writes the sequences and documents of corpora of one type of tokens, one
/// corpus behind the other. Errors: usage (an output is an input),
/// inputRejected, writeFailed, interrupted.
runtime::Status mergeTokens(const std::vector<std::string> &prefixes,
                            const std::string &output, const Watch &watch,
                            Report &report);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_TOKEN_FILES_H
