//===- matrix_tile.h - an operand of wgmma in shared memory -----*- C++ -*-===//
//
// A matrix descriptor of 64 bits says where a tile of 16 columns of K is:
//
//   bits    what
//   0-13    its first address, in units of 16 bytes
//   16-29   leading byte offset (LBO), in the same units
//   32-45   stride byte offset (SBO), the same
//   49-51   base offset: of a pattern that does not start at a multiple of
//           itself; 0 only here
//   62-63   swizzle: 0 none, 1 of 128 bytes, 2 of 64, 3 of 32
//
// Tiles are made of chunks of 16 bytes, eight elements along the dimension
// that they are major in. With w chunks in a swizzle (1, 2, 4, 8) these are, in
// bytes from the first address:
//
//   K-major, row r, chunk c of 2:  r % 8 * 16w + r / 8 * SBO + c * 16
//                       w is 1:    r % 8 * 16  + r / 8 * SBO + c * LBO
//   MN-major, chunk m, k of 16:    m % w * 16 + m / w * LBO
//                                    + k % 8 * 16w + k / 8 * SBO
//                       w is 1:    m * SBO + k % 8 * 16 + k / 8 * LBO
//
// A swizzle then changes bits of the address, not of the distance: bits 4 to 6
// by bits 7 to 9 (128 bytes), 4 to 5 by 7 to 8 (64), 4 by 7 (32).
//
// Sources: PTX ISA 9.0, "Shared Memory Matrix Layout" and "Matrix Descriptor
// Format" of wgmma; the canonical layouts that CUTLASS states beside
// make_gmma_desc.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_MACHINE_MATRIX_TILE_H
#define MTC_TEST_CUDA_PTX_MACHINE_MATRIX_TILE_H

#include <cstdint>
#include <string>

namespace mtc::ptx {

constexpr unsigned kChunk = 16; ///< bytes
constexpr unsigned kChunkElements = 8;
constexpr unsigned kRowsOfGroup = 64;  ///< of A and D of a warpgroup
constexpr unsigned kProductDepth = 16; ///< columns of K of one product

class MatrixTile {
public:
  /// `extent`: rows of A or columns of B, a multiple of 8. `transposed`:
  /// MN-major.
  MatrixTile(uint64_t descriptor, unsigned extent, bool transposed);

  /// What no tile of these can be told by, in words; empty: nothing.
  std::string problem() const;

  /// How many chunks there are, in the order of chunk numbers: K-major 2r + c,
  /// MN-major 16m + k.
  unsigned chunks() const { return extent_ / kChunkElements * kProductDepth; }
  /// The address of a chunk in shared memory. It may lie outside.
  uint32_t addressOf(unsigned chunk) const {
    return transposed_ ? swizzled(columnMajor(chunk / kProductDepth,
                                              chunk % kProductDepth))
                       : swizzled(rowMajor(chunk / 2, chunk % 2));
  }
  bool transposed() const { return transposed_; }

private:
  uint32_t rowMajor(unsigned row, unsigned chunk) const {
    return start_ + row % 8 * kChunk * width_ + row / 8 * stride_ +
           chunk * (width_ == 1 ? leading_ : kChunk);
  }
  uint32_t columnMajor(unsigned m, unsigned k) const {
    if (width_ == 1)
      return start_ + m * stride_ + k % 8 * kChunk + k / 8 * leading_;
    return start_ + m % width_ * kChunk + m / width_ * leading_ +
           k % 8 * kChunk * width_ + k / 8 * stride_;
  }
  uint32_t swizzled(uint32_t address) const {
    return address ^ (address >> 3 & (width_ - 1) * kChunk);
  }

  uint64_t bits_;
  uint32_t start_, leading_, stride_; ///< bytes
  unsigned width_;                    ///< chunks of a row of a swizzle
  unsigned extent_;
  bool transposed_;
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_MACHINE_MATRIX_TILE_H
