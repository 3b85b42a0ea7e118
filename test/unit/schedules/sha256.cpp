//===- sha256.cpp - SHA-256 of a text, for comparing plans ----------------===//
//
// The constants are what FIPS 180-4 defines them to be: fractional parts of the
// square and cube roots of the first primes, computed here in integers.
//
//===----------------------------------------------------------------------===//

#include "sha256.h"

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace mtc::schedules::test {
namespace {

using Wide = unsigned __int128;

/// The first 32 bits behind the point of the `degree`-th root of n: the
/// greatest r with r^degree <= n·2^(32·degree), modulo 2^32.
uint32_t rootFraction(uint64_t n, int degree) {
  uint64_t root = 0;
  Wide target = Wide(n) << (32 * degree);
  for (int bit = 36; bit >= 0; --bit) {
    uint64_t next = root | (uint64_t(1) << bit);
    Wide power = Wide(next) * next;
    bool tooBig = power > target;
    if (degree == 3)
      tooBig = tooBig || power > target / next;
    if (!tooBig)
      root = next;
  }
  return static_cast<uint32_t>(root);
}

std::vector<uint64_t> firstPrimes(size_t count) {
  std::vector<uint64_t> primes;
  for (uint64_t n = 2; primes.size() < count; ++n) {
    bool prime = true;
    for (uint64_t p : primes)
      prime = prime && n % p != 0;
    if (prime)
      primes.push_back(n);
  }
  return primes;
}

std::string padded(std::string_view text) {
  std::string bytes(text);
  bytes.push_back('\x80');
  while (bytes.size() % 64 != 56)
    bytes.push_back('\0');
  uint64_t bits = uint64_t(text.size()) * 8;
  for (int shift = 56; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(bits >> shift));
  return bytes;
}

std::array<uint32_t, 64> messageWords(const unsigned char *block) {
  std::array<uint32_t, 64> w{};
  for (int i = 0; i < 16; ++i)
    w[i] = uint32_t(block[4 * i]) << 24 | uint32_t(block[4 * i + 1]) << 16 |
           uint32_t(block[4 * i + 2]) << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; ++i) {
    uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] +
           (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  return w;
}

} // namespace

std::string sha256(std::string_view text) {
  std::vector<uint64_t> primes = firstPrimes(64);
  std::array<uint32_t, 64> k{};
  std::array<uint32_t, 8> hash{};
  for (int i = 0; i < 64; ++i)
    k[i] = rootFraction(primes[i], 3);
  for (int i = 0; i < 8; ++i)
    hash[i] = rootFraction(primes[i], 2);
  std::string bytes = padded(text);
  for (size_t at = 0; at < bytes.size(); at += 64) {
    auto w = messageWords(reinterpret_cast<const unsigned char *>(&bytes[at]));
    auto [a, b, c, d, e, f, g, h] = hash;
    for (int i = 0; i < 64; ++i) {
      uint32_t t1 = h +
                    (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                    ((e & f) ^ (~e & g)) + k[i] + w[i];
      uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                    ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    std::array<uint32_t, 8> next{a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i)
      hash[i] += next[i];
  }
  std::string hex;
  for (uint32_t word : hash)
    for (int shift = 28; shift >= 0; shift -= 4)
      hex.push_back("0123456789abcdef"[(word >> shift) & 15]);
  return hex;
}

} // namespace mtc::schedules::test
