//===- reduction.cpp - what several ranks' elements become ----------------===//
#include "test/cuda/nccl/reduction.h"

#include "test/cuda/nccl/nccl_api.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace mtc::standin::nccl {
namespace {

/// A GPU's NaN has no sign and no payload.
constexpr uint32_t kNan32 = 0x7fffffff;
constexpr uint16_t kNan16 = 0x7fff;

struct F32 {
  using Bits = float;
  static float read(float x) { return x; }
  static float write(float x) {
    return std::isnan(x) ? std::bit_cast<float>(kNan32) : x;
  }
};

struct F64 {
  using Bits = double;
  static double read(double x) { return x; }
  static double write(double x) { return x; }
};

struct Bf16 {
  using Bits = uint16_t;
  static float read(uint16_t bits) {
    return std::bit_cast<float>(uint32_t(bits) << 16);
  }
  /// To nearest, ties to even.
  static uint16_t write(float x) {
    if (std::isnan(x))
      return kNan16;
    uint32_t bits = std::bit_cast<uint32_t>(x);
    return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

struct F16 {
  using Bits = uint16_t;
  static float read(uint16_t bits) {
    return float(std::bit_cast<_Float16>(bits));
  }
  static uint16_t write(float x) {
    return std::isnan(x) ? kNan16 : std::bit_cast<uint16_t>(_Float16(x));
  }
};

/// Sums and products wrap, in unsigned arithmetic of at least 32 bits.
template <class T> struct Integer {
  using Bits = T;
  static T read(T x) { return x; }
  static T write(T x) { return x; }
};

/// f32 has more than twice the bits of f16 and bf16: rounding its sum or
/// product of two again is rounding once.
template <class T> T join(int32_t op, T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    using Wide = std::make_unsigned_t<std::common_type_t<T, int>>;
    switch (op) {
    case ncclProd:
      return T(Wide(x) * Wide(y));
    case ncclMax:
      return x < y ? y : x;
    case ncclMin:
      return y < x ? y : x;
    default:
      return T(Wide(x) + Wide(y));
    }
  } else {
    switch (op) {
    case ncclProd:
      return x * y;
    case ncclMax: // a NaN loses, as in fmaxf of a GPU
      return std::isnan(x) ? y : std::isnan(y) ? x : x < y ? y : x;
    case ncclMin:
      return std::isnan(x) ? y : std::isnan(y) ? x : y < x ? y : x;
    default:
      return x + y;
    }
  }
}

template <class Type> struct Chain {
  using Bits = typename Type::Bits;
  using Value = decltype(Type::read(Bits()));

  static Bits at(const std::byte *bytes, size_t k) {
    Bits bits;
    std::memcpy(&bits, bytes + k * sizeof(Bits), sizeof bits);
    return bits;
  }

  /// What a rank gives. An average of floats scales before it adds.
  static Value given(const Reduction &r, size_t rank, size_t k) {
    Value value = Type::read(at(r.inputs[rank], k));
    if constexpr (!std::is_integral_v<Value>)
      if (r.op == ncclAvg)
        value = Type::read(Type::write(
            value *
            Type::read(Type::write(Value(1) / Value(r.inputs.size())))));
    return value;
  }

  static Bits element(const Reduction &r, size_t k) {
    size_t ranks = r.inputs.size();
    uint64_t chunk = r.oneChain ? 0 : (r.first + k) / kChunkElements;
    size_t start = size_t((chunk + r.shift) % ranks);
    Value sum = given(r, start, k);
    for (size_t step = 1; step < ranks; ++step)
      sum = Type::read(
          Type::write(join(r.op, sum, given(r, (start + step) % ranks, k))));
    if constexpr (std::is_integral_v<Value>)
      if (r.op == ncclAvg)
        sum = Value(sum / Value(ranks));
    return Type::write(sum);
  }

  static void run(const Reduction &r, std::byte *to) {
    for (size_t k = 0; k < r.count; ++k) {
      Bits bits = element(r, k);
      std::memcpy(to + k * sizeof bits, &bits, sizeof bits);
    }
  }
};

} // namespace

void reduce(const Reduction &r, std::byte *to) {
  switch (r.type) {
  case ncclInt8:
    return Chain<Integer<int8_t>>::run(r, to);
  case ncclUint8:
    return Chain<Integer<uint8_t>>::run(r, to);
  case ncclInt32:
    return Chain<Integer<int32_t>>::run(r, to);
  case ncclUint32:
    return Chain<Integer<uint32_t>>::run(r, to);
  case ncclInt64:
    return Chain<Integer<int64_t>>::run(r, to);
  case ncclUint64:
    return Chain<Integer<uint64_t>>::run(r, to);
  case ncclFloat16:
    return Chain<F16>::run(r, to);
  case ncclFloat32:
    return Chain<F32>::run(r, to);
  case ncclFloat64:
    return Chain<F64>::run(r, to);
  case ncclBfloat16:
    return Chain<Bf16>::run(r, to);
  }
}

} // namespace mtc::standin::nccl
