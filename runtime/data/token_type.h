//===- token_type.h - how tokens lie in files -------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_DATA_TOKEN_TYPE_H
#define MTC_RUNTIME_DATA_TOKEN_TYPE_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// Integers, little-endian.
enum class TokenType : uint8_t { u8, u16, i32, u32, i8, i16, i64 };

struct TokenTypeInfo {
  TokenType type;
  const char *name; ///< for people and for recipes
  int bytes;        ///< of one token
  int code;         ///< in an .idx file; 0: it has none
  int64_t least, most;
};

std::span<const TokenTypeInfo> tokenTypes();
const TokenTypeInfo &infoOf(TokenType type);
/// Null: there is none.
const TokenTypeInfo *tokenTypeNamed(std::string_view name);
const TokenTypeInfo *tokenTypeOfCode(int code);
/// The type in which Megatron-LM's tools store a vocabulary: u16 for less than
/// 65,500 tokens, else i32.
TokenType tokenTypeFor(int64_t vocab);

/// Tokens that are not in the vocabulary.
struct BadTokens {
  int64_t count = 0;
  int64_t position = 0, value = 0; ///< of the one that was found first
};

/// Adds those of `count` tokens, as they lie in a file from position `first`
/// on, that are not in [0, vocab) to `bad`.
void findBadTokens(TokenType type, const std::byte *tokens, int64_t count,
                   int64_t vocab, int64_t first, BadTokens &bad);

/// Widens `count` tokens. They are in a vocabulary: others are cut off.
void widenTokens(TokenType type, const std::byte *tokens, int64_t count,
                 int32_t *out);

/// The other way: false if a value does not fit the type.
bool narrowTokens(std::span<const int32_t> tokens, TokenType type,
                  std::byte *out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DATA_TOKEN_TYPE_H
