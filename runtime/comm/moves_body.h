//===- moves_body.h - the loops of moves.h, for one instruction set -------===//
//
// A strip of some lines of every input is combined and written to every output
// before the next: reads and writes of memory then overlap, which they do not
// where a block is summed first and written then (a third of the rate less).
// Sums are made in place, so the lines that they are written to were just read:
// stores past the caches would save nothing. A copy's were not. Fetching ahead
// by instructions costs more than it brings, measured on Zen 4. Everything is
// inlined or local to the object.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_MOVES_BODY_H
#define MTC_RUNTIME_COMM_MOVES_BODY_H

#include "runtime/base/half.h"
#include "runtime/comm/moves.h"

#include <cstring>
#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace mtc::runtime::comm {
namespace {

constexpr int64_t kLine = 64; ///< bytes

// Lanes of a register of floats, and registers of a strip, which is whole lines
// of elements of 16 bits, too.
#if defined(__AVX512F__)
constexpr int64_t kLanes = 16, kRegisters = 4;
#elif defined(__AVX2__)
constexpr int64_t kLanes = 8, kRegisters = 4;
#else
constexpr int64_t kLanes = 4, kRegisters = 8;
#endif
/// A register.
typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));
constexpr int64_t kStrip = kRegisters * kLanes; ///< elements
static_assert(kStrip * sizeof(Bf16) % kLine == 0);

/// Sixteen bytes in memory, in whatever alignment.
struct Int128 {
  char bytes[16];
};
__extension__ typedef __int128 WideInt;

float widen(float value) { return value; }
float widen(Bf16 x) { return widenBf16(x.bits); }
float widen(F16 x) { return widenF16(x.bits); }
WideInt widen(const Int128 &x) { return __builtin_bit_cast(WideInt, x); }

void narrow(float value, float &out) { out = value; }
void narrow(float value, Bf16 &out) { out.bits = roundToBf16(value); }
void narrow(float value, F16 &out) { out.bits = roundToF16(value); }
void narrow(WideInt value, Int128 &out) {
  out = __builtin_bit_cast(Int128, value);
}

template <typename T>
[[gnu::always_inline]] inline Floats widenLanes(const T *in) {
  float wide[kLanes];
  for (int64_t i = 0; i < kLanes; ++i)
    wide[i] = widen(in[i]);
  Floats result;
  std::memcpy(&result, wide, sizeof result);
  return result;
}

template <typename T>
[[gnu::always_inline]] inline void narrowLanes(Floats value, T *out) {
  float wide[kLanes];
  std::memcpy(wide, &value, sizeof wide);
  for (int64_t i = 0; i < kLanes; ++i)
    narrow(wide[i], out[i]);
}

struct Sum {
  /// Of floats, or of registers of them.
  template <typename F> static F apply(F a, F b) { return a + b; }
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
  template <typename F> static F apply(F a, F b) {
    return a != a ? a : (b <= a ? a : b);
  }
};

/// One element after the other.
template <typename Op, typename T>
void reduceElements(const Reduction &r, int64_t first, int64_t count) {
  for (int64_t at = first; at < first + count; ++at) {
    auto acc = widen(static_cast<const T *>(r.inputs[0])[at]);
    for (int64_t m = 1; m < r.inputCount; ++m)
      acc = Op::apply(acc, widen(static_cast<const T *>(r.inputs[m])[at]));
    for (int64_t k = 0; k < r.outputCount; ++k)
      narrow(acc, static_cast<T *>(r.outputs[k])[at]);
  }
}

struct Strip {
  Floats lanes[kRegisters];
};

/// The strip that begins at element `at` of all inputs.
template <typename Op, typename T>
[[gnu::always_inline]] inline Strip combineStrip(const Reduction &r,
                                                 int64_t at) {
  Strip acc;
  const T *in = static_cast<const T *>(r.inputs[0]) + at;
#pragma GCC unroll 8
  for (int i = 0; i < kRegisters; ++i)
    acc.lanes[i] = widenLanes(in + i * kLanes);
  for (int64_t m = 1; m < r.inputCount; ++m) {
    in = static_cast<const T *>(r.inputs[m]) + at;
#pragma GCC unroll 8
    for (int i = 0; i < kRegisters; ++i)
      acc.lanes[i] = Op::apply(acc.lanes[i], widenLanes(in + i * kLanes));
  }
  return acc;
}

