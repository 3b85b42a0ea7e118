//===- name_hash.h - the RNG id of a parameter's name -----------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_NAME_HASH_H
#define MTC_RUNTIME_BASE_NAME_HASH_H

#include <cstdint>
#include <string_view>

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

namespace mtc::runtime {

/// xxh3-64 (seed 0) of the logical name, e.g. "layers.3.attn.qkv.weight"; the
/// id of its initialisation stream (docs/numerics.md).
inline uint64_t nameHash(std::string_view name) {
  return XXH3_64bits(name.data(), name.size());
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_NAME_HASH_H
