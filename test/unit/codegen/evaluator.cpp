//===- evaluator.cpp - kernel bodies in double precision ------------------===//
#include "evaluator.h"

#include "runtime/base/philox.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <cstring>
#include <map>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

double test::roundToBf16(double v) {
  float single = static_cast<float>(v);
  if (std::isnan(single))
    return single;
  uint32_t bits;
  std::memcpy(&bits, &single, 4);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
  std::memcpy(&single, &bits, 4);
  return single;
}

namespace {

constexpr double kUnit = 0x1p-24;         ///< rounding to fp32
constexpr double kElementary = 8 * kUnit; ///< 4 units in the last place

/// A result with the error that its operands bring and its own rounding.
Number rounded(double v, double carried, double unit = kUnit) {
  return {v, 0, carried + unit * std::fabs(v)};
}

using Row = llvm::DenseMap<Value, std::vector<Number>>; ///< by column

class Evaluator {
public:
  Evaluator(rt::KernelOp kernel, std::vector<Buffer> &operands,
            const std::vector<int64_t> &args, int64_t cols)
      : kernel(kernel), operands(operands), args(args), cols(cols) {}

  std::string run() {
    int64_t rows = static_cast<int64_t>(kernel.getRows());
    for (row = 0; row < rows && error.empty(); ++row) {
      values.clear();
      for (Operation &op : kernel.getBody().front())
        step(&op);
    }
    return error;
  }

private:
  rt::OperandAttr info(int64_t i) {
    return cast<rt::OperandAttr>(kernel.getOperandsInfo()[i]);
  }

  /// Element (row, c) of an operand; `named` is the row of a table.
  Number *element(int64_t operand, int64_t c, int64_t named = -1) {
    rt::OperandAttr at = info(operand);
    int64_t extent = static_cast<int64_t>(at.getExtent()), place = 0;
    switch (at.getMode()) {
    case rt::Mode::Full:
      place = row * cols + c;
      break;
    case rt::Mode::Row:
      place = row;
      break;
    case rt::Mode::Col:
      place = c;
      break;
    case rt::Mode::Scalar:
      break;
    case rt::Mode::Periodic:
      place = row % extent * cols + c;
      break;
    case rt::Mode::Table:
      if (named < 0 || named >= extent)
        return nullptr;
      place = named * cols + c;
    }
    return &operands[operand].elements.at(place);
  }

  static int64_t asSigned(Number n, Type t) {
    unsigned width = t.getIntOrFloatBitWidth();
    return static_cast<int64_t>(n.i << (64 - width)) >> (64 - width);
  }
  static Number wrap(uint64_t v, Type t) {
    unsigned width = t.getIntOrFloatBitWidth();
    return {0, width == 64 ? v : v & ((uint64_t(1) << width) - 1)};
  }

  void step(Operation *op) {
    if (auto reduce = dyn_cast<rt::RowReduceOp>(op)) {
      bool sum = reduce.getKind() == rt::ReduceKind::Sum;
      double total = sum ? 0 : -INFINITY, magnitude = 0, carried = 0;
      for (Number n : values[reduce.getValue()]) {
        total = sum                              ? total + n.f
                : std::isnan(n.f) || n.f > total ? n.f
                                                 : total;
        magnitude += std::fabs(n.f);
        carried = sum ? carried + n.error : std::max(carried, n.error);
      }
      double own = sum ? double(cols) * kUnit * magnitude : 0;
      values[reduce.getResult()].assign(cols, {total, 0, carried + own});
      return;
    }
    if (writeOnce(op))
      return;
    std::vector<Number> out(cols);
    for (int64_t c = 0; c < cols; ++c)
      out[c] = scalar(op, c);
    if (op->getNumResults())
      values[op->getResult(0)] = out;
  }

  /// Row and scalar operands are written once per row, not per column.
  bool writeOnce(Operation *op) {
    int64_t operand;
    Value value;
    bool add = false;
    if (auto store = dyn_cast<rt::StoreOp>(op)) {
      operand = store.getOperand(), value = store.getValue();
    } else if (auto accumulate = dyn_cast<rt::AccumulateOp>(op)) {
      operand = accumulate.getOperand(), value = accumulate.getValue(),
      add = true;
    } else {
      return false;
    }
    rt::Mode mode = info(operand).getMode();
    if (mode != rt::Mode::Row && mode != rt::Mode::Scalar)
      return false;
    write(element(operand, 0), values[value][0], add,
          info(operand).getElement());
    return true;
  }

