//===- digest.h - finds damage in files -------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_DIGEST_H
#define MTC_RUNTIME_BASE_DIGEST_H

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include <string>
#include <string_view>

namespace mtc::runtime {

/// A digest as people and files have it.
inline std::string digitsOf(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : canonical.digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// XXH3-128 of `bytes`, as 32 hexadecimal digits in canonical (big-endian)
/// order. It finds what disks and copies damage, not what people want to hide.
inline std::string digestOf(std::string_view bytes) {
  return digitsOf(XXH3_128bits(bytes.data(), bytes.size()));
}

/// The same of bytes that come one after the other.
class Digest {
public:
  Digest() { XXH3_128bits_reset(&state_); }
  void add(std::string_view bytes) {
    XXH3_128bits_update(&state_, bytes.data(), bytes.size());
  }
  std::string text() const { return digitsOf(XXH3_128bits_digest(&state_)); }

private:
  XXH3_state_t state_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_DIGEST_H
