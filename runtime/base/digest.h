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

/// XXH3-128 of `bytes`, as 32 hexadecimal digits in canonical (big-endian)
/// order. It finds what disks and copies damage, not what people want to hide.
inline std::string digestOf(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical,
                           XXH3_128bits(bytes.data(), bytes.size()));
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : canonical.digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_DIGEST_H
