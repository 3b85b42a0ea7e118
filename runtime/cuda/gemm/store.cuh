//===- store.cuh - sums of the tensor cores to memory -----------*- C++ -*-===//
//
// Sums lie in registers as mma leaves them, two columns a lane. They go through
// shared memory, 16 rows of a warp at a time, so that a lane has eight columns
// of a row: 16 or 32 bytes of c.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_GEMM_STORE_CUH
#define MTC_RUNTIME_CUDA_GEMM_STORE_CUH

#include "runtime/cuda/gemm/epilogue.cuh"
#include "runtime/cuda/gemm/staging.cuh"

namespace mtc::cuda {

MTC_DEVICE float4 loadFloats(uint32_t from) {
  uint4 x = load128(from);
  return {__uint_as_float(x.x), __uint_as_float(x.y), __uint_as_float(x.z),
          __uint_as_float(x.w)};
}
MTC_DEVICE float loadFloat(uint32_t from) {
  float x;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(from) : "memory");
  return x;
}
MTC_DEVICE void storeOne(uint32_t to, float x) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(x) : "memory");
}
MTC_DEVICE void storePair(uint32_t to, float x, float y) {
  asm volatile("st.shared.v2.f32 [%0], {%1,%2};" ::"r"(to), "f"(x), "f"(y)
               : "memory");
}

/// c of one block, as it is stored.
class Output {
public:
  MTC_DEVICE Output(const GemmParams &p)
      : p(p), aligned(reinterpret_cast<uintptr_t>(p.c) % 16 == 0 &&
                      p.ldc * (p.wide ? 4 : 2) % 16 == 0) {}

  /// Writes eight columns of a row, or those of them that exist, from sums in
  /// shared memory.
  template <Element E>
  MTC_DEVICE void store(int row, int column, uint32_t sums) const {
    if (row >= p.m)
      return;
    if (hasEpilogue(p))
      finish<E>(row, column, sums);
    int64_t at = row * p.ldc + column;
    if (!aligned || column + 8 > p.n)
      return storeSome<E>(at, min(p.n - column, 8), sums);
    float4 x = loadFloats(sums), y = loadFloats(sums + 16);
    if (p.wide) {
      storeFour(static_cast<float *>(p.c) + at, x);
      storeFour(static_cast<float *>(p.c) + at + 4, y);
    } else {
      storeEight<E>(static_cast<uint16_t *>(p.c) + at, x, y);
    }
  }

private:
  /// In place: nobody else reads these sums.
  template <Element E>
  MTC_DEVICE void finish(int row, int column, uint32_t sums) const {
    int count = min(p.n - column, 8);
#pragma unroll 1
    for (int i = 0; i < count; ++i, sums += 4)
      storeOne(sums, finished<E>(p, row, column + i, loadFloat(sums)));
  }

  MTC_DEVICE void storeFour(float *to, float4 x) const {
    auto *four = reinterpret_cast<float4 *>(to);
    if (p.beta) {
      float4 old = *four;
      x = {__fadd_rn(x.x, old.x), __fadd_rn(x.y, old.y), __fadd_rn(x.z, old.z),
           __fadd_rn(x.w, old.w)};
    }
    *four = x;
  }

  template <Element E>
  MTC_DEVICE void storeEight(uint16_t *to, float4 x, float4 y) const {
    auto *eight = reinterpret_cast<uint4 *>(to);
    if (p.beta) {
      uint4 old = *eight;
      addPair<E>(x.x, x.y, old.x);
      addPair<E>(x.z, x.w, old.y);
      addPair<E>(y.x, y.y, old.z);
      addPair<E>(y.z, y.w, old.w);
    }
    *eight = {pack<E>(x.x, x.y), pack<E>(x.z, x.w), pack<E>(y.x, y.y),
              pack<E>(y.z, y.w)};
  }

  template <Element E>
  MTC_DEVICE static void addPair(float &x, float &y, uint32_t old) {
    x = __fadd_rn(x, widen<E>(old & 0xffff));
    y = __fadd_rn(y, widen<E>(old >> 16));
  }

  template <Element E>
  MTC_DEVICE void storeSome(int64_t at, int count, uint32_t sums) const {
#pragma unroll 1
    for (int i = 0; i < count; ++i, ++at, sums += 4) {
      float x = loadFloat(sums);
      if (p.wide) {
        float *to = static_cast<float *>(p.c) + at;
        *to = p.beta ? __fadd_rn(x, *to) : x;
      } else {
        uint16_t *to = static_cast<uint16_t *>(p.c) + at;
        *to = uint16_t(pack<E>(p.beta ? __fadd_rn(x, widen<E>(*to)) : x, 0));
      }
    }
  }

  const GemmParams &p;
  bool aligned;
};

/// Bytes of shared memory that a warp needs for 16 rows of 64 sums. Four floats
/// more than a row has let rows lie in different banks.
constexpr int kSumRow = 4 * (64 + 4), kSumBytes = 16 * kSumRow;

/// Stores the 64 x 64 sums of a warp, the first at `row` and `column`.
template <Element E>
MTC_DEVICE void storeSums(const GemmParams &p, int row, int column,
                          const float (&sum)[4][8][4], uint32_t own) {
  Output output(p);
  int lane = int(threadIdx.x % 32);
#pragma unroll
  for (int m = 0; m < 4; ++m) {
    if (m > 0)
      __syncwarp(); // the rows before have been read
#pragma unroll
    for (int n = 0; n < 8; ++n)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        storePair(own + uint32_t((lane / 4 + 8 * h) * kSumRow +
                                 4 * (n * 8 + lane % 4 * 2)),
                  sum[m][n][2 * h], sum[m][n][2 * h + 1]);
    __syncwarp();
#pragma unroll 1
    for (int r = lane / 8; r < 16; r += 4)
      output.store<E>(row + m * 16 + r, column + lane % 8 * 8,
                      own + uint32_t(r * kSumRow + lane % 8 * 32));
  }
}

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_GEMM_STORE_CUH
