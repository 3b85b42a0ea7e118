//===- index_use.cpp - which dimensions are used by index -----------------===//
#include "passes/sharding/index_use.h"

#include "passes/families/kernel_body.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace mtc::sharding {

void IndexUse::writeTo(Operation *op) const {
  Builder b(op->getContext());
  if (!axis.empty()) {
    op->setAttr(families::indexAxisAttr, b.getStringAttr(axis));
    op->setAttr(families::indexStrideAttr, b.getI64IntegerAttr(stride));
    if (dim >= 0)
      op->setAttr(families::indexDimAttr, b.getI64IntegerAttr(dim));
  }
  if (!pieceAxis.empty()) {
    op->setAttr(families::pieceAxisAttr, b.getStringAttr(pieceAxis));
    op->setAttr(families::pieceAttr, b.getI64IntegerAttr(piece));
    if (pieceDim >= 0)
      op->setAttr(families::pieceDimAttr, b.getI64IntegerAttr(pieceDim));
  }
}

IndexUse IndexUse::readFrom(Operation *op) {
  auto text = [&](StringRef name) {
    auto attr = op->getAttrOfType<StringAttr>(name);
    return attr ? attr.getValue() : StringRef();
  };
  auto number = [&](StringRef name, int64_t none) {
    auto attr = op->getAttrOfType<IntegerAttr>(name);
    return attr ? attr.getInt() : none;
  };
  return {.axis = text(families::indexAxisAttr),
          .stride = number(families::indexStrideAttr, 0),
          .dim = number(families::indexDimAttr, -1),
          .pieceAxis = text(families::pieceAxisAttr),
          .piece = number(families::pieceAttr, 0),
          .pieceDim = number(families::pieceDimAttr, -1)};
}

/// Factors whose index on a rank matters. The sample (dimension 0) does not:
/// samples have absolute numbers of their own.
static std::string indexedFactors(const families::ShardingRule &rule) {
  return rule.numbered ? rule.results[0].substr(1)
                       : rule.masked + rule.indexed + rule.positions;
}

namespace {

class Finder {
public:
  Finder(Operation *op, dist::MeshAttr mesh, families::ShardingRule rule)
      : op(op), mesh(mesh), rule(std::move(rule)),
        indexed(indexedFactors(this->rule)) {}

  FailureOr<IndexUse> run() {
    for (auto [value, factors] : llvm::zip(op->getOperands(), rule.operands))
      if (failed(look(value, factors)))
        return failure();
    for (auto [value, factors] : llvm::zip(op->getResults(), rule.results))
      if (failed(look(value, factors)))
        return failure();
    return use;
  }

private:
  LogicalResult look(Value value, const std::string &factors) {
    std::vector<State> states = statesOf(mesh, dist::shardingOf(value));
    auto shape = cast<RankedTensorType>(value.getType()).getShape();
    for (auto [a, axis] : llvm::enumerate(mesh.getAxes())) {
      if (states[a] < 0 || dimOf(indexed, factors[states[a]]) < 0)
        continue;
      int64_t dim = rule.numbered ? states[a] : -1;
      LogicalResult done =
          cutsHeadAndTail(axis.getValue())
              ? addPieces(axis, factors[states[a]],
                          shape[states[a]] * innerParts(states, a), dim)
              : addParts(axis, factors[states[a]], shape[states[a]], dim);
      if (failed(done))
        return failure();
    }
    return success();
  }

  /// In how many parts other axes split the part of a rank of axis `a`.
  int64_t innerParts(const std::vector<State> &states, size_t a) const {
    int64_t parts = 1;
    for (auto [other, state] : llvm::enumerate(states))
      if (other != a && state == states[a])
        parts *= mesh.getSizes()[other];
    return parts;
  }

  LogicalResult two() {
    return op->emitOpError(
        "expected indices that one mesh axis splits, found two");
  }

  LogicalResult addParts(StringAttr axis, char factor, int64_t size,
                         int64_t dim) {
    if (rule.positions.find(factor) != std::string::npos)
      return op->emitOpError("expected positions of queries to be split in a "
                             "head and a tail, found equal parts over ")
             << axis << "; split them over cp";
    if (!use.axis.empty() && use.axis != axis.getValue())
      return two();
    use.axis = axis.getValue();
    use.stride = std::max(use.stride, size);
    use.dim = dim;
    return success();
  }

  LogicalResult addPieces(StringAttr axis, char factor, int64_t size,
                          int64_t dim) {
    if (rule.masked.find(factor) != std::string::npos)
      return op->emitOpError("expected rows that are looked up to be split in "
                             "equal parts, found a head and a tail over ")
             << axis << "; split them over another axis";
    if (size % 2 != 0)
      return op->emitOpError("expected an even number of positions on each "
                             "rank of ")
             << axis << ", a head and a tail, found " << size;
    if (!use.pieceAxis.empty() && use.pieceAxis != axis.getValue())
      return two();
    use.pieceAxis = axis.getValue();
    use.piece = size / 2;
    use.pieceDim = dim;
    return success();
  }

  Operation *op;
  dist::MeshAttr mesh;
  families::ShardingRule rule;
  std::string indexed;
  IndexUse use;
};

} // namespace

FailureOr<IndexUse> indexUseOf(Operation *op, dist::MeshAttr mesh) {
  auto family = dyn_cast<families::FamilyOpInterface>(op);
  if (!family)
    return IndexUse();
  return Finder(op, mesh, family.getShardingRule()).run();
}

} // namespace mtc::sharding
