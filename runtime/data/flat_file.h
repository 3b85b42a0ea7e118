//===- flat_file.h - files of tokens without documents ----------*- C++ -*-===//
#ifndef MTC_RUNTIME_DATA_FLAT_FILE_H
#define MTC_RUNTIME_DATA_FLAT_FILE_H

#include "runtime/base/file.h"
#include "runtime/data/token_type.h"

#include <string>

namespace mtc::runtime {

/// One row of tokens in a file.
struct FlatTokens {
  std::string path;
  TokenType type = TokenType::u16;
  int64_t firstByte = 0; ///< of the first token: what is before is a header
  int64_t count = 0;     ///< of tokens
  int64_t tokenBytes() const { return infoOf(type).bytes; }
};

/// Looks at a file: with the header of llm.c's .bin its type is the file's, u16
/// or u32 by the magic number; without one `rawType` holds, and all of the file
/// is tokens. Errors: inputRejected: missing, a size that is no multiple of the
/// token's, a header that says other than the size; llm.c's files of
/// evaluations and models.
Status lookAtFlatFile(const std::string &path, TokenType rawType,
                      FlatTokens &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_FLAT_FILE_H
