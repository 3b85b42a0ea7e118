//===- warpgroup_product.cpp - wgmma.mma_async ----------------------------===//
//
// D = A * B + D of 64 rows, N columns and 16 products each. Warp w of a
// warpgroup has rows 16w to 16w + 15 of D, eight columns in four registers of
// each lane as mma.sync has them, and of A, if that is in registers.
//
// A device multiplies at some time between the instruction and its wait. Here
// it is done at once: nobody may look at the sums or change a factor before the
// wait, which machine/in_flight.h watches.
//
// That all 16 products and the sum are added at once and cut off, as mma.sync
// m16n8k16 does it on an H100, has not been compared with a device.
//
//===----------------------------------------------------------------------===//
#include "test/cuda/ptx/families/warpgroup.h"

#include "test/cuda/ptx/machine/floats.h"
#include "test/cuda/ptx/machine/matrix_tile.h"
#include "test/cuda/ptx/machine/registers.h"
#include "test/cuda/ptx/machine/tensor_core.h"
#include "test/cuda/ptx/machine/warpgroup.h"

#include <fmt/format.h>

#include <cstring>

namespace mtc::ptx {
namespace {

constexpr unsigned kRows = 16; ///< of a warp
constexpr unsigned kDepth = kProductDepth;

template <class T> class Multiplier {
public:
  Multiplier(Warp &warp, const Instruction &i, const Factors &factors)
      : warp_(warp), product_(warp.block->code.products[i.target]),
        factors_(factors) {}

  void run() {
    gatherLeft();
    for (unsigned column = 0; column < product_.columns; column += kSums) {
      Terms right[kDepth], sums[kRows];
      double made[kRows][kSums];
      gatherRight(column, right);
      gatherSums(column, sums);
      multiply(right, sums, made);
      scatter(column, made);
    }
  }

private:
  static constexpr int kLeast = std::is_same_v<T, F16> ? -14 : -126;
  static float valueOf(uint16_t bits) { return widened(T{bits}); }

  /// Eight elements of a tile.
  const uint16_t *chunk(const MatrixTile &tile, unsigned number) {
    return reinterpret_cast<const uint16_t *>(
        &warp_.block->shared[tile.addressOf(number) - kSharedBase]);
  }

  void setLeft(unsigned row, unsigned k, uint16_t bits) {
    float value = valueOf(bits);
    left_[row].values(int(k / kSums))[k % kSums] =
        product_.negative ? -value : value;
  }

  void gatherLeft() {
    for (unsigned r = 0; r < product_.left.size(); ++r) {
      const uint32_t *words = warp_.slots<uint32_t>(product_.left[r]);
      for (unsigned l = 0; l < kLanes; ++l)
        for (unsigned e = 0; e < 2; ++e)
          setLeft(l / 4 + 8 * (r & 1), 2 * (l % 4) + e + 8 * (r >> 1),
                  uint16_t(words[l] >> (16 * e)));
    }
    if (factors_.left)
      gatherLeftTile(*factors_.left);
    for (Row<kDepth> &row : left_)
      for (Terms &each : row.parts)
        leftFinite_ &= setExponents(each, kLeast);
  }

  void gatherLeftTile(const MatrixTile &tile) {
    unsigned chunks = kRows / kChunkElements * kDepth;
    unsigned first = unsigned(warp_.index % kWarpsOfGroup) * chunks;
    for (unsigned c = 0; c < chunks; ++c) {
      const uint16_t *elements = chunk(tile, first + c);
      for (unsigned e = 0; e < kChunkElements; ++e)
        if (tile.transposed())
          setLeft(c / kDepth * kChunkElements + e, c % kDepth, elements[e]);
        else
          setLeft(c / 2, c % 2 * kChunkElements + e, elements[e]);
    }
  }

  void gatherRight(unsigned column, Terms (&right)[kDepth]) {
    const MatrixTile &tile = *factors_.right;
    unsigned chunks = kSums / kChunkElements * kDepth;
    for (unsigned c = 0; c < chunks; ++c) {
      const uint16_t *elements = chunk(tile, column / kSums * chunks + c);
      for (unsigned e = 0; e < kChunkElements; ++e)
        if (tile.transposed())
          right[c].values[e] = valueOf(elements[e]);
        else
          right[c % 2 * kChunkElements + e].values[c / 2] =
              valueOf(elements[e]);
    }
    rightFinite_ = true;
    for (Terms &each : right)
      rightFinite_ &= setExponents(each, kLeast);
  }

  uint32_t *sumsAt(unsigned column, unsigned r) {
    return warp_.slots<uint32_t>(product_.sums[column / kSums * 4 + r]);
  }

  void gatherSums(unsigned column, Terms (&sums)[kRows]) {
    for (unsigned half = 0; half < 2; ++half) {
      uint32_t words[2 * kLanes]; // row after row
      for (unsigned r = 0; r < 2; ++r)
        for (unsigned l = 0; l < kLanes; ++l)
          words[2 * l + r] =
              factors_.scaled ? sumsAt(column, 2 * half + r)[l] : 0;
      for (unsigned row = 0; row < 8; ++row)
        std::memcpy(&sums[row + 8 * half].values, words + row * kSums,
                    sizeof(FloatSums));
    }
    sumsFinite_ = true;
    for (Terms &each : sums)
      sumsFinite_ &= setExponents(each, -126);
  }

  void multiply(const Terms (&right)[kDepth], const Terms (&sums)[kRows],
                double (&made)[kRows][kSums]) {
    bool finite = leftFinite_ && rightFinite_ && sumsFinite_;
    for (unsigned r = 0; r < kRows; ++r) {
      addProducts(left_[r], right, sums[r], made[r]);
      if (!finite)
        setNotFinite(left_[r], right, sums[r], made[r]);
    }
  }

  void scatter(unsigned column, const double (&made)[kRows][kSums]) {
    for (unsigned half = 0; half < 2; ++half) {
      float sums[2 * kLanes]; // row after row
      for (unsigned row = 0; row < 8; ++row)
        cutOff(made[row + 8 * half], sums + row * kSums);
      for (unsigned r = 0; r < 2; ++r) {
        auto *to = reinterpret_cast<float *>(sumsAt(column, 2 * half + r));
        for (unsigned l = 0; l < kLanes; ++l)
          to[l] = sums[2 * l + r];
      }
    }
  }

  Warp &warp_;
  const WarpgroupProduct &product_;
  const Factors &factors_;
  Row<kDepth> left_[kRows];
  bool leftFinite_ = true, rightFinite_ = true, sumsFinite_ = true;
};

template <class T> bool multiplyTiles(Warp &warp, const Instruction &i) {
  Factors factors;
  if (!comeToProduct(warp, i, factors) ||
      !takeRegisters(warp, i, factors.scaled) || !takeTiles(warp, i, factors))
    return false;
  Multiplier<T>(warp, i, factors).run();
  return true;
}

} // namespace

bool multiplyBf16(Warp &warp, const Instruction &i) {
  return multiplyTiles<Bf16>(warp, i);
}
bool multiplyF16(Warp &warp, const Instruction &i) {
  return multiplyTiles<F16>(warp, i);
}

} // namespace mtc::ptx
