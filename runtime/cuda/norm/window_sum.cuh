//===- window_sum.cuh - exact squares in registers --------------*- C++ -*-===//
//
// The square of a float is an integer of 48 bits times a power of two with an
// even exponent, its position, in units of 2^-298. Each lane of a warp adds
// squares to one integer of 128 bits, whose last bit counts 2^at units, the
// same for all lanes. So squares whose positions are in [at, at + kReach] fit:
// values down to 2^-31 of the largest one. What lies below waits for another
// round with a lower window; what lies above moves the window before.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_NORM_WINDOW_SUM_CUH
#define MTC_RUNTIME_CUDA_NORM_WINDOW_SUM_CUH

#include "runtime/cuda/norm/exact_sum.cuh"

namespace mtc::cuda {

/// Bits of a float's magnitude from which on it is not finite.
constexpr uint32_t kInfinity = 0x7f800000;

/// Values of a round that one lane has.
constexpr int kLaneValues = 16;

/// Magnitudes, as bits of fp32.
using Magnitudes = uint32_t[kLaneValues];

class WindowSum {
public:
  /// By all lanes of the warp. Zeroes part of `values`.
  MTC_DEVICE void add(Magnitudes &values, BlockSum &block) {
    while (uint32_t largest = largestOf(values)) {
      if (largest >= kInfinity) {
        dropNotFinite(values, block);
        continue;
      }
      int top = positionOf(largest);
      if (!suits(top) || rounds == kMostRounds)
        moveTo(top, block);
      ++rounds;
      if (!addFitting(values))
        return;
      dropFitting(values);
    }
  }

  /// Gives the block what the warp has. By all lanes.
  MTC_DEVICE void flush(BlockSum &block) {
    if (rounds == 0)
      return;
    for (int other = 16; other > 0; other /= 2)
      sum += Wide(__shfl_xor_sync(~0u, uint64_t(sum >> 64), other)) << 64 |
             __shfl_xor_sync(~0u, uint64_t(sum), other);
    if (threadIdx.x % 32 == 0)
      addTo(block);
    sum = 0;
    rounds = 0;
  }

private:
  using Wide = unsigned __int128;

  static constexpr int kReach = 62;
  /// A square is below 2^48, so a lane's sum of so many rounds is below 2^(48 +
  /// 62 + 4 + 9), and that of 32 lanes below 2^128.
  static constexpr int kMostRounds = 512;
  static_assert(kLaneValues * kMostRounds * 32 <= 1 << 18);

  /// Subnormals have the exponent of the smallest normal ones.
  MTC_DEVICE static int positionOf(uint32_t magnitude) {
    return 2 * int(max(magnitude >> 23, 1u)) - 2;
  }

  /// Of all lanes.
  MTC_DEVICE static uint32_t largestOf(const Magnitudes &values) {
    uint32_t largest = 0;
#pragma unroll
    for (uint32_t value : values)
      largest = max(largest, value);
    return __reduce_max_sync(~0u, largest);
  }

  MTC_DEVICE static void dropNotFinite(Magnitudes &values, BlockSum &block) {
#pragma unroll
    for (uint32_t &value : values)
      value = value >= kInfinity ? 0 : value;
    if (threadIdx.x % 32 == 0)
      block.addNotFinite();
  }

  /// A window far above its values would leave many of them below.
  MTC_DEVICE bool suits(int top) const {
    return top - at <= kReach && (top - at >= kReach / 2 || at == 0);
  }

  MTC_DEVICE void moveTo(int top, BlockSum &block) {
    flush(block);
    at = max(top - kReach, 0);
  }

  /// True if a value of the warp lies below the window.
  MTC_DEVICE bool addFitting(const Magnitudes &values) {
    uint32_t left = 0;
#pragma unroll
    for (uint32_t value : values)
      left |= addOne(value);
    return __any_sync(~0u, left != 0);
  }

  /// The value if it lies below the window, else 0.
  MTC_DEVICE uint32_t addOne(uint32_t value) {
    int shift = positionOf(value) - at;
    uint32_t m = (value & 0x7fffff) | (value > 0x7fffff ? 0x800000 : 0);
    m = shift < 0 ? 0 : m;
    uint64_t square = uint64_t(m) * m;
    int by = shift & 63;
    sum += Wide(square >> 1 >> (63 - by)) << 64 | square << by;
    return shift < 0 ? value : 0;
  }

  MTC_DEVICE void dropFitting(Magnitudes &values) const {
#pragma unroll
    for (uint32_t &value : values)
      value = positionOf(value) < at ? value : 0;
  }

  MTC_DEVICE void addTo(BlockSum &block) const {
    int word = at / 64, by = at % 64;
    block.add(word, Word(sum << by));
    block.add(word + 1, Word(sum >> 1 >> (63 - by)));
    block.add(word + 2, Word(sum >> 64 >> 1 >> (63 - by)));
  }

  Wide sum = 0;   ///< of this lane
  int at = 0;     ///< even
  int rounds = 0; ///< that the sum has
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_NORM_WINDOW_SUM_CUH
