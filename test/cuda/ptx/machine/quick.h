//===- quick.h - the usual accesses, without words --------------*- C++ -*-===//
//
// Most accesses touch the allocation that their instruction touched before,
// bytes that are written and granules that nobody touched in this launch. These
// are told here by a few comparisons; whatever is not plain to see goes to
// access(), which decides, and words faults.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_QUICK_H
#define MTC_TEST_CUDA_PTX_MACHINE_QUICK_H

#include "test/cuda/ptx/machine/access.h"

namespace mtc::ptx {

/// Prepared once for all lanes of an instruction.
class Quick {
public:
  /// `bytes` of an access of one lane.
  Quick(Warp &warp, const Instruction &by, unsigned bytes, bool writes);

  /// The bytes of a lane's access, noted as touched; null: ask access().
  template <unsigned Bytes> std::byte *read(uint64_t address, int lane) {
    uint64_t at = address - base_;
    if (at > last_ || address % Bytes || !allWritten<Bytes>(at))
      return nullptr;
    uint64_t mine = tag_ | uint64_t(lane);
    if (writers_)
      for (uint64_t g = at / 2; g < (at + Bytes + 1) / 2; ++g)
        if (!isPast(writers_[g], mine) || !noteReader(readers_[0][g], mine))
          return nullptr;
    return host_ + at;
  }

  /// The same of all 32 lanes, whose accesses follow each other from the first
  /// one's on; null also where one thread of them touched its bytes before.
  template <unsigned Bytes> std::byte *readRow(uint64_t first) {
    uint64_t at = first - base_;
    if (!rows_ || at > rowLast_ || first % Bytes ||
        !allWritten<kLanes * Bytes>(at))
      return nullptr;
    if (!writers_)
      return host_ + at;
    if (!rowIsPast<Bytes>(writers_ + at / 2) ||
        !rowIsPast<Bytes>(readers_[0] + at / 2))
      return nullptr;
    noteRow<Bytes>(readers_[0] + at / 2);
    return host_ + at;
  }
  template <unsigned Bytes> std::byte *writeRow(uint64_t first) {
    uint64_t at = first - base_;
    if (!rows_ || at > rowLast_ || first % Bytes ||
        !nonePending<kLanes * Bytes>(at))
      return nullptr;
    if (writers_) {
      if (!rowIsPast<Bytes>(writers_ + at / 2))
        return nullptr;
      for (unsigned k = 0; k < lists_; ++k)
        if (!rowIsPast<Bytes>(readers_[k] + at / 2))
          return nullptr;
      noteRow<Bytes>(writers_ + at / 2);
    }
    if (states_)
      std::memset(states_ + at, int(ByteState::written), kLanes * Bytes);
    return host_ + at;
  }

  template <unsigned Bytes> std::byte *write(uint64_t address, int lane) {
    uint64_t at = address - base_;
    if (at > last_ || address % Bytes || nonePending<Bytes>(at) == false)
      return nullptr;
    uint64_t mine = tag_ | uint64_t(lane);
    if (writers_) {
      for (uint64_t g = at / 2; g < (at + Bytes + 1) / 2; ++g) {
        if (!isPast(writers_[g], mine))
          return nullptr;
        for (unsigned k = 0; k < lists_; ++k)
          if (!isPast(readers_[k][g], mine))
            return nullptr;
      }
      for (uint64_t g = at / 2; g < (at + Bytes + 1) / 2; ++g)
        writers_[g] = mine;
    }
    if (states_)
      std::memset(states_ + at, int(ByteState::written), Bytes);
    return host_ + at;
  }

private:
  template <unsigned Bytes> bool allWritten(uint64_t at) const {
    static constexpr auto kWritten = [] {
      std::array<ByteState, Bytes> all{};
      all.fill(ByteState::written);
      return all;
    }();
    return !states_ || std::memcmp(states_ + at, kWritten.data(), Bytes) == 0;
  }
  template <unsigned Bytes> bool nonePending(uint64_t at) const {
    if (!states_)
      return true;
    unsigned both = 0;
    for (unsigned k = 0; k < Bytes; ++k)
      both |= unsigned(states_[at + k]);
    return both < unsigned(ByteState::pending);
  }
  /// Of granules of a row: nobody, its own thread, or what isPast() says.
  template <unsigned Bytes> bool rowIsPast(const uint64_t *tags) const {
    constexpr unsigned kGranules = Bytes / 2;
    uint64_t operation = operation_, tag = tag_, notPast = 0;
    uint64_t ordered = ordered_, anyOther = allOrdered_ ? 0 : ~uint64_t(0);
    // Masks of words, which compilers make vectors of.
    for (unsigned g = 0; g < kLanes * kGranules; ++g) {
      uint64_t old = tags[g], by = old >> 44;
      uint64_t isSomebody = old != 0 ? ~uint64_t(0) : 0;
      uint64_t isAnother = old != (tag | g / kGranules) ? ~uint64_t(0) : 0;
      uint64_t isNow = by == operation ? ~uint64_t(0) : 0;
      uint64_t isOpen = by != ordered ? anyOther : 0;
      notPast |= isSomebody & isAnother & (isNow | isOpen);
    }
    return !notPast;
  }
  template <unsigned Bytes> void noteRow(uint64_t *tags) const {
    constexpr unsigned kGranules = Bytes / 2;
    for (unsigned g = 0; g < kLanes * kGranules; ++g)
      tags[g] = tag_ | g / kGranules;
  }
  /// Nobody, this thread, or an operation that came before.
  bool isPast(uint64_t old, uint64_t mine) const {
    uint64_t operation = old >> 44;
    return old == 0 || old == mine ||
           (operation != operation_ && (allOrdered_ || operation == ordered_));
  }
  /// False: there is more to it than a new reader or one that is known.
  bool noteReader(uint64_t &old, uint64_t mine) const {
    if (old >> 44 != operation_)
      old = mine;
    return old == mine || old == crowd_ || (old & ~kThread) == warps_ ||
           Tag{old}.crowd() == Crowd::blocks;
  }

  Address base_ = 0;
  uint64_t last_ = 0; ///< the last place at which an access may start
  uint64_t rowLast_ = 0;
  bool rows_ = true; ///< whether a row fits in it
  std::byte *host_ = nullptr;
  ByteState *states_ = nullptr;
  uint64_t *writers_ = nullptr;
  std::array<uint64_t *, 16> readers_{};
  unsigned lists_ = 0;
  static constexpr uint64_t kThread = 1023; ///< bits of warp and lane
  uint64_t tag_ = 0, crowd_ = 0, warps_ = 0;
  uint64_t operation_ = 0, ordered_ = 0;
  bool allOrdered_ = true;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_QUICK_H
