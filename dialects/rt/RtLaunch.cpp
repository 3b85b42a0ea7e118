//===- RtLaunch.cpp - buffers of a launch in its kernel's order -----------===//
//
// A launch holds its inits behind its inputs, as destination style demands. Its
// text, and whoever reads it, has them in the order of the kernel's operands.
//
//===----------------------------------------------------------------------===//
#include "dialects/rt/Rt.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::rt;

/// `writes` are different numbers below `buffers`.
static LogicalResult checkWrites(ArrayRef<int64_t> writes, size_t buffers,
                                 function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<bool> seen(buffers);
  for (int64_t at : writes) {
    if (at < 0 || at >= static_cast<int64_t>(buffers) || seen[at])
      return emitError() << "expected different numbers of operands in writes, "
                            "below "
                         << buffers << ", found " << at;
    seen[at] = true;
  }
  return success();
}

/// Takes the elements with the numbers `writes` out of `all`, in that order.
template <typename T>
static SmallVector<T> take(SmallVectorImpl<T> &all, ArrayRef<int64_t> writes) {
  SmallVector<T> taken, left;
  for (int64_t at : writes)
    taken.push_back(all[at]);
  for (auto [i, each] : llvm::enumerate(all))
    if (!llvm::is_contained(writes, static_cast<int64_t>(i)))
      left.push_back(each);
  all.assign(left);
  return taken;
}

void LaunchOp::build(OpBuilder &b, OperationState &state, StringRef kernel,
                     ValueRange buffers, ValueRange scalars,
                     ArrayRef<int64_t> written) {
  SmallVector<int64_t> writes(written);
  auto isTensor = [&](int64_t at) {
    return isa<TensorType>(buffers[at].getType());
  };
  auto firstMemref =
      std::stable_partition(writes.begin(), writes.end(), isTensor);
  SmallVector<Type> results;
  for (auto it = writes.begin(); it != firstMemref; ++it)
    results.push_back(buffers[*it].getType());
  SmallVector<Value> inputs(buffers);
  SmallVector<Value> inits = take(inputs, writes);
  build(b, state, results, kernel, inputs, scalars, inits, writes);
}

LogicalResult LaunchOp::verify() {
  if (getWrites().size() != getInits().size())
    return emitOpError("expected one number in writes per buffer to write "
                       "into (")
           << getInits().size() << "), found " << getWrites().size();
  return checkWrites(getWrites(), getInputs().size() + getInits().size(),
                     [&] { return emitOpError(); });
}

SmallVector<OpOperand *> LaunchOp::getKernelOperands() {
  MutableOperandRange inputs = getInputsMutable(), inits = getInitsMutable();
  SmallVector<OpOperand *> all(inputs.size() + inits.size());
  for (auto [at, init] : llvm::zip(getWrites(), inits))
    all[at] = &init;
  auto next = inputs.begin();
  for (OpOperand *&operand : all)
    if (!operand)
      operand = &*next++;
  return all;
}

SmallVector<Value> LaunchOp::getBuffers() {
  return llvm::map_to_vector(getKernelOperands(),
                             [](OpOperand *each) { return each->get(); });
}

/// The op before or behind `op` that touches something.
static Operation *neighbour(Operation *op, Operation *(Operation::*next)()) {
  do
    op = (op->*next)();
  while (op && isPure(op));
  return op;
}

GemmOp LaunchOp::productBefore() {
  return dyn_cast_or_null<GemmOp>(neighbour(*this, &Operation::getPrevNode));
}

/// A step of the norm that continues what is in front of it.
static NormOp continuingNorm(Operation *op) {
  auto norm = dyn_cast_or_null<NormOp>(op);
  return norm && norm.getContinues() ? norm : NormOp();
}

Operation *NormOp::sumBefore() {
  Operation *before = neighbour(*this, &Operation::getPrevNode);
  while (continuingNorm(before))
    before = neighbour(before, &Operation::getPrevNode);
  return isa_and_present<CollectiveOp, LaunchOp>(before) ? before : nullptr;
}

std::vector<NormOp> NormOp::continuing(Operation *sum) {
  std::vector<NormOp> all;
  if (!isa<CollectiveOp, LaunchOp>(sum))
    return all;
  Operation *next = neighbour(sum, &Operation::getNextNode);
  while (NormOp norm = continuingNorm(next)) {
    all.push_back(norm);
    next = neighbour(next, &Operation::getNextNode);
  }
  return all;
}

LaunchOp GemmOp::getContinuation() {
  auto launch =
      dyn_cast_or_null<LaunchOp>(neighbour(*this, &Operation::getNextNode));
  return launch && launch.getContinues() ? launch : LaunchOp();
}

void LaunchOp::print(OpAsmPrinter &p) {
  SmallVector<Value> buffers = getBuffers();
  p << ' ' << getKernelAttr() << '(';
  p.printOperands(buffers);
  p << ") args(";
  p.printOperands(getScalars());
  p << ") writes ";
  p.printStrippedAttrOrType(getWritesAttr());
  if (getContinues())
    p << " continues";
  p.printOptionalAttrDict((*this)->getAttrs(),
                          {getKernelAttrName(), getWritesAttrName(),
                           getContinuesAttrName(),
                           getOperandSegmentSizesAttrName()});
  p << " : ";
  p.printFunctionalType(TypeRange(ValueRange(buffers)), getResultTypes());
}

ParseResult LaunchOp::parse(OpAsmParser &parser, OperationState &state) {
  Properties &properties = state.getOrAddProperties<Properties>();
  SmallVector<OpAsmParser::UnresolvedOperand> buffers, scalars;
  FunctionType type;
  SMLoc at, typesAt;
  if (parser.parseCustomAttributeWithFallback(properties.kernel) ||
      parser.getCurrentLocation(&at) ||
      parser.parseOperandList(buffers, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("args") ||
      parser.parseOperandList(scalars, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("writes") ||
      parser.parseCustomAttributeWithFallback(properties.writes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("continues")))
    properties.continues = parser.getBuilder().getUnitAttr();
  if (parser.parseOptionalAttrDict(state.attributes) || parser.parseColon() ||
      parser.getCurrentLocation(&typesAt) || parser.parseType(type))
    return failure();
  SmallVector<Type> types(type.getInputs());
  if (types.size() != buffers.size())
    return parser.emitError(typesAt, "expected a type for each of ")
           << buffers.size() << " buffers, found " << types.size();
  ArrayRef<int64_t> writes = properties.writes;
  if (failed(checkWrites(writes, buffers.size(),
                         [&] { return parser.emitError(at); })))
    return failure();
  auto inits = take(buffers, writes);
  SmallVector<Type> initTypes = take(types, writes);
  properties.operandSegmentSizes = {static_cast<int32_t>(buffers.size()),
                                    static_cast<int32_t>(scalars.size()),
                                    static_cast<int32_t>(inits.size())};
  state.addTypes(type.getResults());
  Type i64 = parser.getBuilder().getI64Type();
  return failure(parser.resolveOperands(buffers, types, at, state.operands) ||
                 parser.resolveOperands(scalars, i64, state.operands) ||
                 parser.resolveOperands(inits, initTypes, at, state.operands));
}