  void write(Number *at, Number v, bool add, Type t) {
    if (add && isa<IntegerType>(t))
      *at = wrap(at->i + v.i, t);
    else if (add)
      *at = t.isBF16() ? toBf16(rounded(at->f + v.f, at->error + v.error))
                       : rounded(at->f + v.f, at->error + v.error);
    else
      *at = v;
  }

  /// Near a tie both neighbours may come out: one spacing of bf16.
  static Number toBf16(Number x) {
    return {roundToBf16(x.f), 0,
            x.error + (x.error > 0 ? 0x1p-7 * std::fabs(x.f) : 0)};
  }

  Number scalar(Operation *op, int64_t c) {
    auto in = [&](unsigned i) { return values[op->getOperand(i)][c]; };
    if (auto load = dyn_cast<rt::LoadOp>(op))
      return *element(load.getOperand(), c);
    if (auto store = dyn_cast<rt::StoreOp>(op))
      return write(element(store.getOperand(), c), in(0), false,
                   store.getValue().getType()),
             Number{};
    if (auto add = dyn_cast<rt::AccumulateOp>(op))
      return write(element(add.getOperand(), c), in(0), true,
                   info(add.getOperand()).getElement()),
             Number{};
    if (auto gather = dyn_cast<rt::GatherOp>(op)) {
      Number *at = element(gather.getOperand(), c,
                           asSigned(in(0), gather.getRow().getType()));
      return at ? *at : Number{};
    }
    if (auto scatter = dyn_cast<rt::ScatterAddOp>(op)) {
      if (Number *at = element(scatter.getOperand(), c,
                               asSigned(in(0), scatter.getRow().getType())))
        write(at, in(1), true, scatter.getValue().getType());
      return {};
    }
    if (auto index = dyn_cast<rt::IndexOp>(op))
      return {0, uint64_t(index.getKind() == rt::IndexKind::Row ? row : c)};
    if (auto arg = dyn_cast<rt::ArgOp>(op))
      return {0, uint64_t(args.at(arg.getIndex()))};
    if (auto random = dyn_cast<rt::RandomOp>(op))
      return {0, runtime::philoxWord({in(0).i, in(1).i, uint32_t(in(2).i),
                                      uint32_t(random.getSite())},
                                     in(3).i)};
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto f = dyn_cast<FloatAttr>(constant.getValue()))
        return {f.getValueAsDouble()};
      return wrap(
          cast<IntegerAttr>(constant.getValue()).getValue().getZExtValue(),
          op->getResult(0).getType());
    }
    return op->getOperand(0).getType().isIntOrIndex() &&
                   !isa<arith::SelectOp>(op)
               ? ofIntegers(op, in(0),
                            op->getNumOperands() > 1 ? in(1) : Number{})
               : ofFloats(op, in(0),
                          op->getNumOperands() > 1 ? in(1) : Number{},
                          op->getNumOperands() > 2 ? in(2) : Number{});
  }

  Number ofFloats(Operation *op, Number x, Number y, Number z) {
    StringRef name = op->getName().getStringRef();
    if (name == "arith.select")
      return x.i ? y : z;
    if (auto cmp = dyn_cast<arith::CmpFOp>(op))
      return {0, compare(cmp.getPredicate(), x.f, y.f)};
    if (name == "arith.truncf")
      return toBf16(x);
    if (name == "arith.addf")
      return rounded(x.f + y.f, x.error + y.error);
    if (name == "arith.subf")
      return rounded(x.f - y.f, x.error + y.error);
    if (name == "arith.mulf")
      return rounded(x.f * y.f,
                     std::fabs(x.f) * y.error + std::fabs(y.f) * x.error);
    if (name == "math.fma")
      return rounded(std::fma(x.f, y.f, z.f), std::fabs(x.f) * y.error +
                                                  std::fabs(y.f) * x.error +
                                                  z.error);
    if (name == "arith.divf")
      return rounded(x.f / y.f, (x.error + std::fabs(x.f / y.f) * y.error) /
                                    std::fabs(y.f));
    if (name == "arith.negf")
      return {-x.f, 0, x.error};
    if (name == "math.absf")
      return {std::fabs(x.f), 0, x.error};
    if (name == "arith.maximumf")
      return {std::isnan(x.f) || x.f > y.f ? x.f : y.f, 0,
              std::max(x.error, y.error)};
    if (name == "arith.minimumf")
      return {std::isnan(x.f) || x.f < y.f ? x.f : y.f, 0,
              std::max(x.error, y.error)};
    return ofFunction(op, name, x);
  }

  /// f(x), with |f'(x)| times the error of x.
  Number ofFunction(Operation *op, StringRef name, Number x) {
    auto result = [&](double v, double slope, double unit = kElementary) {
      return rounded(v, std::fabs(slope) * x.error, unit);
    };
    double root = std::sqrt(x.f);
    if (name == "math.exp")
      return result(std::exp(x.f), std::exp(x.f));
    if (name == "math.log")
      return result(std::log(x.f), 1 / x.f);
    if (name == "math.tanh")
      return result(std::tanh(x.f), 1 - std::tanh(x.f) * std::tanh(x.f));
    if (name == "rt.logistic") {
      double s = 1 / (1 + std::exp(-x.f));
      return result(s, s * (1 - s));
    }
    if (name == "math.erf")
      return result(std::erf(x.f), 1.13 * std::exp(-x.f * x.f));
    if (name == "math.sqrt")
      return result(root, 0.5 / root, kUnit);
    if (name == "math.rsqrt")
      return result(1 / root, 0.5 / (x.f * root), 2 * kUnit);
    // Absolute error 2^-23 (elementary.h).
    if (name == "math.sin")
      return {std::sin(x.f), 0, x.error + 2 * kUnit};
    if (name == "math.cos")
      return {std::cos(x.f), 0, x.error + 2 * kUnit};
    if (name == "arith.extf")
      return x;
    return unknown(op);
  }

  Number ofIntegers(Operation *op, Number x, Number y) {
    StringRef name = op->getName().getStringRef();
    Type in = op->getOperand(0).getType(), out = op->getResult(0).getType();
    if (auto cmp = dyn_cast<arith::CmpIOp>(op))
      return {0, compareIntegers(cmp.getPredicate(), x, y, in)};
    static const std::map<StringRef, uint64_t (*)(uint64_t, uint64_t)> binary =
        {{"arith.addi", [](uint64_t a, uint64_t b) { return a + b; }},
         {"arith.subi", [](uint64_t a, uint64_t b) { return a - b; }},
         {"arith.muli", [](uint64_t a, uint64_t b) { return a * b; }},
         {"arith.divui", [](uint64_t a, uint64_t b) { return a / b; }},
         {"arith.remui", [](uint64_t a, uint64_t b) { return a % b; }},
         {"arith.andi", [](uint64_t a, uint64_t b) { return a & b; }},
         {"arith.ori", [](uint64_t a, uint64_t b) { return a | b; }},
         {"arith.xori", [](uint64_t a, uint64_t b) { return a ^ b; }},
         {"arith.shrui", [](uint64_t a, uint64_t b) { return a >> b; }}};
    if (auto found = binary.find(name); found != binary.end())
      return wrap(found->second(x.i, y.i), out);
    if (name == "arith.extui" || name == "arith.trunci")
      return wrap(x.i, out);
    if (name == "arith.extsi")
      return wrap(asSigned(x, in), out);
    if (name == "arith.sitofp")
      return rounded(double(asSigned(x, in)), 0);
    if (name == "arith.uitofp")
      return rounded(double(x.i), 0);
    return unknown(op);
  }

  static bool compare(arith::CmpFPredicate p, double x, double y) {
    switch (p) {
    case arith::CmpFPredicate::OGT:
      return x > y;
    case arith::CmpFPredicate::OLT:
      return x < y;
    case arith::CmpFPredicate::OGE:
      return x >= y;
    default:
      return x == y;
    }
  }
  static bool compareIntegers(arith::CmpIPredicate p, Number x, Number y,
                              Type t) {
    switch (p) {
    case arith::CmpIPredicate::eq:
      return x.i == y.i;
    case arith::CmpIPredicate::ne:
      return x.i != y.i;
    case arith::CmpIPredicate::uge:
      return x.i >= y.i;
    case arith::CmpIPredicate::ult:
      return x.i < y.i;
    default:
      return asSigned(x, t) < asSigned(y, t);
    }
  }

  Number unknown(Operation *op) {
    error = "the evaluator does not know " + op->getName().getStringRef().str();
    return {};
  }

  rt::KernelOp kernel;
  std::vector<Buffer> &operands;
  const std::vector<int64_t> &args;
  int64_t cols, row = 0;
  Row values;
  std::string error;
};

} // namespace

std::string test::evaluate(rt::KernelOp kernel, std::vector<Buffer> &operands,
                           const std::vector<int64_t> &args, int64_t cols) {
  return Evaluator(kernel, operands, args, cols).run();
}
