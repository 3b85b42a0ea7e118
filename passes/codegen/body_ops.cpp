//===- body_ops.cpp - the operations of a kernel body ---------------------===//
#include "passes/codegen/body_emitter.h"
#include "passes/codegen/elementary.h"
#include "passes/codegen/philox.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

FailureOr<Value> BodyEmitter::emitOp(Operation *op, Columns columns,
                                     Values &values) {
  Location around = b.getLoc();
  b.setLoc(op->getLoc());
  auto leave = llvm::scope_exit([&] { b.setLoc(around); });
  if (auto load = dyn_cast<rt::LoadOp>(op))
    return this->load(operands[load.getOperand()],
                      address(load.getOperand(), columns), columns);
  if (auto arg = dyn_cast<rt::ArgOp>(op))
    return args[arg.getIndex()];
  if (auto indexOp = dyn_cast<rt::IndexOp>(op))
    return emitIndex(indexOp, columns);
  if (auto gather = dyn_cast<rt::GatherOp>(op))
    return emitGather(gather, columns, values);
  if (auto reduce = dyn_cast<rt::RowReduceOp>(op)) // of one column
    return get(reduce.getValue(), columns, values);
  if (auto random = dyn_cast<rt::RandomOp>(op))
    return emitRandom(random, columns, values);
  if (isa<arith::ConstantOp>(op))
    return emitConstantOp(op, columns.lanes);
  return emitArithmetic(op, columns, values);
}

Value BodyEmitter::emitRandom(rt::RandomOp op, Columns columns,
                              Values &values) {
  Values none;
  Columns scalar{columns.first, 0, {}};
  PhiloxStream stream{get(op.getSeed(), scalar, none),
                      get(op.getSample(), scalar, none),
                      get(op.getLayer(), scalar, none), op.getSite(), philox};
  Value element = get(op.getElement(), columns, values);
  // Vectors begin at multiples of their length, so whole blocks of Philox are
  // used up, each by four neighbours.
  if (columns.lanes % 4 || !columns.lanes || !isColumnOfBlocks(op.getElement()))
    return emitPhiloxWord(b, stream, element);
  int64_t blocks = columns.lanes / 4;
  auto type = VectorType::get({blocks}, b.getI32Type());
  Value first = arith::ShRUIOp::create(
      b, vector::ExtractOp::create(b, element, int64_t(0)),
      emitInteger(b, b.getI32Type(), 2));
  auto steps =
      llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(blocks)));
  Value iota = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<int32_t>(steps)));
  return inOrder(emitPhiloxBlock(
      b, stream, arith::AddIOp::create(b, spread(first, blocks), iota)));
}

Value BodyEmitter::inOrder(const std::array<Value, 4> &words) {
  Value even = vector::InterleaveOp::create(b, words[0], words[2]);
  Value odd = vector::InterleaveOp::create(b, words[1], words[3]);
  return vector::InterleaveOp::create(b, even, odd);
}

Value BodyEmitter::emitConstantOp(Operation *op, int64_t lanes) {
  TypedAttr value = cast<arith::ConstantOp>(op).getValue();
  if (rt::isHalf(value.getType())) {
    APInt bits = cast<FloatAttr>(value).getValue().bitcastToAPInt();
    value = b.getIntegerAttr(b.getI16Type(), bits);
  }
  if (lanes)
    value = SplatElementsAttr::get(
        cast<ShapedType>(laneType(value.getType(), lanes)), Attribute(value));
  return arith::ConstantOp::create(b, value);
}

Value BodyEmitter::emitIndex(rt::IndexOp op, Columns columns) {
  Type i32 = b.getI32Type();
  if (op.getKind() == rt::IndexKind::Row)
    return arith::IndexCastUIOp::create(b, i32, row);
  Value first = spread(arith::IndexCastUIOp::create(b, i32, columns.first),
                       columns.lanes);
  if (!columns.lanes)
    return first;
  SmallVector<int32_t> steps(columns.lanes);
  for (int64_t i = 0; i < columns.lanes; ++i)
    steps[i] = static_cast<int32_t>(i);
  auto type = cast<ShapedType>(first.getType());
  Value iota = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef(steps)));
  return arith::AddIOp::create(b, first, iota);
}

