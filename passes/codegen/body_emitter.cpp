//===- body_emitter.cpp - a kernel body at one place of a loop ------------===//
#include "passes/codegen/body_emitter.h"

#include "passes/codegen/elementary.h"
#include "passes/codegen/loops.h"
#include "passes/codegen/philox.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

Value BodyEmitter::index(int64_t v) {
  return arith::ConstantIndexOp::create(b, v);
}

Type BodyEmitter::laneType(Type scalar, int64_t lanes) {
  if (rt::isHalf(scalar))
    scalar = b.getI16Type();
  return lanes ? VectorType::get({lanes}, scalar) : scalar;
}

Value BodyEmitter::spread(Value scalar, int64_t lanes) {
  if (!lanes)
    return scalar;
  return vector::BroadcastOp::create(b, laneType(scalar.getType(), lanes),
                                     scalar);
}

/// The emitted value of `v`; row-uniform ones are spread over the lanes.
Value BodyEmitter::get(Value v, Columns columns, Values &values) {
  v = s.resolve(v);
  if (Value known = values.lookup(v))
    return known;
  Value scalar = rowValues.lookup(v);
  if (!scalar)
    scalar = uniformValues.lookup(v);
  return values[v] = spread(scalar, columns.lanes);
}

//===--- order ------------------------------------------------------------===//

LogicalResult BodyEmitter::emitUniform() {
  for (Operation *op : s.uniformOps) {
    auto v = emitOp(op, {index(0), 0, {}}, uniformValues);
    if (failed(v))
      return failure();
    uniformValues[op->getResult(0)] = *v;
  }
  return success();
}

void BodyEmitter::startRow(Value newRow) {
  row = newRow;
  rowValues.clear();
  randomShift.clear();
}

LogicalResult BodyEmitter::emitRowOps(int depth) {
  for (Operation *op : s.rowOps[depth]) {
    auto v = emitOp(op, {index(0), 0, {}}, rowValues);
    if (failed(v))
      return failure();
    rowValues[op->getResult(0)] = *v;
  }
  return success();
}

FailureOr<SmallVector<Value>> BodyEmitter::emitPass(int k, Columns columns,
                                                    Prepare prepare) {
  const ColumnPass &pass = s.passes[k];
  Values values;
  for (Operation *op : pass.ops) {
    Value result = op->getResult(0);
    auto kept = s.kept.find(result);
    if (kept != s.kept.end() && kept->second.pass < k) {
      values[result] = reload(result, columns);
      continue;
    }
    auto v = emitOp(op, columns, values);
    if (failed(v))
      return failure();
    values[result] = *v;
  }
  for (Value v : pass.spills)
    store(get(v, columns, values), scratch[s.kept.lookup(v).scratch],
          columns.first, columns);
  SmallVector<Value> reduced;
  for (rt::RowReduceOp op : pass.reduces) {
    Value v = get(op.getValue(), columns, values);
    reduced.push_back(prepare ? prepare(op, v) : v);
  }
  for (Operation *op : pass.sinks)
    if (failed(emitSink(op, columns, values)))
      return failure();
  return reduced;
}

BodyEmitter::Touched BodyEmitter::touchedBy(int k) const {
  Touched found{llvm::SmallBitVector(operands.size()),
                llvm::SmallBitVector(operands.size())};
  auto note = [&](Operation *op) {
    int64_t i = operandIndex(op);
    if (i < 0 || s.operand(i).getMode() != rt::Mode::Full)
      return;
    found.uses.set(i);
    found.writes[i] = found.writes[i] || isSink(op);
  };
  llvm::for_each(s.passes[k].ops, note);
  llvm::for_each(s.passes[k].sinks, note);
  return found;
}

void BodyEmitter::emitPrefetchOf(const Touched &touched, Columns columns,
                                 int64_t lines) {
  constexpr int64_t kLineBits = 512;
  constexpr uint32_t kAllCaches = 3;
  for (int64_t i : touched.uses.set_bits()) {
    auto type = cast<MemRefType>(operands[i].getType());
    int64_t line = kLineBits / type.getElementTypeBitWidth();
    Value first = address(i, columns);
    for (int64_t k = 0; k < columns.lanes; k += line)
      memref::PrefetchOp::create(
          b, operands[i],
          ValueRange{arith::AddIOp::create(b, first, index(lines * line + k))},
          /*isWrite=*/touched.writes[i], kAllCaches, /*isDataCache=*/true);
  }
}

