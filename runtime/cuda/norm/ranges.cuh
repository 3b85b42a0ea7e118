//===- ranges.cuh - ranges of elements, 16 bytes at a time ------*- C++ -*-===//
#ifndef MTC_RUNTIME_CUDA_NORM_RANGES_CUH
#define MTC_RUNTIME_CUDA_NORM_RANGES_CUH

#include "runtime/cuda/norm/norm_params.h"
#include "runtime/cuda/norm/window_sum.cuh"

namespace mtc::cuda {

/// The element type of a range in memory.
template <Element E> struct Stored {
  using Bits = uint16_t;
  MTC_DEVICE static uint32_t magnitude(uint32_t bits) {
    return __float_as_uint(widen<E>(bits)) & 0x7fffffff;
  }
};
template <> struct Stored<Element::f32> {
  using Bits = uint32_t;
  MTC_DEVICE static uint32_t magnitude(uint32_t bits) {
    return bits & 0x7fffffff;
  }
};

/// A range in pieces that warps take: vectors of 16 bytes at aligned addresses,
/// some for each lane, and as the last piece what lies before and behind them.
template <Element E> class Pieces {
public:
  using Bits = typename Stored<E>::Bits;

  MTC_DEVICE Pieces(const Bits *p, int64_t count) : p(p) {
    int before = int((16 - reinterpret_cast<uintptr_t>(p) % 16) % 16);
    head = int(min(int64_t(before / int(sizeof(Bits))), count));
    vectors = (count - head) / kPer;
    tail = int(count - head - vectors * kPer);
  }

  MTC_DEVICE int64_t count() const {
    return (vectors + kPieceVectors - 1) / kPieceVectors + 1;
  }

  /// What this lane has of a piece; what does not exist is zero.
  MTC_DEVICE void read(int64_t piece, Magnitudes &values) const {
    if (piece == count() - 1)
      return readEdges(values);
    auto *first = reinterpret_cast<const uint4 *>(p + head);
    int64_t at = piece * kPieceVectors + threadIdx.x % 32;
#pragma unroll
    for (int v = 0; v < kLaneVectors; ++v, at += 32) {
      uint4 x = at < vectors ? first[at] : uint4{};
      set(values + v * kPer, x.x);
      set(values + v * kPer + kPerWord, x.y);
      set(values + v * kPer + 2 * kPerWord, x.z);
      set(values + v * kPer + 3 * kPerWord, x.w);
    }
  }

private:
  static constexpr int kPer = 16 / sizeof(Bits), kPerWord = 4 / sizeof(Bits);
  static constexpr int kLaneVectors = kLaneValues / kPer;
  static constexpr int kPieceVectors = 32 * kLaneVectors;

  MTC_DEVICE static void set(uint32_t *values, uint32_t word) {
    if constexpr (kPerWord == 1) {
      values[0] = Stored<E>::magnitude(word);
    } else {
      values[0] = Stored<E>::magnitude(word & 0xffff);
      values[1] = Stored<E>::magnitude(word >> 16);
    }
  }

  /// A value for each lane: head and tail together have at most 14.
  MTC_DEVICE void readEdges(Magnitudes &values) const {
    int lane = int(threadIdx.x % 32);
    int64_t at = lane < head ? lane : lane + vectors * kPer;
#pragma unroll
    for (uint32_t &value : values)
      value = 0;
    if (lane < head + tail)
      values[0] = Stored<E>::magnitude(p[at]);
  }

  const Bits *p;
  int head, tail;  ///< elements before and behind the vectors
  int64_t vectors; ///< in between
};

/// Calls f(values) of each warp's share of the pieces, by all of its lanes.
template <Element E, class F>
MTC_DEVICE void eachPiece(const Pieces<E> &pieces, F f) {
  constexpr int kBlockWarps = kNormThreads / 32;
  int64_t step = int64_t(gridDim.x) * kBlockWarps;
  int64_t piece = int64_t(blockIdx.x) * kBlockWarps + threadIdx.x / 32;
  for (; piece < pieces.count(); piece += step) {
    Magnitudes values;
    pieces.read(piece, values);
    f(values);
  }
}

/// Adds the squares of p[0, count) to the sum.
template <Element E>
MTC_DEVICE void accumulate(int64_t *norm, const typename Stored<E>::Bits *p,
                           int64_t count) {
  __shared__ BlockSum block;
  block.clear();
  __syncthreads();
  WindowSum sum;
  eachPiece(Pieces<E>(p, count),
            [&](Magnitudes &values) { sum.add(values, block); });
  sum.flush(block);
  __syncthreads();
  DeviceSum all(norm);
  if (threadIdx.x < kWords)
    all.add(int(threadIdx.x), block.words[threadIdx.x]);
  if (threadIdx.x == kWords && block.notFinite)
    all.setNotFinite();
}

/// Makes the sum not finite if a value of x[0, count) is.
MTC_DEVICE void check(int64_t *norm, const uint32_t *x, int64_t count) {
  uint32_t largest = 0;
  eachPiece(Pieces<Element::f32>(x, count), [&](const Magnitudes &values) {
#pragma unroll
    for (uint32_t value : values)
      largest = max(largest, value);
  });
  if (__any_sync(~0u, largest >= kInfinity) && threadIdx.x % 32 == 0)
    DeviceSum(norm).setNotFinite();
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_NORM_RANGES_CUH
