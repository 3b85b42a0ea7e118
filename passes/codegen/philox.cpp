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
#include "passes/codegen/loops.h"

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
constexpr int64_t kYmm = 4;       ///< the same of AVX2
/// The first round whose words all differ from lane to lane. What a vector has
/// in every lane LLVM computes once, as a scalar, if it sees how.
constexpr int kFirstVaried = 3;
constexpr int64_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

using Words = std::array<Value, 4>;

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

  Value add(Value v, Value w) const { return arith::AddIOp::create(b, v, w); }

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

  /// The first half of a round.
  std::array<Value, 2> multiply(const Words &c) const {
    return {mul(c[0], kMul0), mul(c[2], kMul1)};
  }
  /// The second half; the keys have the type of the words.
  template <typename Xor>
  Words mix(const std::array<Value, 2> &products, const Words &c, Value key0,
            Value key1, Xor xorAll) const {
    return {xorAll(high(products[1]), c[1], key0), products[1],
            xorAll(high(products[0]), c[3], key1), products[0]};
  }
  /// `v`, whose lanes are equal, with as many lanes as the words.
  Value repeat(Value v) const {
    int64_t all = cast<VectorType>(type).getNumElements(),
            some = cast<VectorType>(v.getType()).getNumElements();
    SmallVector<int64_t> lanes;
    for (int64_t lane = 0; lane < all; ++lane)
      lanes.push_back(lane % some);
    return some == all ? v : vector::ShuffleOp::create(b, v, v, lanes);
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

/// The rounds from kFirstVaried on, as a loop: laid out one behind the other,
/// LLVM would ask at every use which bits of a word are known, through the
/// rounds before, which is a quarter of the compilation of a small model.
/// `key0` and `key1` are of the first of them.
Words emitVariedRounds(const Lanes &l, const Words &c, Value key0, Value key1) {
  ImplicitLocOpBuilder &b = l.b;
  int64_t lanes = cast<VectorType>(l.type).getNumElements();
  // One register, however many the words take: it is carried once.
  Lanes key{b, VectorType::get({std::min(lanes, kYmm)}, b.getI64Type())};
  Value step0 = key.constant(kWeyl0), step1 = key.constant(kWeyl1);
  auto index = [&](int64_t v) -> Value {
    return arith::ConstantIndexOp::create(b, v);
  };
  SmallVector<Value> carried(c.begin(), c.end());
  carried.append({key.spread(key0), key.spread(key1)});
  Value from = index(kFirstVaried), to = index(kRounds), step = index(1);
  carried = emitFor(
      b, from, to, step, carried,
      [&](Value, ValueRange now) {
        Words words = {now[0], now[1], now[2], now[3]};
        std::array<Value, 2> products = l.multiply(words);
        Value all0 = l.repeat(now[4]), all1 = l.repeat(now[5]);
        words =
            l.mix(products, words, all0, all1,
                  [&](Value x, Value y, Value z) { return l.xorAll(x, y, z); });
        SmallVector<Value> next(words.begin(), words.end());
        // What is above 32 bits counts nowhere.
        next.append({key.add(now[4], step0), key.add(now[5], step1)});
        return next;
      },
      Unrolling::Never);
  return {carried[0], carried[1], carried[2], carried[3]};
}

} // namespace

std::array<Value, 4> codegen::emitPhiloxBlock(ImplicitLocOpBuilder &b,
                                              const PhiloxStream &stream,
                                              Value block) {
  Lanes l{b, withElement(block.getType(), b.getI64Type())};
  Lanes scalar{b, b.getI64Type()};
  Value key0 = scalar.low(stream.seed), key1 = scalar.high(stream.seed);
  Words c = {arith::ExtUIOp::create(b, l.type, block),
             l.spread(layerAndSite(b, stream)),
             l.spread(scalar.low(stream.sample)),
             l.spread(scalar.high(stream.sample))};
  auto vector = dyn_cast<VectorType>(l.type);
  bool hasZmm = stream.form == PhiloxForm::Avx512 && vector &&
                vector.getNumElements() % kZmm == 0 &&
                llvm::isPowerOf2_64(vector.getNumElements());
  bool rolls = stream.form == PhiloxForm::Rolled && vector;
  // The halves and keys of a round are made in this order by any compiler.
  for (int round = 0; round < (rolls ? kFirstVaried : kRounds); ++round) {
    std::array<Value, 2> products = l.multiply(c);
    Value k0 = l.spread(roundKey(b, key0, kWeyl0, round));
    Value k1 = l.spread(roundKey(b, key1, kWeyl1, round));
    c = l.mix(products, c, k0, k1, [&](Value x, Value y, Value z) {
      return hasZmm && round >= kFirstVaried ? l.xorAllAvx512(x, y, z)
                                             : l.xorAll(x, y, z);
    });
  }
  if (rolls) {
    Value k0 = roundKey(b, key0, kWeyl0, kFirstVaried);
    Value k1 = roundKey(b, key1, kWeyl1, kFirstVaried);
    c = emitVariedRounds(l, c, k0, k1);
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
