//===- schedule.cpp - what a kernel computes in which pass ----------------===//
#include "passes/codegen/schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

int64_t codegen::operandIndex(Operation *op) {
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case<rt::LoadOp, rt::StoreOp, rt::AccumulateOp, rt::GatherOp,
            rt::ScatterAddOp>(
          [](auto o) { return static_cast<int64_t>(o.getOperand()); })
      .Default([](Operation *) { return int64_t(-1); });
}

bool codegen::isSink(Operation *op) {
  return isa<rt::StoreOp, rt::AccumulateOp, rt::ScatterAddOp>(op);
}

Value codegen::sinkValue(Operation *op) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<rt::StoreOp, rt::AccumulateOp, rt::ScatterAddOp>(
          [](auto o) { return o.getValue(); })
      .Default([](Operation *) { return Value(); });
}

namespace {

/// Shorter rows draw at least as many blocks as they have elements.
constexpr int64_t kMinRandomRow = 32;

/// Operations that cost more than a store and a load.
bool isExpensive(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return isa<rt::RandomOp, rt::LogisticOp>(op) || name == "math.exp" ||
         name == "math.tanh" || name == "math.log" || name == "math.erf" ||
         name == "math.sin" || name == "math.cos";
}

/// Looks at sums and products behind an element's number, at most so many: a
/// body may be any.
class BlockOrder {
public:
  /// True if `v` is the column plus a multiple of four.
  bool isColumnOfBlocks(Value v) {
    Operation *op = next(v);
    if (auto index = dyn_cast_or_null<rt::IndexOp>(op))
      return index.getKind() == rt::IndexKind::Col;
    if (!isa_and_nonnull<arith::AddIOp>(op))
      return false;
    Value x = op->getOperand(0), y = op->getOperand(1);
    return (isColumnOfBlocks(x) && isMultipleOf4(y)) ||
           (isMultipleOf4(x) && isColumnOfBlocks(y));
  }

private:
  bool isMultipleOf4(Value v) {
    Operation *op = next(v);
    if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op)) {
      auto value = dyn_cast<IntegerAttr>(constant.getValue());
      return value && value.getValue().countr_zero() >= 2;
    }
    auto isMultiple = [&](Value in) { return isMultipleOf4(in); };
    if (isa_and_nonnull<arith::MulIOp>(op))
      return llvm::any_of(op->getOperands(), isMultiple);
    return isa_and_nonnull<arith::AddIOp>(op) &&
           llvm::all_of(op->getOperands(), isMultiple);
  }

  Operation *next(Value v) { return left-- > 0 ? v.getDefiningOp() : nullptr; }

  int left = 64;
};

class Scheduler {
public:
  Scheduler(rt::KernelOp kernel, int64_t scratchLimit) : limit(scratchLimit) {
    s.kernel = kernel;
  }

  FailureOr<Schedule> run() {
    if (failed(forwardStores()))
      return failure();
    markLive();
    for (Operation &op : body())
      if (op.getNumResults() == 1 && live.contains(op.getResult(0)))
        s.info[op.getResult(0)] = classify(&op);
    if (failed(checkSinks()))
      return failure();
    makePasses();
    keepRandomRows();
    keepStores();
    keepExpensive();
    for (size_t k = 0; k < s.passes.size(); ++k)
      s.passes[k].ops = needs(k);
    orderRowOps();
    return std::move(s);
  }

private:
  Block &body() { return s.kernel.getBody().front(); }
  bool oneColumn() { return numCols(s.kernel) == 1; }

  /// A load after a store to the same operand gives the stored value.
  LogicalResult forwardStores() {
    DenseMap<int64_t, Value> stored;
    DenseSet<int64_t> accumulated;
    for (Operation &op : body()) {
      int64_t index = operandIndex(&op);
      if (isa<rt::LoadOp>(op)) {
        if (accumulated.contains(index))
          return op.emitOpError("expected loads of operand ")
                 << index << " before it is accumulated to; load it earlier";
        if (Value v = stored.lookup(index))
          s.forwarded[op.getResult(0)] = s.resolve(v);
      }
      if (auto store = dyn_cast<rt::StoreOp>(op)) {
        stored[index] = s.resolve(store.getValue());
        stores[index].push_back(store);
      }
      if (isa<rt::AccumulateOp>(op)) {
        accumulated.insert(index);
        stored.erase(index);
      }
    }
    for (int64_t index : accumulated)
      stores.erase(index);
    return success();
  }