void BodyEmitter::emitPrefetch(Value ofRow, Columns columns) {
  Row begun;
  begun.row = ofRow;
  resumeRow(begun);
  emitPrefetchOf(touchedBy(0), columns, 0);
}

void BodyEmitter::emitPrefetchAhead(int k, Columns columns) {
  constexpr int64_t kLinesAhead = 32;
  Touched touched = touchedBy(k);
  for (int before = 0; before < k; ++before)
    touched.uses.reset(touchedBy(before).uses);
  emitPrefetchOf(touched, columns, kLinesAhead);
}

LogicalResult BodyEmitter::emitRowSinks() {
  for (Operation *op : s.rowSinks)
    if (failed(emitSink(op, {index(0), 0, {}}, rowValues)))
      return failure();
  return success();
}

//===--- memory -----------------------------------------------------------===//

Value BodyEmitter::address(int64_t operand, Columns columns) {
  rt::OperandAttr info = s.operand(operand);
  switch (info.getMode()) {
  case rt::Mode::Scalar:
    return index(0);
  case rt::Mode::Row:
    return row;
  case rt::Mode::Col:
    return columns.first;
  default:
    break;
  }
  Value line = row;
  if (info.getMode() == rt::Mode::Periodic)
    line = arith::RemUIOp::create(b, row, index(info.getExtent()));
  return arith::AddIOp::create(b, arith::MulIOp::create(b, line, cols),
                               columns.first);
}

static llvm::MaybeAlign alignmentOf(VectorType type, int64_t accessBytes) {
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  return llvm::MaybeAlign(static_cast<uint64_t>(std::min(bytes, accessBytes)));
}

Value BodyEmitter::load(Value memory, Value at, Columns columns) {
  if (!columns.lanes)
    return memref::LoadOp::create(b, memory, at);
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  auto type = VectorType::get({columns.lanes}, element);
  if (!columns.mask)
    return vector::LoadOp::create(b, type, memory, ValueRange{at},
                                  /*nontemporal=*/false,
                                  alignmentOf(type, accessBytes));
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b, type, memory, ValueRange{at},
                                      columns.mask, zero);
}

void BodyEmitter::store(Value value, Value memory, Value at, Columns columns) {
  if (!columns.lanes)
    memref::StoreOp::create(b, value, memory, at);
  else if (!columns.mask)
    vector::StoreOp::create(
        b, value, memory, ValueRange{at}, /*nontemporal=*/false,
        alignmentOf(cast<VectorType>(value.getType()), accessBytes));
  else
    vector::MaskedStoreOp::create(b, memory, ValueRange{at}, columns.mask,
                                  value);
}

Value BodyEmitter::reload(Value v, Columns columns) {
  Kept kept = s.kept.lookup(v);
  if (kept.operand >= 0)
    return load(operands[kept.operand], address(kept.operand, columns),
                columns);
  Value at = columns.first;
  if (Value shift = randomShift.lookup(v))
    at = arith::AddIOp::create(b, at, shift);
  return load(scratch[kept.scratch], at, columns);
}

Value BodyEmitter::widen(Value bits, Type half) {
  return half.isF16() ? emitFromF16(b, bits) : emitFromBf16(b, bits);
}

Value BodyEmitter::round(Value x, Type half) {
  if (half.isF16())
    return emitToF16(b, x);
  return nativeBf16 ? emitToBf16Natively(b, x) : emitToBf16(b, x);
}

/// old + value, of 16 bits in f32 and rounded once.
Value BodyEmitter::addTo(Value old, Value value, Type element) {
  if (isa<IntegerType>(element))
    return arith::AddIOp::create(b, old, value);
  if (!rt::isHalf(element))
    return arith::AddFOp::create(b, old, value);
  bool isWide = getElementTypeOrSelf(value.getType()).isF32();
  Value sum = arith::AddFOp::create(b, widen(old, element),
                                    isWide ? value : widen(value, element));
  return round(sum, element);
}