template <typename T>
[[gnu::always_inline]] inline void narrowStrip(const Strip &acc, T *out) {
#pragma GCC unroll 8
  for (int i = 0; i < kRegisters; ++i)
    narrowLanes(acc.lanes[i], out + i * kLanes);
}

/// To every output, from registers where they hold what is written.
template <typename T>
[[gnu::always_inline]] inline void writeStrip(const Reduction &r, int64_t at,
                                              const Strip &acc) {
  alignas(kLine) T rounded[kStrip];
  if (sizeof(T) < sizeof(float))
    narrowStrip(acc, rounded);
  for (int64_t k = 0; k < r.outputCount; ++k) {
    T *out = static_cast<T *>(r.outputs[k]) + at;
    if (sizeof(T) < sizeof(float))
      std::memcpy(out, rounded, sizeof rounded);
    else
      narrowStrip(acc, out);
  }
}

template <typename Op, typename T> void reduceStrips(const Reduction &r) {
  int64_t at = r.first, end = r.first + r.count;
  for (; at + kStrip <= end; at += kStrip)
    writeStrip<T>(r, at, combineStrip<Op, T>(r, at));
  reduceElements<Op, T>(r, at, end - at);
}

template <typename T> void reduceFloats(const Reduction &r) {
  if (r.op == MTC_SUM)
    reduceStrips<Sum, T>(r);
  else
    reduceStrips<Max, T>(r);
}

void reduceAll(const Reduction &r) {
  if (r.dtype == MTC_I128)
    return reduceElements<Sum, Int128>(r, r.first, r.count);
  if (r.dtype == MTC_F32)
    return reduceFloats<float>(r);
  if (r.dtype == MTC_F16)
    return reduceFloats<F16>(r);
  reduceFloats<Bf16>(r);
}

/// How many bytes lie before the next line.
int64_t bytesToLine(const void *p) {
  return -reinterpret_cast<intptr_t>(p) & (kLine - 1);
}

/// Writes a line past the caches; `to` is at its beginning.
void streamLine(char *to, const char *from) {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i *>(to),
                      _mm512_loadu_si512(from));
#elif defined(__AVX2__)
  for (int i = 0; i < kLine; i += 32)
    _mm256_stream_si256(
        reinterpret_cast<__m256i *>(to + i),
        _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from + i)));
#elif defined(__SSE2__)
  for (int i = 0; i < kLine; i += 16)
    _mm_stream_si128(
        reinterpret_cast<__m128i *>(to + i),
        _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i)));
#else
  std::memcpy(to, from, kLine);
#endif
}

void makeStoresVisible() {
#ifdef __x86_64__
  _mm_sfence();
#endif
}

/// `Line` writes a line, at the beginning of one.
template <typename Line>
[[gnu::always_inline]] inline void copyLines(char *to, const char *from,
                                             int64_t bytes, Line line) {
  constexpr int64_t kLines = 4; // at once
  int64_t i = bytesToLine(to);
  i = i < bytes ? i : bytes;
  std::memcpy(to, from, size_t(i));
  for (; i + kLines * kLine <= bytes; i += kLines * kLine)
#pragma GCC unroll 4
    for (int64_t k = 0; k < kLines; ++k)
      line(to + i + k * kLine, from + i + k * kLine);
  std::memcpy(to + i, from + i, size_t(bytes - i));
}

void copyAll(char *to, const char *from, int64_t bytes, bool stream) {
  if (!stream)
    return copyLines(to, from, bytes, [](char *out, const char *in) {
      std::memcpy(out, in, kLine);
    });
  copyLines(to, from, bytes,
            [](char *out, const char *in) { streamLine(out, in); });
  makeStoresVisible();
}

} // namespace
} // namespace mtc::runtime::comm
#endif // MTC_RUNTIME_COMM_MOVES_BODY_H