  void markLive() {
    for (Operation &op : llvm::reverse(body())) {
      if (!isSink(&op) && !llvm::any_of(op.getResults(), [&](Value r) {
            return live.contains(r);
          }))
        continue;
      for (Value v : op.getOperands())
        live.insert(s.resolve(v));
    }
  }

  ValueInfo classify(Operation *op) {
    ValueInfo info;
    for (Value v : op->getOperands()) {
      ValueInfo in = s.of(v);
      info.level = std::max(info.level, in.level);
      info.depth = std::max(info.depth, in.depth);
    }
    if (isa<rt::RowReduceOp>(op) && !oneColumn())
      return {Level::Row, info.depth + 1};
    Level own = ownLevel(op);
    if (oneColumn())
      own = std::min(own, Level::Row);
    info.level = std::max(info.level, own);
    return info;
  }

  Level ownLevel(Operation *op) {
    if (auto index = dyn_cast<rt::IndexOp>(op))
      return index.getKind() == rt::IndexKind::Row ? Level::Row : Level::Column;
    if (isa<rt::GatherOp>(op))
      return Level::Column;
    auto load = dyn_cast<rt::LoadOp>(op);
    if (!load)
      return Level::Uniform;
    switch (s.operand(load.getOperand()).getMode()) {
    case rt::Mode::Scalar:
      return written(load.getOperand()) ? Level::Row : Level::Uniform;
    case rt::Mode::Row:
      return Level::Row;
    default:
      return Level::Column;
    }
  }

  bool written(int64_t operand) {
    return llvm::any_of(body(), [&](Operation &op) {
      return isSink(&op) && operandIndex(&op) == operand;
    });
  }

  LogicalResult checkSinks() {
    for (Operation &op : body()) {
      if (auto gather = dyn_cast<rt::GatherOp>(op))
        if (s.of(gather.getRow()).level == Level::Column)
          return op.emitOpError("expected a row-uniform index, found one that "
                                "depends on the column");
      if (auto random = dyn_cast<rt::RandomOp>(op))
        for (Value v :
             {random.getSeed(), random.getSample(), random.getLayer()})
          if (s.of(v).level == Level::Column)
            return op.emitOpError("expected a row-uniform seed, sample and "
                                  "layer, found one that depends on the "
                                  "column");
      if (!isSink(&op))
        continue;
      if (auto scatter = dyn_cast<rt::ScatterAddOp>(op))
        if (s.of(scatter.getRow()).level == Level::Column)
          return op.emitOpError("expected a row-uniform index, found one that "
                                "depends on the column");
      if (isRowSink(&op) && s.of(sinkValue(&op)).level == Level::Column)
        return op.emitOpError("expected a row-uniform value for a row or "
                              "scalar operand, found one "
                              "that depends on the column; reduce it first");
    }
    return success();
  }

  bool isRowSink(Operation *op) {
    rt::Mode mode = s.operand(operandIndex(op)).getMode();
    return oneColumn() || mode == rt::Mode::Row || mode == rt::Mode::Scalar;
  }

  /// Reductions go to the pass of their depth, stores to the last pass.
  void makePasses() {
    int last = -1;
    SmallVector<Operation *> columnSinks;
    for (Operation &op : body()) {
      if (auto reduce = dyn_cast<rt::RowReduceOp>(op)) {
        if (live.contains(reduce.getResult()) && !oneColumn())
          last = std::max(last, s.of(reduce.getValue()).depth);
      } else if (isSink(&op) && isRowSink(&op)) {
        s.rowSinks.push_back(&op);
      } else if (isSink(&op)) {
        columnSinks.push_back(&op);
        int depth = s.of(sinkValue(&op)).depth;
        if (auto scatter = dyn_cast<rt::ScatterAddOp>(op))
          depth = std::max(depth, s.of(scatter.getRow()).depth);
        last = std::max(last, depth);
      }
    }
    s.passes.resize(last + 1);
    if (last >= 0)
      s.passes[last].sinks = columnSinks;
    if (!oneColumn())
      for (Operation &op : body())
        if (auto reduce = dyn_cast<rt::RowReduceOp>(op))
          if (live.contains(reduce.getResult()))
            s.passes[s.of(reduce.getValue()).depth].reduces.push_back(reduce);
  }