/// `type` with i32 in place of its element.
static Type ofWords(ImplicitLocOpBuilder &b, Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(b.getI32Type())) : b.getI32Type();
}

/// A value of 32 bits, or of a 16-bit float's bits, as i32.
static Value toWord(ImplicitLocOpBuilder &b, Value value) {
  Type type = value.getType(), word = ofWords(b, type);
  if (getElementTypeOrSelf(type).isInteger(16))
    return arith::ExtUIOp::create(b, word, value);
  return type == word ? value : arith::BitcastOp::create(b, word, value);
}

/// The value of `type` whose word that is.
static Value fromWord(ImplicitLocOpBuilder &b, Value word, Type type) {
  if (getElementTypeOrSelf(type).isInteger(16))
    return arith::TruncIOp::create(b, type, word);
  return type == word.getType() ? word
                                : arith::BitcastOp::create(b, type, word);
}

LogicalResult BodyEmitter::emitSink(Operation *op, Columns columns,
                                    Values &values) {
  // Values that the sink alone uses are spread before the branch: others would
  // not see them.
  Value value = get(sinkValue(op), columns, values);
  if (auto kept = later.find(op); kept != later.end())
    store(toWord(b, value), kept->second.memory, wordsAt(kept->second, columns),
          columns);
  else if (sinkCondition)
    emitIf(b, sinkCondition(op),
           [&] { emitUnconditionalSink(op, columns, value); });
  else
    emitUnconditionalSink(op, columns, value);
  return success();
}

Value BodyEmitter::wordsAt(const Later &place, Columns columns) {
  Value rows = arith::SubIOp::create(b, row, place.firstRow);
  Value at = arith::AddIOp::create(b, arith::MulIOp::create(b, rows, cols),
                                   columns.first);
  return arith::AddIOp::create(b, at, index(place.start));
}

void BodyEmitter::emitKept(Operation *sink, Columns columns) {
  const Later &place = later.find(sink)->second;
  Value word = load(place.memory, wordsAt(place, columns), columns);
  Type type = laneType(sinkValue(sink).getType(), columns.lanes);
  emitUnconditionalSink(sink, columns, fromWord(b, word, type));
}

void BodyEmitter::emitUnconditionalSink(Operation *op, Columns columns,
                                        Value value) {
  if (auto scatter = dyn_cast<rt::ScatterAddOp>(op))
    return emitScatter(scatter, columns, value);
  int64_t operand = operandIndex(op);
  if (isa<rt::AccumulateOp>(op) && partialSums.contains(operand))
    return emitPartialSum(op, columns, value);
  Value at = address(operand, columns), memory = operands[operand];
  if (isa<rt::AccumulateOp>(op))
    value = addTo(load(memory, at, columns), value,
                  s.operand(operand).getElement());
  store(value, memory, at, columns);
}

void BodyEmitter::emitPartialSum(Operation *op, Columns columns, Value value) {
  int64_t operand = operandIndex(op);
  PartialSum sum = partialSums.lookup(operand);
  Value at =
      arith::AddIOp::create(b, address(operand, columns), index(sum.start));
  Type element = getElementTypeOrSelf(sinkValue(op).getType());
  if (rt::isHalf(element))
    value = widen(value, element);
  store(addTo(load(sum.memory, at, columns), value, b.getF32Type()), sum.memory,
        at, columns);
}

void BodyEmitter::addToColumn(int64_t operand, Value at, Value value) {
  Value memory = operands[operand];
  Columns one{at, 0, {}};
  store(addTo(load(memory, at, one), value, s.operand(operand).getElement()),
        memory, at, one);
}

//===--- rows named by an index -------------------------------------------===//

namespace {
struct TableRow {
  Value inside; ///< i1
  Value start;  ///< index of the row's first element; row 0 where outside
};
} // namespace

static TableRow tableRow(ImplicitLocOpBuilder &b, Value row, int64_t extent,
                         Value cols) {
  Type i32 = row.getType();
  Value bound = emitInteger(b, i32, extent), zero = emitInteger(b, i32, 0);
  // Read as unsigned, a negative index is outside too.
  Value inside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, bound);
  Value safe = arith::SelectOp::create(b, inside, row, zero);
  Value wide = arith::IndexCastUIOp::create(b, b.getIndexType(), safe);
  return {inside, arith::MulIOp::create(b, wide, cols)};
}

