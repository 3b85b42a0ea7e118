//===- philox.cpp - Philox4x32-10 in IR -----------------------------------===//
//
// Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3"
// (SC'11). Each 32-bit word sits in a 64-bit lane, because the product of two
// words is what the machine multiplies; the upper halves hold garbage between
// rounds and are cut off before the next product.
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/philox.h"

#include "passes/codegen/elementary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

namespace {

constexpr int64_t kLow = 0xffffffff;
constexpr int64_t kMul0 = 0xD2511F53, kMul1 = 0xCD9E8D57;
constexpr int64_t kXorAll = 0x96; ///< the truth table of x ^ y ^ z
constexpr int64_t kZmm = 8;       ///< i64 of a register of AVX-512
/// The first round whose words all differ from lane to lane. What a vector has
/// in every lane LLVM computes once, as a scalar, if it sees how.
constexpr int kFirstVaried = 3;
constexpr int64_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;

struct Lanes {
  ImplicitLocOpBuilder &b;
  Type type; ///< i64 or a vector of it

  Value constant(int64_t v) const { return emitInteger(b, type, v); }
  /// A scalar i64 in every lane.
  Value spread(Value v) const {
    return isa<VectorType>(type)
               ? vector::BroadcastOp::create(b, type, v).getResult()
               : v;
  }
  Value low(Value v) const {
    return arith::AndIOp::create(b, v, constant(kLow));
  }
  Value high(Value v) const {
    return arith::ShRUIOp::create(b, v, constant(32));
  }
  Value mul(Value v, int64_t m) const {
    return arith::MulIOp::create(b, low(v), constant(m));
  }
  Value xori(Value x, Value y) const { return arith::XOrIOp::create(b, x, y); }
  Value xorAll(Value x, Value y, Value z) const { return xori(xori(x, y), z); }

  /// xorAll as the one instruction that it becomes. LLVM finds it as well, but
  /// then asks at every use which bits of a word are known, through the rounds
  /// before, which is a quarter of the time that it takes for a kernel.
  Value xorAllAvx512(Value x, Value y, Value z) const {
    int64_t lanes = cast<VectorType>(type).getNumElements();
    SmallVector<Value> parts;
    for (int64_t first = 0; first < lanes; first += kZmm) {
      std::array<Value, 3> zmm = {part(x, first), part(y, first),
                                  part(z, first)};
      parts.push_back(xorZmm(zmm[0], zmm[1], zmm[2]));
    }
    while (parts.size() > 1) {
      for (size_t i = 0; i < parts.size() / 2; ++i)
        parts[i] = join(parts[2 * i], parts[2 * i + 1]);
      parts.resize(parts.size() / 2);
    }
    return parts.front();
  }

private:
  Value part(Value v, int64_t first) const {
    auto lanes = llvm::to_vector(llvm::seq(first, first + kZmm));
    return vector::ShuffleOp::create(b, v, v, lanes);
  }
  Value join(Value low, Value high) const {
    int64_t half = cast<VectorType>(low.getType()).getNumElements();
    auto lanes = llvm::to_vector(llvm::seq<int64_t>(0, 2 * half));
    return vector::ShuffleOp::create(b, low, high, lanes);
  }
  Value xorZmm(Value x, Value y, Value z) const {
    Value table = arith::ConstantOp::create(b, b.getI32IntegerAttr(kXorAll));
    return LLVM::CallIntrinsicOp::create(
               b, x.getType(),
               b.getStringAttr("llvm.x86.avx512.pternlog.q.512"),
               ValueRange{x, y, z, table})
        .getResult(0);
  }
};

/// The key of round `round`: key + round·weyl, of which 32 bits count.
Value roundKey(ImplicitLocOpBuilder &b, Value key, int64_t weyl, int round) {
  Value step = emitInteger(b, key.getType(), (weyl * round) & kLow);
  Value sum = arith::AddIOp::create(b, key, step);
  return arith::AndIOp::create(b, sum, emitInteger(b, key.getType(), kLow));
}

/// The counter's second word, above the element's high bits: layer << 8 | site.
Value layerAndSite(ImplicitLocOpBuilder &b, const PhiloxStream &stream) {
  Lanes scalar{b, b.getI64Type()};
  Value layer = arith::ShLIOp::create(b, stream.layer, scalar.constant(8));
  return scalar.low(
      arith::OrIOp::create(b, layer, scalar.constant(stream.site)));
}

} // namespace

std::array<Value, 4> codegen::emitPhiloxBlock(ImplicitLocOpBuilder &b,
                                              const PhiloxStream &stream,
                                              Value block) {
  Lanes l{b, withElement(block.getType(), b.getI64Type())};
  Lanes scalar{b, b.getI64Type()};
  Value key0 = scalar.low(stream.seed), key1 = scalar.high(stream.seed);
  std::array<Value, 4> c = {arith::ExtUIOp::create(b, l.type, block),
                            l.spread(layerAndSite(b, stream)),
                            l.spread(scalar.low(stream.sample)),
                            l.spread(scalar.high(stream.sample))};
  auto vector = dyn_cast<VectorType>(l.type);
  bool hasZmm = stream.hasAvx512 && vector &&
                vector.getNumElements() % kZmm == 0 &&
                llvm::isPowerOf2_64(vector.getNumElements());
  for (int round = 0; round < 10; ++round) {
    auto xorAll = [&](Value x, Value y, Value z) {
      return hasZmm && round >= kFirstVaried ? l.xorAllAvx512(x, y, z)
                                             : l.xorAll(x, y, z);
    };
    Value product0 = l.mul(c[0], kMul0), product1 = l.mul(c[2], kMul1);
    Value k0 = l.spread(roundKey(b, key0, kWeyl0, round));
    Value k1 = l.spread(roundKey(b, key1, kWeyl1, round));
    c = {xorAll(l.high(product1), c[1], k0), product1,
         xorAll(l.high(product0), c[3], k1), product0};
  }
  for (Value &v : c)
    v = arith::TruncIOp::create(b, block.getType(), v);
  return c;
}

Value codegen::emitPhiloxWord(ImplicitLocOpBuilder &b,
                              const PhiloxStream &stream, Value element) {
  Type type = element.getType();
  auto bit = [&](int64_t mask) -> Value {
    Value masked =
        arith::AndIOp::create(b, element, emitInteger(b, type, mask));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, masked,
                                 emitInteger(b, type, 0));
  };
  Value block = arith::ShRUIOp::create(b, element, emitInteger(b, type, 2));
  auto words = emitPhiloxBlock(b, stream, block);
  Value odd = bit(1);
  Value low = arith::SelectOp::create(b, odd, words[1], words[0]);
  Value high = arith::SelectOp::create(b, odd, words[3], words[2]);
  return arith::SelectOp::create(b, bit(2), high, low);
}
