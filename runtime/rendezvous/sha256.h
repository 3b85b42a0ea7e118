//===- sha256.h - SHA-256 and HMAC-SHA-256 ----------------------*- C++ -*-===//
//
// FIPS 180-4 and RFC 2104. For messages that prove who sent them; what finds
// damage in files is digest.h, which is faster.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_RENDEZVOUS_SHA256_H
#define MTC_RUNTIME_RENDEZVOUS_SHA256_H

#include <array>
#include <cstdint>
#include <string_view>

namespace mtc::runtime {

using Sha256 = std::array<uint8_t, 32>;

Sha256 sha256(std::string_view bytes);

/// Proves to who has `key`, of any length, that `bytes` are of one who has it.
Sha256 hmacSha256(std::string_view key, std::string_view bytes);

/// In a time that does not depend on where they differ.
bool equalProofs(const Sha256 &a, const Sha256 &b);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RENDEZVOUS_SHA256_H
