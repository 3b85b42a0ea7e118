//===- crossings.cpp - what crosses virtual stages ------------------------===//
#include "passes/pipeline/crossings.h"

#include "dialects/pipe/Pipe.h"
#include "dialects/tfm/Tfm.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::pipeline {

LogicalResult ValueCrossings::add(Value value, Operation *reader,
                                  const LayerMap &layers) {
  Operation *maker = value.getDefiningOp();
  bool backward = tfm::isBackward(maker);
  int64_t from = layers.of(maker), to = layers.of(reader);
  if (backward != tfm::isBackward(reader))
    return reader->emitOpError("expected values of its own phase, found one of "
                               "the other, of virtual stage ")
           << from;
  if (from == to || find(value, to))
    return success();
  if (backward ? from < to : from > to)
    return reader->emitOpError("expected values of ")
           << (backward ? "later" : "earlier") << " virtual stages than " << to
           << " or of this one, found one of virtual stage " << from;
  int64_t neighbour = backward ? from - 1 : from + 1;
  CrossingName name{backward, to == neighbour ? 0 : 1};
  while (senders.count({name, from}) || receivers.count({name, to}))
    ++name.number;
  if (!name.fits())
    return reader->emitOpError("expected at most ")
           << CrossingName::kNumbers << " values to leave or enter a virtual "
           << "stage per phase, found more on the way from virtual stage "
           << from << " to " << to;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return reader->emitOpError("expected tensors of static shape to cross "
                               "virtual stages, found ")
           << value.getType();
  senders.insert({name, from});
  receivers.insert({name, to});
  rowsOf[value].push_back(rows.size());
  rows.push_back({value, name, from, to});
  return success();
}

FailureOr<ValueCrossings> ValueCrossings::make(func::FuncOp fn,
                                               const LayerMap &layers) {
  ValueCrossings found;
  for (Operation &op : fn.front().without_terminator()) {
    if (isa<tfm::RestoreOp>(op))
      continue; // reads what the forward of its own virtual stage saves
    for (Value operand : op.getOperands())
      if (operand.getDefiningOp() && failed(found.add(operand, &op, layers)))
        return failure();
  }
  return found;
}

std::optional<CrossingName> ValueCrossings::find(Value value,
                                                 int64_t to) const {
  for (size_t row : rowsOf.lookup(value))
    if (rows[row].to == to)
      return rows[row].name;
  return std::nullopt;
}

std::vector<CrossingName> ValueCrossings::namesOf(Value value) const {
  std::vector<CrossingName> names;
  for (size_t row : rowsOf.lookup(value))
    names.push_back(rows[row].name);
  return names;
}

bool ValueCrossings::isLike(const ValueCrossings &other) const {
  return llvm::equal(rows, other.rows, [](const Row &a, const Row &b) {
    return a.name == b.name && a.from == b.from && a.to == b.to &&
           a.value.getType() == b.value.getType();
  });
}

void ValueCrossings::write(OpBuilder &b, StringRef entry) const {
  for (const Row &row : rows)
    pipe::CrossingOp::create(b, row.value.getLoc(), row.name, entry, row.from,
                             row.to,
                             cast<RankedTensorType>(row.value.getType()));
}

std::string textOf(ArrayAttr slots) {
  std::string text;
  for (StringRef line : slots.getAsValueRange<StringAttr>())
    text += line.str() + "\n";
  return text;
}

schedules::Crossings crossingsOf(ModuleOp module, StringRef entry) {
  // More than there can be virtual stages: what is too large stays so.
  auto narrow = [](int64_t u) {
    return static_cast<int>(std::min<int64_t>(u, 1 << 30));
  };
  std::vector<schedules::Crossing> rows;
  for (auto op : module.getOps<pipe::CrossingOp>())
    if (op.getEntry() == entry)
      rows.push_back({op.getName(), narrow(op.getFrom()), narrow(op.getTo())});
  return schedules::Crossings::table(std::move(rows));
}

} // namespace mtc::pipeline
