//===- tokenizer.h - texts to tokens ----------------------------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_TOKENIZER_H
#define MTC_TOOLS_DATA_TOKENIZER_H

#include "runtime/base/status.h"
#include "tools/data/byte_pairs.h"
#include "tools/data/word_cache.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::data {

/// What encoding needs for a while; one of each thread, for one tokenizer.
struct EncodeScratch {
  MergeScratch merge;
  WordCache words;
};

/// Used by several threads at once, each with a scratch of its own.
class Tokenizer {
public:
  virtual ~Tokenizer() = default;
  /// Adds the tokens of a text: any bytes. No text yields the token that ends
  /// documents.
  virtual void encode(std::string_view text, EncodeScratch &scratch,
                      std::vector<int32_t> &out) const = 0;
  /// The bytes of a token; the one that ends documents has its name.
  virtual std::string bytes(int32_t id) const = 0;
  virtual int32_t vocabSize() const = 0; ///< ids are below it
  /// The token that ends documents; -1: the vocabulary has none.
  virtual int32_t endOfDocument() const = 0;
};

struct TokenizerChoice {
  std::string kind = "gpt2";        ///< or "bytes"
  std::string vocabFile, mergeFile; ///< of gpt2
};

/// "bytes": 256 tokens, and 256 ends documents. "gpt2": GPT-2's byte-level BPE
/// with any vocabulary, in which "<|endoftext|>" ends documents. Errors: usage
/// (another kind, files lacking or too many), inputRejected (files).
runtime::Status makeTokenizer(const TokenizerChoice &choice,
                              std::unique_ptr<Tokenizer> &out);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_TOKENIZER_H
