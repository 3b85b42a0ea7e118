//===- sharded.cpp - does an op obey its sharding rule? -------------------===//
#include "test/unit/evaluator/sharded.h"

#include "test/evaluator/layout.h"
#include "test/unit/evaluator/harness.h"

#include <cmath>
#include <set>

using namespace mlir;
using namespace mtc::families;

namespace mtc::test {
namespace {

constexpr int64_t kParts = 2;
/// Both sides add the same few dozen doubles of order 1 in another order.
constexpr double kTolerance = 1e-12;

eval::Mesh meshOf(StringRef axis) { return eval::Mesh({axis.str()}, {kParts}); }

/// Dimension of `factor` in a tensor with `factors`, or -1.
int64_t dimOf(const std::string &factors, char factor) {
  size_t at = factors.find(factor);
  return at == std::string::npos ? -1 : static_cast<int64_t>(at);
}

/// The type with dimension `dim` halved; unchanged for -1.
Type localType(Type type, int64_t dim) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  if (dim >= 0)
    shape[dim] /= kParts;
  return RankedTensorType::get(shape, tensor.getElementType());
}

/// Size of the factor's local part.
int64_t localSize(Operation *op, const ShardingRule &rule, char factor) {
  auto look = [&](const std::vector<std::string> &all, TypeRange types) {
    for (auto [factors, type] : llvm::zip(all, types))
      if (int64_t dim = dimOf(factors, factor); dim >= 0)
        return eval::shapeOf(type)[dim] / kParts;
    return int64_t{0};
  };
  int64_t size = look(rule.operands, op->getOperandTypes());
  return size ? size : look(rule.results, op->getResultTypes());
}

/// What `partition` tells an op that uses indices of a split dimension.
void setIndexAttributes(Operation *op, const ShardingRule &rule, char factor,
                        StringRef axis) {
  Builder b(op->getContext());
  int64_t dim = isa<tfm::DropoutOp>(op) ? dimOf(rule.results[0], factor) : -1;
  if (dimOf(rule.masked + rule.indexed + rule.positions, factor) < 0 && dim < 1)
    return;
  int64_t size = localSize(op, rule, factor);
  bool inPieces = eval::Mesh::cutsHeadAndTail(axis);
  if (inPieces) {
    op->setAttr("dist.piece_axis", b.getStringAttr(axis));
    op->setAttr("dist.piece", b.getI64IntegerAttr(size / 2));
  } else {
    op->setAttr("dist.index_axis", b.getStringAttr(axis));
    op->setAttr("dist.index_stride", b.getI64IntegerAttr(size));
  }
  if (dim >= 1)
    op->setAttr(inPieces ? "dist.piece_dim" : "dist.index_dim",
                b.getI64IntegerAttr(dim));
}

/// The function on local types.
OwningOpRef<ModuleOp> localModule(func::FuncOp fn, const ShardingRule &rule,
                                  char factor, StringRef axis) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(fn.getLoc());
  OpBuilder b(module->getBodyRegion());
  auto copy = cast<func::FuncOp>(b.clone(*fn));
  Operation *op = onlyOp(copy);
  setIndexAttributes(op, rule, factor, axis);
  for (auto [factors, value] : llvm::zip(rule.operands, op->getOperands()))
    value.setType(localType(value.getType(), dimOf(factors, factor)));
  for (auto [factors, value] : llvm::zip(rule.results, op->getResults()))
    value.setType(localType(value.getType(), dimOf(factors, factor)));
  Block &body = copy.getBody().front();
  copy.setFunctionType(b.getFunctionType(
      body.getArgumentTypes(), body.getTerminator()->getOperands().getTypes()));
  return module;
}

/// The operand's tensor per rank. A sample base moves with a split batch, the
/// first factor of the results.
eval::Ranks localInput(Operation *op, const ShardingRule &rule, char factor,
                       size_t operand, const eval::Tensor &whole,
                       StringRef axis) {
  eval::Ranks ranks(kParts, whole);
  int64_t dim = dimOf(rule.operands[operand], factor);
  bool isSample = whole.isInteger() && whole.rank() == 0;
  for (int64_t r = 0; r < kParts; ++r) {
    if (dim >= 0)
      ranks[r] = eval::partOf(whole, dim, axis, r, kParts);
    else if (isSample && dimOf(rule.results[0], factor) == 0)
      ranks[r].ints[0] += r * localSize(op, rule, factor);
  }
  return ranks;
}

/// Sum or maximum over the ranks.
eval::Tensor combined(const eval::Ranks &ranks, bool isMax) {
  eval::Tensor y = ranks[0];
  for (size_t i = 0; i < y.reals.size(); ++i)
    y.reals[i] = isMax ? std::max(y.reals[i], ranks[1].reals[i])
                       : y.reals[i] + ranks[1].reals[i];
  return y;
}

std::string describe(const std::string &what, char factor, size_t result,
                     double difference) {
  return what + " '" + factor + "': result " + std::to_string(result) +
         " is off by " + std::to_string(difference);
}

