//===- tile_layout.h - tiles of wgmma, as the PTX ISA words them -*- C++
//-*-===//
//
// For tests, apart from how the executor computes addresses. A tile is made of
// atoms. Along the dimension that it is major in an atom has w chunks of eight
// elements, w the bytes of the swizzle by 16 (1 without), and along the other
// one 8 lines. An atom has its lines one after the other, and the chunks of a
// line within it, but for the swizzle, by which chunk j of line l stands at j
// xor l * w / 8.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_CUDA_PTX_TILE_LAYOUT_H
#define MTC_TEST_CUDA_PTX_TILE_LAYOUT_H

#include <cstdint>
#include <vector>

namespace mtc::ptx {

/// A tile of a matrix that has `extent` rows (of B: columns), of which one
/// product has all, and `depth` columns of K, of which it has 16.
struct TileLayout {
  unsigned swizzle; ///< bytes: 0, 32, 64, 128
  bool transposed;  ///< major in the rows of A or columns of B
  unsigned extent, depth;
  uint32_t gap = 0; ///< atoms that nobody needs between two

  unsigned width() const { return swizzle ? swizzle / 16 : 1; }
  unsigned atomBytes() const { return width() * 128; }
  /// Atoms along rows and along K.
  unsigned atomsOfExtent() const {
    unsigned each = transposed ? 8 * width() : 8;
    return (extent + each - 1) / each;
  }
  unsigned atomsOfDepth() const {
    unsigned each = transposed ? 8 : 8 * width();
    return (depth + each - 1) / each;
  }
  /// Bytes from one atom to the next along rows; along K, atoms stand at
  /// multiples of all of those.
  uint32_t extentStep() const { return atomBytes() * (1 + gap); }
  uint32_t depthStep() const { return extentStep() * atomsOfExtent(); }
  uint32_t bytes() const { return depthStep() * atomsOfDepth(); }

  /// Where an element of two bytes is, from the start.
  uint32_t at(unsigned row, unsigned k) const {
    unsigned along = transposed ? row : k, across = transposed ? k : row;
    unsigned line = across % 8, chunk = along / 8;
    uint32_t inAtom = line * width() * 16 +
                      (chunk % width() ^ line * width() / 8) * 16 +
                      along % 8 * 2;
    unsigned major = chunk / width(), minor = across / 8;
    return inAtom + (transposed ? major : minor) * extentStep() +
           (transposed ? minor : major) * depthStep();
  }

  /// The matrix descriptor of the 16 columns from k on, of a tile that begins
  /// at `address`.
  uint64_t descriptor(uint32_t address, unsigned k) const {
    uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle ? 3 : 0;
    // The leading offset is that along K without a swizzle, of a swizzled
    // K-major tile none, and otherwise that along rows.
    uint32_t leading = !swizzle ? depthStep() : !transposed ? 16 : extentStep();
    uint32_t stride = swizzle && transposed ? depthStep() : extentStep();
    // Along K a K-major tile goes on within a line of an atom.
    uint32_t start = transposed
                         ? k / 8 * depthStep()
                         : k / 8 / width() * depthStep() + k / 8 % width() * 16;
    return uint64_t(address + start) >> 4 | uint64_t(leading >> 4) << 16 |
           uint64_t(stride >> 4) << 32 | mode << 62;
  }
};

} // namespace mtc::ptx
#endif // MTC_TEST_CUDA_PTX_TILE_LAYOUT_H
