//===- quick.h - the usual accesses, without words --------------*- C++ -*-===//
//
// Most accesses touch the allocation that their instruction touched before,
// bytes that are written and granules that nobody touched in this launch, or
// somebody whom a barrier orders before. These are told here by a few
// comparisons; whatever is not plain to see goes to access(), which decides,
// and words faults.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_QUICK_H
#define MTC_TEST_CUDA_PTX_MACHINE_QUICK_H

#include "test/cuda/ptx/machine/access.h"
#include "test/cuda/ptx/machine/block.h"

#include <algorithm>

namespace mtc::ptx {

/// Prepared once for all lanes of an instruction.
class Quick {
public:
  /// `bytes` of an access of one lane; `sample`: the address of one.
  Quick(Warp &warp, const Instruction &by, Space space, uint64_t sample,
        unsigned bytes, bool writes);

  /// The bytes of a lane's access, noted as touched; null: ask access().
  template <unsigned Bytes> std::byte *read(uint64_t address, int lane) {
    uint64_t at = address - base_;
    if (at > last_ || address % Bytes || !allWritten<Bytes>(at))
      return nullptr;
    if (writers_ && !noteReader<Bytes>(at, lane))
      return nullptr;
    return host_ + at;
  }

  /// The same of all 32 lanes, which read the same bytes: each but the first
  /// two finds the shadow as it will leave it.
  template <unsigned Bytes> std::byte *readSame(uint64_t address) {
    std::byte *first = read<Bytes>(address, 0);
    return first ? read<Bytes>(address, 1) : nullptr;
  }

  /// The same of all 32 lanes, whose accesses follow each other from the first
  /// one's on.
  template <unsigned Bytes> std::byte *readRow(uint64_t first) {
    uint64_t at = first - base_;
    if (!rows_ || at > rowLast_ || first % Bytes ||
        !allWritten<kLanes * Bytes>(at))
      return nullptr;
    if (!writers_)
      return host_ + at;
    if (rowIsPast<Bytes>(writers_ + at / 2) &&
        rowIsPast<Bytes>(readers_[0] + at / 2)) {
      noteRow<Bytes>(readers_[0] + at / 2);
      return host_ + at;
    }
    for (int l = 0; l < kLanes; ++l)
      if (!noteReader<Bytes>(at + uint64_t(l) * Bytes, l))
        return nullptr;
    return host_ + at;
  }
  template <unsigned Bytes> std::byte *writeRow(uint64_t first) {
    uint64_t at = first - base_;
    if (!rows_ || at > rowLast_ || first % Bytes ||
        !nonePending<kLanes * Bytes>(at))
      return nullptr;
    if (writers_ && !noteWriters<Bytes>(at))
      return nullptr;
    if (states_)
      std::memset(states_ + at, int(ByteState::written), kLanes * Bytes);
    return host_ + at;
  }

  template <unsigned Bytes> std::byte *write(uint64_t address, int lane) {
    uint64_t at = address - base_;
    if (at > last_ || address % Bytes || nonePending<Bytes>(at) == false)
      return nullptr;
    if (writers_ && !noteWriter<Bytes>(at, lane))
      return nullptr;
    if (states_)
      std::memset(states_ + at, int(ByteState::written), Bytes);
    return host_ + at;
  }

private:
  /// False: there is more to it than readers and writers that came before.
  template <unsigned Bytes> bool noteReader(uint64_t at, int lane) {
    Toucher now{{tag_ | uint64_t(lane)}, clock_, lanesConflict_};
    constexpr unsigned kGranules = (Bytes + 1) / 2;
    uint64_t *readers = readers_[0] + at / 2;
    if (!allPast<kGranules>(writers_ + at / 2, now))
      return false;
    if (areOne<kGranules>(readers)) {
      std::fill_n(readers, kGranules, noted(readers[0], now));
      return true;
    }
    for (unsigned g = 0; g < kGranules; ++g)
      readers[g] = noted(readers[g], now);
    return true;
  }
  uint64_t noted(uint64_t old, const Toucher &now) const {
    if (old >> 44 != operation_)
      return now.tag.bits;
    return old == now.tag.bits || old == crowd_ ? old
                                                : together(Tag{old}, now).bits;
  }
  template <unsigned Granules> static bool areOne(const uint64_t *tags) {
    uint64_t different = 0;
    for (unsigned g = 1; g < Granules; ++g)
      different |= tags[g] ^ tags[0];
    return !different;
  }
  /// Neighbours mostly have one tag.
  template <unsigned Granules>
  bool allPast(const uint64_t *tags, const Toucher &now) {
    if (areOne<Granules>(tags))
      return isPast(tags[0], now);
    for (unsigned g = 0; g < Granules; ++g)
      if (!isPast(tags[g], now))
        return false;
    return true;
  }
  template <unsigned Bytes> bool noteWriter(uint64_t at, int lane) {
    Toucher now{{tag_ | uint64_t(lane)}, clock_, lanesConflict_};
    constexpr unsigned kGranules = (Bytes + 1) / 2;
    if (!allPast<kGranules>(writers_ + at / 2, now) ||
        !allPast<kGranules>(readers_[0] + at / 2, now))
      return false;
    for (unsigned k = 1; k < lists_; ++k) // of others than this operation
      for (uint64_t g = at / 2; g < at / 2 + kGranules; ++g)
        if (!isOfAnother(readers_[k][g]))
          return false;
    std::fill_n(writers_ + at / 2, kGranules, now.tag.bits);
    return true;
  }
  template <unsigned Bytes> bool noteWriters(uint64_t at) {
    bool past = rowIsPast<Bytes>(writers_ + at / 2);
    for (unsigned k = 0; k < lists_ && past; ++k)
      past = rowIsPast<Bytes>(readers_[k] + at / 2);
    if (past)
      noteRow<Bytes>(writers_ + at / 2);
    for (int l = 0; l < kLanes && !past; ++l)
      if (!noteWriter<Bytes>(at + uint64_t(l) * Bytes, l))
        return false;
    return true;
  }
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
  /// Nobody, or an operation that came before.
  bool isOfAnother(uint64_t old) {
    uint64_t operation = old >> 44;
    return old == 0 ||
           (operation != operation_ && (allOrdered_ || operation == ordered_ ||
                                        isOrdered(uint32_t(operation))));
  }
  bool isOrdered(uint32_t operation) {
    if (!block_.memory.isOrdered(operation))
      return false;
    ordered_ = block_.ordered = operation;
    return true;
  }
  /// The same, this thread, or one of this launch that came before.
  bool isPast(uint64_t old, const Toucher &now) {
    return old == now.tag.bits || isOfAnother(old) ||
           conflictOf(Tag{old}, now, false) == Conflict::none;
  }

  Block &block_;
  Address base_ = 0;
  uint64_t last_ = 0; ///< the last place at which an access may start
  uint64_t rowLast_ = 0;
  bool rows_ = true; ///< whether a row fits in it
  std::byte *host_ = nullptr;
  ByteState *states_ = nullptr;
  uint64_t *writers_ = nullptr;
  std::array<uint64_t *, 16> readers_{};
  unsigned lists_ = 0;
  const WarpClock *clock_;
  bool lanesConflict_;
  uint64_t tag_ = 0, crowd_ = 0;
  uint64_t operation_ = 0, ordered_ = 0;
  bool allOrdered_ = true;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_QUICK_H