/// Whether an axis may split a factor: rows that are looked up, and heads, lie
/// in equal parts, positions of queries in a head and a tail, and of the sample
/// (the first of what a sample base counts) there are no pieces.
bool maySplit(Operation *op, const ShardingRule &rule, char factor,
              StringRef axis) {
  if (!eval::Mesh::cutsHeadAndTail(axis))
    return dimOf(rule.positions, factor) < 0;
  bool hasSample = llvm::any_of(op->getOperandTypes(), [](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return tensor.getRank() == 0 && tensor.getElementType().isInteger(64);
  });
  return dimOf(rule.masked, factor) < 0 &&
         (isa<tfm::IotaOp, tfm::IndexFromOp>(op) ||
          dimOf(rule.indexed, factor) < 0) &&
         !(hasSample && dimOf(rule.results[0], factor) == 0);
}

bool anyCarries(const std::vector<std::string> &all, char factor) {
  return llvm::any_of(
      all, [&](const std::string &s) { return dimOf(s, factor) >= 0; });
}

std::string checkShape(Operation *op, const ShardingRule &rule) {
  auto fits = [](const std::vector<std::string> &all, TypeRange types) {
    if (all.size() != types.size())
      return false;
    for (auto [factors, type] : llvm::zip(all, types))
      if (factors.size() != eval::shapeOf(type).size())
        return false;
    return true;
  };
  if (!fits(rule.operands, op->getOperandTypes()))
    return "expected one factor per dimension of each operand";
  if (!fits(rule.results, op->getResultTypes()))
    return "expected one factor per dimension of each result";
  return "";
}

} // namespace

std::string checkSplit(func::FuncOp fn, const ShardingRule &rule, char factor,
                       const std::vector<eval::Tensor> &inputs,
                       StringRef axis) {
  Operation *op = onlyOp(fn);
  std::vector<eval::Ranks> local(inputs.size());
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    unsigned arg = cast<BlockArgument>(operand).getArgNumber();
    local[arg] = localInput(op, rule, factor, i, inputs[arg], axis);
  }
  OwningOpRef<ModuleOp> module = localModule(fn, rule, factor, axis);
  auto parts = eval::evaluateFunction(functionOf(*module), meshOf(axis), local,
                                      stepBlock());
  auto whole = eval::evaluateUnsharded(fn, inputs, stepBlock());
  if (failed(parts) || failed(whole))
    return "the evaluation failed";
  for (auto [i, factors] : llvm::enumerate(rule.results)) {
    const eval::Ranks &ranks = parts->results[i];
    int64_t dim = dimOf(factors, factor);
    bool isContracted = dim < 0 && anyCarries(rule.operands, factor);
    eval::Tensor joined = dim >= 0       ? eval::wholeOf(ranks, dim, axis)
                          : isContracted ? combined(ranks, rule.contractsToMax)
                                         : ranks[1];
    double off = eval::difference(joined, (*whole)[i]);
    if (!(off < kTolerance))
      return describe("over " + axis.str() + ", factor", factor, i, off);
  }
  return "";
}

std::string checkLinear(func::FuncOp fn, const std::vector<int> &group,
                        const std::vector<eval::Tensor> &inputs) {
  Operation *op = onlyOp(fn);
  std::vector<eval::Ranks> local;
  for (const eval::Tensor &x : inputs)
    local.push_back(eval::Ranks(kParts, x));
  Inputs random(11);
  for (int operand : group) {
    unsigned arg = cast<BlockArgument>(op->getOperand(operand)).getArgNumber();
    eval::Ranks &ranks = local[arg];
    ranks[0] = random.reals(inputs[arg].shape, -1.0, 1.0);
    for (size_t i = 0; i < ranks[1].reals.size(); ++i)
      ranks[1].reals[i] -= ranks[0].reals[i];
  }
  auto parts = eval::evaluateFunction(fn, meshOf("tp"), local, stepBlock());
  auto whole = eval::evaluateUnsharded(fn, inputs, stepBlock());
  if (failed(parts) || failed(whole))
    return "the evaluation failed";
  for (size_t i = 0; i < whole->size(); ++i) {
    double off =
        eval::difference(combined(parts->results[i], false), (*whole)[i]);
    if (!(off < kTolerance))
      return describe("linear group of operand",
                      static_cast<char>('0' + group[0]), i, off);
  }
  return "";
}

std::string checkRule(func::FuncOp fn, const ShardingRule &rule) {
  if (std::string wrong = checkShape(onlyOp(fn), rule); !wrong.empty())
    return wrong;
  Inputs random(5);
  std::vector<eval::Tensor> inputs = random.arguments(fn);
  std::set<char> factors;
  for (auto *all : {&rule.operands, &rule.results})
    for (const std::string &text : *all)
      factors.insert(text.begin(), text.end());
  for (char factor : factors)
    for (StringRef axis : {"tp", "cp"})
      if (dimOf(rule.blocked, factor) < 0 &&
          maySplit(onlyOp(fn), rule, factor, axis))
        if (auto wrong = checkSplit(fn, rule, factor, inputs, axis);
            !wrong.empty())
          return wrong;
  for (const std::vector<int> &group : rule.linear)
    if (auto wrong = checkLinear(fn, group, inputs); !wrong.empty())
      return wrong;
  return "";
}

} // namespace mtc::test
