//===- matrix_tile.cpp - an operand of wgmma in shared memory -------------===//
#include "test/cuda/ptx/machine/matrix_tile.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::ptx {
namespace {

/// Bits that mean nothing: 14, 15, 30, 31, 46 to 48 and 52 to 61.
constexpr uint64_t kReserved = uint64_t(3) << 14 | uint64_t(3) << 30 |
                               uint64_t(7) << 46 | uint64_t(0x3ff) << 52;
constexpr unsigned kWidths[] = {1, 8, 4, 2};

uint32_t bytesAt(uint64_t descriptor, unsigned bit) {
  return uint32_t(descriptor >> bit & 0x3fff) * kChunk;
}

} // namespace

MatrixTile::MatrixTile(uint64_t descriptor, unsigned extent, bool transposed)
    : bits_(descriptor), start_(bytesAt(descriptor, 0)),
      leading_(bytesAt(descriptor, 16)), stride_(bytesAt(descriptor, 32)),
      width_(kWidths[descriptor >> 62]), extent_(extent),
      transposed_(transposed) {}

std::string MatrixTile::problem() const {
  if (bits_ & kReserved)
    return fmt::format("descriptor 0x{:016x} has bits that mean nothing: "
                       "0x{:016x}",
                       bits_, bits_ & kReserved);
  if (bits_ >> 49 & 7)
    return fmt::format("a base offset of {}: only 0 is known here, of "
                       "patterns that start at a multiple of themselves",
                       bits_ >> 49 & 7);
  if (width_ == 1)
    return {};
  uint32_t row = width_ * kChunk, pattern = 8 * row;
  // The pattern's other rows and rows that end in the next one would need a
  // base offset, or have no meaning that is written down.
  uint32_t at = start_ % pattern;
  if (at / row)
    return fmt::format("a swizzle of {} bytes repeats every {}, and address {} "
                       "lies {} behind the start of one: in row {} of 8, and "
                       "tiles start in row 0",
                       row, pattern, start_, at, at / row);
  unsigned chunks = transposed_ ? std::min(extent_ / 8, width_) : 2;
  if (at % row + chunks * kChunk > row)
    return fmt::format("address {} lies {} bytes behind the start of a row of "
                       "{}, in which {} bytes of the tile have no room",
                       start_, at % row, row, chunks * kChunk);
  bool many = transposed_ ? kProductDepth > 8 : extent_ > 8;
  if (many && stride_ % pattern)
    return fmt::format("a stride byte offset of {}: expected a multiple of the "
                       "{} bytes after which a swizzle of {} repeats",
                       stride_, pattern, row);
  if (transposed_ && extent_ / 8 > width_ && leading_ % pattern)
    return fmt::format("a leading byte offset of {}: expected a multiple of "
                       "the {} bytes after which a swizzle of {} repeats",
                       leading_, pattern, row);
  return {};
}

} // namespace mtc::ptx
