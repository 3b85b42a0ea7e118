//===- token_output.h - where tokens of documents go ------------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_TOKEN_OUTPUT_H
#define MTC_TOOLS_DATA_TOKEN_OUTPUT_H

#include "runtime/base/status.h"
#include "runtime/data/token_type.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mtc::data {

enum class OutputKind {
  indexed, ///< NAME_document.bin and .idx, as Megatron-LM's tools write them
  raw,     ///< NAME.bin: tokens and nothing else
  llmc     ///< NAME.bin: llm.c's header of 1,024 bytes, then tokens of u16
};

/// Files of tokens that have their names only after commit().
class TokenOutput {
public:
  virtual ~TokenOutput() = default;
  /// The tokens of the next document, none or more. Errors: writeFailed;
  /// inputRejected, where they do not fit the file.
  virtual runtime::Status add(std::span<const int32_t> tokens) = 0;
  /// Errors: writeFailed.
  virtual runtime::Status commit() = 0;
  /// The files that there are then.
  virtual std::vector<std::string> files() const = 0;
};

/// Errors: writeFailed; usage, for a type that such a file has not.
runtime::Status createOutput(OutputKind kind, const std::string &name,
                             runtime::TokenType type,
                             std::unique_ptr<TokenOutput> &out);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_TOKEN_OUTPUT_H