  /// True if a store to a full operand could change what this load reads: the
  /// buffers may be the same one (in place), at the same element.
  bool mayBeInPlace(Operation *op) {
    auto load = dyn_cast<rt::LoadOp>(op);
    if (!load)
      return false;
    rt::OperandAttr info = s.operand(load.getOperand());
    switch (info.getMode()) {
    case rt::Mode::Full:
      return true;
    case rt::Mode::Col:
      return numRows(s.kernel) == 1;
    case rt::Mode::Periodic:
      return info.getExtent() >= numRows(s.kernel);
    default:
      return false; // loaded at the start of the row, before any store
    }
  }

  /// One block of Philox gives the words of four consecutive elements, so whole
  /// rows are drawn at once where elements follow the columns.
  void keepRandomRows() {
    if (s.passes.empty() || numCols(s.kernel) < kMinRandomRow ||
        numCols(s.kernel) > limit)
      return;
    for (Operation &op : body()) {
      auto random = dyn_cast<rt::RandomOp>(op);
      if (!random || !live.contains(random.getResult()) ||
          s.of(random.getSeed()).depth > 0 ||
          s.of(random.getSample()).depth > 0 ||
          s.of(random.getLayer()).depth > 0)
        continue;
      RandomRow row{random,
                    {},
                    int(s.scratch.size()),
                    codegen::isColumnOfBlocks(random.getElement())};
      int columns = 0;
      if (!collectTerms(random.getElement(), row.base, columns) || columns != 1)
        continue;
      s.kept[random.getResult()] = {-1, -1, row.scratch};
      s.scratch.push_back(random.getResult());
      s.randomRows.push_back(row);
    }
  }

  /// Splits sums of the column and row-uniform terms.
  bool collectTerms(Value v, SmallVectorImpl<Value> &base, int &columns) {
    v = s.resolve(v);
    if (s.of(v).level != Level::Column) {
      base.push_back(v);
      return s.of(v).depth == 0;
    }
    Operation *op = v.getDefiningOp();
    if (isa<rt::IndexOp>(op)) {
      ++columns;
      return true;
    }
    return op->getName().getStringRef() == "arith.addi" &&
           llvm::all_of(op->getOperands(), [&](Value in) {
             return collectTerms(in, base, columns);
           });
  }

  /// A value stored in an early pass is loaded again by later ones, if no later
  /// pass reads an input that the store could have overwritten.
  void keepStores() {
    int last = static_cast<int>(s.passes.size()) - 1;
    if (last < 1)
      return;
    auto sinks = s.passes[last].sinks;
    DenseSet<Operation *> early;
    for (Operation *op : sinks)
      if (isEarlyCandidate(op, last))
        early.insert(op);
    auto place = [&, base = s.kept] {
      s.kept = base;
      for (ColumnPass &pass : s.passes)
        pass.sinks.clear();
      for (Operation *op : sinks) {
        int pass = early.contains(op) ? s.of(sinkValue(op)).depth : last;
        s.passes[pass].sinks.push_back(op);
        if (early.contains(op))
          s.kept.try_emplace(s.resolve(sinkValue(op)),
                             Kept{pass, int(operandIndex(op)), -1});
      }
    };
    for (place(); !early.empty();) {
      DenseSet<Operation *> unsafe;
      for (int k = 1; k <= last; ++k)
        if (readsInputs(k))
          for (Operation *op : early)
            if (s.of(sinkValue(op)).depth < k)
              unsafe.insert(op);
      if (unsafe.empty())
        break;
      for (Operation *op : unsafe)
        early.erase(op);
      place();
    }
  }

  bool isEarlyCandidate(Operation *op, int last) {
    auto store = dyn_cast<rt::StoreOp>(op);
    if (!store || s.operand(store.getOperand()).getMode() != rt::Mode::Full)
      return false;
    ValueInfo info = s.of(store.getValue());
    return info.level == Level::Column && info.depth < last &&
           stores.lookup(store.getOperand()).size() == 1;
  }

