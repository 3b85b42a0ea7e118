//===- table_words.cpp - transfers as the ABI lays them out ---------------===//

#include "compiler/tables.h"

#include <cstddef>

namespace mtc::compiler {

static_assert(sizeof(MtcTransfer) == 5 * sizeof(int64_t));
static_assert(offsetof(MtcTransfer, peer_stage) == 4 &&
              offsetof(MtcTransfer, arena) == 8 &&
              offsetof(MtcTransfer, tag) == 16 &&
              offsetof(MtcTransfer, offset) == 24 &&
              offsetof(MtcTransfer, bytes) == 32);

/// Two 32-bit fields in one word, little-endian as all targets are.
static int64_t pair(int64_t low, int64_t high) {
  return static_cast<int64_t>(static_cast<uint64_t>(high) << 32 |
                              (static_cast<uint64_t>(low) & 0xffffffff));
}

std::vector<int64_t> transferWords(llvm::ArrayRef<MtcTransfer> transfers) {
  std::vector<int64_t> words;
  words.reserve(5 * transfers.size());
  for (const MtcTransfer &t : transfers) {
    words.push_back(pair(t.is_send, t.peer_stage));
    words.push_back(pair(t.arena, 0)); // a tag begins at a word
    words.push_back(t.tag);
    words.push_back(t.offset);
    words.push_back(t.bytes);
  }
  return words;
}

} // namespace mtc::compiler
