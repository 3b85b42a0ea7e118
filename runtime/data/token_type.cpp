//===- token_type.cpp - how tokens lie in files ---------------------------===//

#include "runtime/data/token_type.h"

#include <algorithm>
#include <cstring>

namespace mtc::runtime {
namespace {

constexpr TokenTypeInfo kTokenTypes[] = {
    {TokenType::u8, "u8", 1, 1, 0, UINT8_MAX},
    {TokenType::u16, "u16", 2, 8, 0, UINT16_MAX},
    {TokenType::i32, "i32", 4, 4, INT32_MIN, INT32_MAX},
    {TokenType::u32, "u32", 4, 0, 0, UINT32_MAX},
    {TokenType::i8, "i8", 1, 2, INT8_MIN, INT8_MAX},
    {TokenType::i16, "i16", 2, 3, INT16_MIN, INT16_MAX},
    {TokenType::i64, "i64", 8, 5, INT64_MIN, INT64_MAX},
};

/// Calls visit with a value of the C++ type of `type`.
template <typename Visit> void withType(TokenType type, Visit visit) {
  switch (type) {
  case TokenType::u8:
    return visit(uint8_t{});
  case TokenType::u16:
    return visit(uint16_t{});
  case TokenType::i32:
    return visit(int32_t{});
  case TokenType::u32:
    return visit(uint32_t{});
  case TokenType::i8:
    return visit(int8_t{});
  case TokenType::i16:
    return visit(int16_t{});
  case TokenType::i64:
    return visit(int64_t{});
  }
}

/// Tokens in files need not be aligned.
template <typename Token> Token tokenAt(const std::byte *tokens, int64_t i) {
  Token token;
  std::memcpy(&token, tokens + i * int64_t(sizeof(Token)), sizeof(Token));
  return token;
}

} // namespace

std::span<const TokenTypeInfo> tokenTypes() { return kTokenTypes; }

const TokenTypeInfo &infoOf(TokenType type) {
  return kTokenTypes[static_cast<size_t>(type)];
}

const TokenTypeInfo *tokenTypeNamed(std::string_view name) {
  const auto *found = std::ranges::find(kTokenTypes, name, [](const auto &t) {
    return std::string_view(t.name);
  });
  return found == std::end(kTokenTypes) ? nullptr : found;
}

const TokenTypeInfo *tokenTypeOfCode(int code) {
  const auto *found =
      std::ranges::find(kTokenTypes, code, &TokenTypeInfo::code);
  return code == 0 || found == std::end(kTokenTypes) ? nullptr : found;
}

TokenType tokenTypeFor(int64_t vocab) {
  return vocab < 65500 ? TokenType::u16 : TokenType::i32;
}

void findBadTokens(TokenType type, const std::byte *tokens, int64_t count,
                   int64_t vocab, int64_t first, BadTokens &bad) {
  withType(type, [&]<typename Token>(Token) {
    for (int64_t i = 0; i < count; ++i) {
      auto value = static_cast<int64_t>(tokenAt<Token>(tokens, i));
      if (value >= 0 && value < vocab)
        continue;
      if (bad.count++ == 0) {
        bad.position = first + i;
        bad.value = value;
      }
    }
  });
}

void widenTokens(TokenType type, const std::byte *tokens, int64_t count,
                 int32_t *out) {
  withType(type, [&]<typename Token>(Token) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<int32_t>(tokenAt<Token>(tokens, i));
  });
}

bool narrowTokens(std::span<const int32_t> tokens, TokenType type,
                  std::byte *out) {
  const TokenTypeInfo &info = infoOf(type);
  bool fits = std::ranges::all_of(tokens, [&](int64_t value) {
    return value >= info.least && value <= info.most;
  });
  if (fits)
    withType(type, [&]<typename Token>(Token) {
      for (int32_t value : tokens) {
        auto token = static_cast<Token>(value);
        std::memcpy(out, &token, sizeof(Token));
        out += sizeof(Token);
      }
    });
  return fits;
}

} // namespace mtc::runtime