/// Operations that are one instruction, or a few, on every target.
static bool isPlain(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"arith.addf", "arith.subf", "arith.mulf", "arith.divf",
              "arith.negf", "arith.cmpf"},
             true)
      .Cases({"arith.addi", "arith.subi", "arith.muli", "arith.andi",
              "arith.ori", "arith.xori"},
             true)
      .Cases({"arith.divui", "arith.divsi", "arith.remui", "arith.remsi",
              "arith.cmpi"},
             true)
      .Cases({"arith.shli", "arith.shrui", "arith.shrsi", "arith.select",
              "arith.bitcast"},
             true)
      .Cases({"arith.minsi", "arith.maxsi", "arith.minui", "arith.maxui"}, true)
      .Cases({"arith.minimumf", "arith.maximumf", "arith.minnumf",
              "arith.maxnumf"},
             true)
      .Cases({"arith.extui", "arith.extsi", "arith.trunci", "arith.sitofp",
              "arith.uitofp"},
             true)
      .Cases({"arith.fptosi", "arith.fptoui", "math.fma", "math.sqrt",
              "math.absf"},
             true)
      .Cases({"math.copysign", "math.floor", "math.ceil", "math.trunc",
              "math.roundeven"},
             true)
      .Default(false);
}

/// True if `v` (f32) is a number that bf16 holds; looks at choices between such
/// numbers, but not far.
static bool isOfBf16(Value v, int left = 4) {
  Operation *op = v.getDefiningOp();
  if (!op || left == 0)
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto value = dyn_cast<FloatAttr>(constant.getValue());
    return value &&
           (value.getValue().bitcastToAPInt().getZExtValue() & 0xffff) == 0;
  }
  if (isa<arith::SelectOp>(op))
    return isOfBf16(op->getOperand(1), left - 1) &&
           isOfBf16(op->getOperand(2), left - 1);
  return isa<arith::ExtFOp>(op) && op->getOperand(0).getType().isBF16();
}

/// True for a rounding to bf16 that changes nothing, and is widened again.
static bool roundsForNothing(Operation *op) {
  return op->getResult(0).getType().isBF16() && isOfBf16(op->getOperand(0)) &&
         llvm::all_of(op->getUsers(),
                      [](Operation *user) { return isa<arith::ExtFOp>(user); });
}

using Elementary = Value (*)(ImplicitLocOpBuilder &, Value);
static Elementary elementary(StringRef name) {
  return llvm::StringSwitch<Elementary>(name)
      .Case("math.exp", emitExp)
      .Case("math.log", emitLog)
      .Case("math.tanh", emitTanh)
      .Case("math.erf", emitErf)
      .Case("math.sin", emitSin)
      .Case("math.cos", emitCos)
      .Case("math.rsqrt", emitRsqrt)
      .Case("rt.logistic", emitLogistic)
      .Default(nullptr);
}

FailureOr<Value> BodyEmitter::emitArithmetic(Operation *op, Columns columns,
                                             Values &values) {
  StringRef name = op->getName().getStringRef();
  SmallVector<Value> in;
  for (Value v : op->getOperands())
    in.push_back(get(v, columns, values));
  Type result = op->getResult(0).getType();
  if (name == "arith.extf" && rt::isHalf(op->getOperand(0).getType()) &&
      result.isF32())
    return widen(in[0], op->getOperand(0).getType());
  if (name == "arith.truncf" && rt::isHalf(result) &&
      op->getOperand(0).getType().isF32()) {
    if (exactBf16 && roundsForNothing(op))
      return emitExactToBf16(b, in[0], /*flushes=*/nativeBf16);
    return round(in[0], result);
  }
  bool ofHalves =
      rt::isHalf(result) || llvm::any_of(op->getOperandTypes(), rt::isHalf);
  if (ofHalves && name != "arith.select")
    return op->emitOpError("expected no arithmetic on bf16 or f16, found it; "
                           "extend to f32 first");
  if (Elementary emit = elementary(name)) {
    if (!result.isF32())
      return op->emitOpError("expected f32, found ") << result;
    return emit(b, in[0]);
  }
  if (!isPlain(name))
    return op->emitOpError(
        "expected an operation that codegen-kernels knows; write it as others");
  IRMapping mapping;
  mapping.map(op->getOperands(), in);
  Operation *copy = b.insert(op->cloneWithoutRegions(mapping));
  copy->getResult(0).setType(laneType(result, columns.lanes));
  // Contract: no fast-math flag reaches the machine.
  if (copy->hasAttr("fastmath"))
    copy->setAttr("fastmath", arith::FastMathFlagsAttr::get(
                                  b.getContext(), arith::FastMathFlags::none));
  return copy->getResult(0);
}