Value BodyEmitter::rowOfTable(rt::ScatterAddOp op) {
  Values none;
  return get(op.getRow(), {{}, 0, {}}, none);
}

Value BodyEmitter::emitGather(rt::GatherOp op, Columns columns, Values &) {
  Values none;
  Value row = get(op.getRow(), {columns.first, 0, {}}, none);
  auto [inside, start] =
      tableRow(b, row, s.operand(op.getOperand()).getExtent(), cols);
  Value at = arith::AddIOp::create(b, start, columns.first);
  Value found = load(operands[op.getOperand()], at, columns);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(found.getType()));
  return arith::SelectOp::create(b, spread(inside, columns.lanes), found, zero);
}

void BodyEmitter::emitScatter(rt::ScatterAddOp op, Columns columns,
                              Value value) {
  Value row = rowOfTable(op);
  rt::OperandAttr info = s.operand(op.getOperand());
  auto [inside, start] = tableRow(b, row, info.getExtent(), cols);
  emitIf(b, inside, [&, start = start] {
    Value at = arith::AddIOp::create(b, start, columns.first);
    Value memory = operands[op.getOperand()];
    store(addTo(load(memory, at, columns), value, info.getElement()), memory,
          at, columns);
  });
}

//===--- random words of a row --------------------------------------------===//

Value BodyEmitter::randomStart(const RandomRow &row) {
  Value start = emitInteger(b, b.getI32Type(), 0);
  Values none;
  for (Value term : row.base)
    start = arith::AddIOp::create(b, start, get(term, {{}, 0, {}}, none));
  return start;
}

void BodyEmitter::emitRandomRows(int64_t lanes) {
  Type i32 = b.getI32Type();
  for (const RandomRow &random : s.randomRows) {
    Values none;
    rt::RandomOp op = random.op;
    PhiloxStream stream{get(op.getSeed(), {{}, 0, {}}, none),
                        get(op.getSample(), {{}, 0, {}}, none),
                        get(op.getLayer(), {{}, 0, {}}, none), op.getSite(),
                        philox};
    Value start = randomStart(random);
    if (!random.startsABlock) {
      Value shift = arith::AndIOp::create(b, start, emitInteger(b, i32, 3));
      randomShift[op.getResult()] =
          arith::IndexCastUIOp::create(b, b.getIndexType(), shift);
    }
    Value block = arith::ShRUIOp::create(b, start, emitInteger(b, i32, 2));
    // Up to 3 elements before the first column share its block.
    int64_t end = numCols(s.kernel) + (random.startsABlock ? 0 : 3);
    Value buffer = scratch[random.scratch];
    auto draw = [&](int64_t from, int64_t to, int64_t width) {
      emitRolledFor(b, index(from), index(to), index(4 * width), [&](Value at) {
        emitBlocks(stream, block, at, width, buffer);
      });
    };
    // With AVX-512 two vectors of blocks side by side: ten rounds of one are a
    // chain of operations in which a core waits for each. AVX2 has registers
    // for one.
    int64_t whole =
        philox == PhiloxForm::Avx512 ? end / (8 * lanes) * (8 * lanes) : 0;
    if (whole > 0)
      draw(0, whole, 2 * lanes);
    if (end > whole)
      draw(whole, end, lanes);
  }
}

void BodyEmitter::emitBlocks(const PhiloxStream &stream, Value block, Value at,
                             int64_t width, Value buffer) {
  Type i32 = b.getI32Type();
  auto type = VectorType::get({width}, i32);
  auto steps = llvm::to_vector(llvm::seq<int32_t>(0, int32_t(width)));
  Value done = arith::ShRUIOp::create(b, at, index(2));
  Value first = arith::AddIOp::create(
      b, block, arith::IndexCastUIOp::create(b, i32, done));
  Value iota = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<int32_t>(steps)));
  Value blocks = arith::AddIOp::create(b, spread(first, width), iota);
  vector::StoreOp::create(b, inOrder(emitPhiloxBlock(b, stream, blocks)),
                          buffer, at);
}
