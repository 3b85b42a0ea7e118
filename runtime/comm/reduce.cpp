//===- reduce.cpp - sums and maxima in member order -----------------------===//

#include "runtime/comm/reduce.h"

#include "runtime/base/half.h"

#include <algorithm>
#include <bit>
#include <cstring>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

namespace mtc::runtime::comm {
namespace {

// Elements of the accumulator block: stays in the first-level cache.
constexpr int64_t kBlock = 1024;

/// Sixteen bytes in memory, in whatever alignment.
struct Int128 {
  char bytes[16];
};
__extension__ typedef __int128 WideInt;

float widen(float value) { return value; }
float widen(Bf16 x) { return widenBf16(x.bits); }
float widen(F16 x) { return widenF16(x.bits); }
WideInt widen(const Int128 &value) { return std::bit_cast<WideInt>(value); }

void narrow(float value, float &out) { out = value; }
void narrow(float value, Bf16 &out) { out.bits = roundToBf16(value); }
void narrow(float value, F16 &out) { out.bits = roundToF16(value); }
void narrow(WideInt value, Int128 &out) { out = std::bit_cast<Int128>(value); }

struct Sum {
  static float apply(float a, float b) { return a + b; }
  static WideInt apply(WideInt a, WideInt b) {
    WideInt sum;
    if (!__builtin_add_overflow(a, b, &sum))
      return sum;
    WideInt lowest = WideInt(1) << 126;
    lowest = -lowest - lowest;
    return a < 0 ? lowest : -(lowest + 1);
  }
};

struct Max {
  // A NaN on either side is kept: a comparison with it is false.
  static float apply(float a, float b) { return a != a ? a : (b <= a ? a : b); }
};

void copyPastCaches(char *out, const char *in, int64_t bytes) {
#ifdef __x86_64__
  int64_t head =
      std::min<int64_t>(bytes, -reinterpret_cast<uintptr_t>(out) & 15);
  std::memcpy(out, in, head);
  int64_t i = head;
  for (; i + 16 <= bytes; i += 16)
    _mm_stream_si128(
        reinterpret_cast<__m128i *>(out + i),
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(in + i)));
  std::memcpy(out + i, in + i, bytes - i);
#else
  std::memcpy(out, in, bytes);
#endif
}

void makeStoresVisible() {
#ifdef __x86_64__
  _mm_sfence();
#endif
}

template <typename Op, typename T>
void accumulateBlock(std::span<const void *const> inputs, int64_t first,
                     int64_t count, T *result) {
  decltype(widen(T())) acc[kBlock];
  const T *in = static_cast<const T *>(inputs[0]) + first;
  for (int64_t i = 0; i < count; ++i)
    acc[i] = widen(in[i]);
  for (size_t m = 1; m < inputs.size(); ++m) {
    in = static_cast<const T *>(inputs[m]) + first;
    for (int64_t i = 0; i < count; ++i)
      acc[i] = Op::apply(acc[i], widen(in[i]));
  }
  for (int64_t i = 0; i < count; ++i)
    narrow(acc[i], result[i]);
}

template <typename Op, typename T>
void reduceBlocks(std::span<const void *const> inputs,
                  std::span<void *const> outputs, int64_t first, int64_t count,
                  bool stream) {
  T result[kBlock];
  for (int64_t end = first + count; first < end; first += kBlock) {
    int64_t n = std::min(kBlock, end - first);
    accumulateBlock<Op, T>(inputs, first, n, result);
    auto *from = reinterpret_cast<const char *>(result);
    for (void *output : outputs) {
      auto *to = static_cast<char *>(output) + first * int64_t(sizeof(T));
      if (stream)
        copyPastCaches(to, from, n * int64_t(sizeof(T)));
      else
        std::memcpy(to, from, n * sizeof(T));
    }
  }
  if (stream)
    makeStoresVisible();
}

} // namespace

int64_t elementBytes(MtcDtype dtype) {
  switch (dtype) {
  case MTC_F32:
  case MTC_I32:
    return 4;
  case MTC_BF16:
  case MTC_F16:
    return 2;
  case MTC_I128:
    return 16;
  }
  return 0;
}

bool canReduce(MtcReduce op, MtcDtype dtype) {
  bool isFloat = dtype == MTC_F32 || dtype == MTC_BF16 || dtype == MTC_F16;
  if (op == MTC_SUM)
    return isFloat || dtype == MTC_I128;
  return op == MTC_MAX && isFloat;
}

template <typename T>
static void reduceFloats(MtcReduce op, std::span<const void *const> inputs,
                         std::span<void *const> outputs, int64_t first,
                         int64_t count, bool stream) {
  if (op == MTC_SUM)
    reduceBlocks<Sum, T>(inputs, outputs, first, count, stream);
  else
    reduceBlocks<Max, T>(inputs, outputs, first, count, stream);
}

void reduceInOrder(MtcReduce op, MtcDtype dtype,
                   std::span<const void *const> inputs,
                   std::span<void *const> outputs, int64_t first, int64_t count,
                   bool stream) {
  if (dtype == MTC_I128)
    return reduceBlocks<Sum, Int128>(inputs, outputs, first, count, stream);
  if (dtype == MTC_F32)
    return reduceFloats<float>(op, inputs, outputs, first, count, stream);
  if (dtype == MTC_F16)
    return reduceFloats<F16>(op, inputs, outputs, first, count, stream);
  reduceFloats<Bf16>(op, inputs, outputs, first, count, stream);
}

void combine(const CallRecord &call, int self,
             std::span<const void *const> inputs, char *buffer) {
  void *output = buffer;
  int64_t bytes = call.count * elementBytes(call.dtype);
  if (call.kind == CollectiveKind::allReduce)
    reduceInOrder(call.reduce, call.dtype, inputs, {&output, 1}, 0, call.count,
                  false);
  if (call.kind == CollectiveKind::reduceScatter)
    reduceInOrder(MTC_SUM, call.dtype, inputs, {&output, 1}, self * call.count,
                  call.count, false);
  if (call.kind == CollectiveKind::allGather && bytes > 0)
    for (size_t m = 0; m < inputs.size(); ++m)
      std::memcpy(buffer + static_cast<int64_t>(m) * bytes, inputs[m],
                  static_cast<size_t>(bytes));
}

} // namespace mtc::runtime::comm
