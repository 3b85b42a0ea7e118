//===- exact_sum.cuh - sums of many words by atomics ------------*- C++ -*-===//
//
// A sum is ten words of 64 bits, low ones first: of the limbs of
// MtcStepState::norm the low halves, and both halves of the last. An addition
// to a word that wraps carries one to the next word, by whichever thread made
// it wrap: so no carry is lost or made twice, and what stands there in the end
// is the exact sum, whatever the order.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CUDA_NORM_EXACT_SUM_CUH
#define MTC_RUNTIME_CUDA_NORM_EXACT_SUM_CUH

#include "mtc/runtime/abi.h"
#include "runtime/cuda/common/device.cuh"

namespace mtc::cuda {

/// A word, as atomics take it.
using Word = unsigned long long;

constexpr int kWords = MTC_NORM_LIMBS + 1;
/// The high half of the last limb of a sum that is not finite; the low half
/// then has all bits.
constexpr Word kNotFiniteHigh = ~Word(0) >> 1;

/// The sum of a block, in shared memory.
struct BlockSum {
  Word words[kWords];
  uint32_t notFinite; ///< 0 or 1

  /// By all threads; a barrier follows.
  MTC_DEVICE void clear() {
    if (threadIdx.x < kWords)
      words[threadIdx.x] = 0;
    if (threadIdx.x == kWords)
      notFinite = 0;
  }
  MTC_DEVICE void add(int word, Word x) {
    for (; x != 0 && word < kWords; ++word) {
      Word old = atomicAdd(words + word, x);
      x = old + x < old;
    }
  }
  MTC_DEVICE void addNotFinite() { atomicOr(&notFinite, 1u); }
};

/// The sum in device memory, which blocks add to at the same time.
///
/// One that is not finite has to stay what it is, though additions to the last
/// limb may come late. Who makes it so writes the high half, then the low one.
/// Who adds to the low half looks at the high one afterwards: either it sees
/// the mark, and writes the low half again, or the low half of the mark comes
/// after the addition.
class DeviceSum {
public:
  MTC_DEVICE explicit DeviceSum(int64_t *norm)
      : norm(reinterpret_cast<Word *>(norm)) {}

  MTC_DEVICE void add(int word, Word x) {
    for (; x != 0 && word < kWords - 1; ++word) {
      Word old = atomicAdd(norm + 2 * word, x);
      if (word == kWords - 2)
        keepMark();
      x = old + x < old;
    }
    if (x != 0)
      addHigh(x);
  }

  MTC_DEVICE void setNotFinite() {
    atomicExch(high(), kNotFiniteHigh);
    __threadfence();
    atomicExch(low(), ~Word(0));
  }

private:
  MTC_DEVICE Word *low() const { return norm + 2 * (MTC_NORM_LIMBS - 1); }
  MTC_DEVICE Word *high() const { return low() + 1; }

  MTC_DEVICE void keepMark() {
    __threadfence();
    if (atomicAdd(high(), 0) == kNotFiniteHigh)
      atomicExch(low(), ~Word(0));
  }

  MTC_DEVICE void addHigh(Word x) {
    Word seen = atomicAdd(high(), 0);
    while (seen != kNotFiniteHigh) {
      Word old = atomicCAS(high(), seen, seen + x);
      if (old == seen)
        return;
      seen = old;
    }
  }

  Word *norm;
};

} // namespace mtc::cuda
#endif // MTC_RUNTIME_CUDA_NORM_EXACT_SUM_CUH
