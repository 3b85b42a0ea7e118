//===- sha256.cpp - SHA-256 and HMAC-SHA-256 ------------------------------===//

#include "runtime/rendezvous/sha256.h"

#include <bit>
#include <string>

namespace mtc::runtime {
namespace {

constexpr size_t kBlockBytes = 64;

// FIPS 180-4, 4.2.2: fractions of the cube roots of the first primes.
constexpr uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<uint32_t, 8>;

uint32_t bigEndian(const uint8_t *p) {
  return uint32_t(p[0]) << 24 | uint32_t(p[1]) << 16 | uint32_t(p[2]) << 8 |
         uint32_t(p[3]);
}

/// The message schedule of a block, FIPS 180-4, 6.2.2.
std::array<uint32_t, 64> scheduleOf(const uint8_t *block) {
  std::array<uint32_t, 64> w{};
  for (size_t t = 0; t < 16; ++t)
    w[t] = bigEndian(block + 4 * t);
  for (size_t t = 16; t < 64; ++t) {
    uint32_t a = w[t - 15], b = w[t - 2];
    uint32_t s0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3);
    uint32_t s1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  return w;
}

void addBlock(State &state, const uint8_t *block) {
  std::array<uint32_t, 64> w = scheduleOf(block);
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t t = 0; t < 64; ++t) {
    uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    uint32_t choice = (e & f) ^ (~e & g);
    uint32_t one = h + s1 + choice + kRounds[t] + w[t];
    uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g, g = f, f = e, e = d + one;
    d = c, c = b, b = a, a = one + s0 + majority;
  }
  const uint32_t added[] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i)
    state[i] += added[i];
}

} // namespace

Sha256 sha256(std::string_view bytes) {
  std::string padded(bytes);
  padded += '\x80';
  while (padded.size() % kBlockBytes != kBlockBytes - 8)
    padded += '\0';
  uint64_t bits = uint64_t(bytes.size()) * 8;
  for (int shift = 56; shift >= 0; shift -= 8)
    padded += char(bits >> shift);
  // FIPS 180-4, 5.3.3: fractions of the square roots of the first primes.
  State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (size_t at = 0; at < padded.size(); at += kBlockBytes)
    addBlock(state, reinterpret_cast<const uint8_t *>(padded.data()) + at);
  Sha256 out;
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = uint8_t(state[i / 4] >> (24 - 8 * (i % 4)));
  return out;
}

Sha256 hmacSha256(std::string_view key, std::string_view bytes) {
  std::string block(key);
  if (key.size() > kBlockBytes) {
    Sha256 shorter = sha256(key);
    block.assign(shorter.begin(), shorter.end());
  }
  block.resize(kBlockBytes, '\0');
  std::string inner = block, outer = block;
  for (size_t i = 0; i < kBlockBytes; ++i) {
    inner[i] = char(inner[i] ^ 0x36);
    outer[i] = char(outer[i] ^ 0x5c);
  }
  Sha256 first = sha256(inner.append(bytes));
  return sha256(outer.append(first.begin(), first.end()));
}

bool equalProofs(const Sha256 &a, const Sha256 &b) {
  unsigned different = 0;
  for (size_t i = 0; i < a.size(); ++i)
    different |= unsigned(a[i] ^ b[i]);
  return different == 0;
}

} // namespace mtc::runtime