  bool readsInputs(int pass) {
    return llvm::any_of(needs(pass), [&](Operation *op) {
      return mayBeInPlace(op) && !isKeptBefore(op->getResult(0), pass);
    });
  }

  bool isKeptBefore(Value v, int pass) {
    auto found = s.kept.find(v);
    return found != s.kept.end() && found->second.pass < pass;
  }

  /// Random words, exponentials and the like that several passes need live in a
  /// row buffer from the first of them on.
  void keepExpensive() {
    int64_t cols = numCols(s.kernel);
    if (cols < 2 || cols > limit)
      return;
    for (Operation &op : body()) {
      if (op.getNumResults() != 1 || !isExpensive(&op))
        continue;
      Value v = op.getResult(0);
      if (!live.contains(v) || s.of(v).level != Level::Column ||
          s.kept.contains(v))
        continue;
      SmallVector<int> users;
      for (size_t k = 0; k < s.passes.size(); ++k)
        if (llvm::is_contained(needs(k), &op))
          users.push_back(k);
      if (users.size() < 2)
        continue;
      s.kept[v] = {users.front(), -1, int(s.scratch.size())};
      s.scratch.push_back(v);
      s.passes[users.front()].spills.push_back(v);
    }
  }

  /// The column operations that pass `k` executes, in body order; values kept
  /// from an earlier pass end the search but are in the list.
  SmallVector<Operation *> needs(int k) {
    DenseSet<Operation *> seen;
    SmallVector<Value> work;
    ColumnPass &pass = s.passes[k];
    for (rt::RowReduceOp op : pass.reduces)
      work.push_back(op.getValue());
    for (Operation *op : pass.sinks)
      work.push_back(sinkValue(op));
    llvm::append_range(work, pass.spills);
    while (!work.empty()) {
      Value v = s.resolve(work.pop_back_val());
      Operation *op = v.getDefiningOp();
      if (s.of(v).level != Level::Column || !seen.insert(op).second ||
          isKeptBefore(v, k))
        continue;
      llvm::append_range(work, op->getOperands());
    }
    SmallVector<Operation *> ordered;
    for (Operation &op : body())
      if (seen.contains(&op))
        ordered.push_back(&op);
    return ordered;
  }

  void orderRowOps() {
    s.rowOps.resize(s.passes.size() + 1);
    for (Operation &op : body()) {
      if (op.getNumResults() != 1 || !s.info.contains(op.getResult(0)))
        continue;
      ValueInfo info = s.info[op.getResult(0)];
      if (isa<rt::RowReduceOp>(op) && !oneColumn())
        continue;
      if (info.level == Level::Uniform)
        s.uniformOps.push_back(&op);
      else if (info.level == Level::Row)
        s.rowOps[info.depth].push_back(&op);
    }
  }

  Schedule s;
  int64_t limit;
  DenseSet<Value> live;
  DenseMap<int64_t, SmallVector<rt::StoreOp>> stores;
};

} // namespace

bool codegen::isCostly(const Schedule &s, int k) {
  return llvm::any_of(s.passes[k].ops, [&](Operation *op) {
    auto kept = s.kept.find(op->getResult(0));
    return isExpensive(op) && (kept == s.kept.end() || kept->second.pass >= k);
  });
}

bool codegen::isColumnOfBlocks(Value element) {
  return BlockOrder().isColumnOfBlocks(element);
}

bool codegen::isPointwise(const Schedule &s) {
  return s.passes.size() == 1 && s.passes[0].reduces.empty() &&
         s.rowSinks.empty();
}

bool codegen::isSum(rt::KernelOp kernel, Operation *sink) {
  if (numRows(kernel) == 1)
    return false;
  if (isa<rt::ScatterAddOp>(sink))
    return true;
  auto info =
      cast<rt::OperandAttr>(kernel.getOperandsInfo()[operandIndex(sink)]);
  return isa<rt::AccumulateOp>(sink) && info.getMode() != rt::Mode::Full &&
         info.getMode() != rt::Mode::Row;
}

FailureOr<Schedule> codegen::schedule(rt::KernelOp kernel,
                                      int64_t scratchLimit) {
  return Scheduler(kernel, scratchLimit).run();
}
