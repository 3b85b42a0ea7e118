//===- token_files.h - looks at files of tokens, and joins them -*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_TOKEN_FILES_H
#define MTC_TOOLS_DATA_TOKEN_FILES_H

#include "runtime/data/token_type.h"
#include "tools/data/meter.h"
#include "tools/data/report.h"

#include <optional>
#include <string>
#include <vector>

namespace mtc::data {

/// Corpora of PREFIX.bin and PREFIX.idx (runtime/data/indexed_dataset.h); a
/// prefix may be given as the name of either file. Where there is no .idx, a
/// flat file (runtime/data/flat_file.h).
struct TokenInput {
  std::string name;
  /// Of a flat file without llm.c's header, which must have one: nothing else
  /// says that such a file is of tokens.
  std::optional<runtime::TokenType> rawType = {};
};

/// What a corpus has: documents, sequences, tokens, their type, and lengths of
/// sequences. All of the .idx is checked. Memory: four bytes a sequence. Of a
/// flat file tokens and their type. Errors: usage (a raw file without a type),
/// inputRejected, interrupted.
runtime::Status describeTokens(const TokenInput &input, const Watch &watch,
                               Report &report);

/// Checks every field of the .idx, or of the header, and that all tokens are in
/// [0, vocab). Errors: as above; inputRejected, with what is wrong.
runtime::Status checkTokens(const TokenInput &input, int64_t vocab,
                            const Watch &watch, Report &report);

/// Writes the sequences and documents of corpora of one type of tokens, one
/// corpus behind the other. Errors: usage (an output is an input),
/// inputRejected, writeFailed, interrupted.
runtime::Status mergeTokens(const std::vector<std::string> &prefixes,
                            const std::string &output, const Watch &watch,
                            Report &report);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_TOKEN_FILES_H
