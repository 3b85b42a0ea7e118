//===- cpu_team.cpp - a kernel on all threads of a rank -------------------===//
#include "passes/codegen/cpu_team.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

namespace {

/// What a thread keeps in the workspace should stay in its core's cache.
constexpr int64_t kBlockElements = 65536;
constexpr int64_t kMostRows = 64;

rt::Mode modeOf(const Schedule &s, Operation *op) {
  return s.operand(operandIndex(op)).getMode();
}

/// True if what `op` reads is what a sum over rows changes.
bool readsASum(Operation &op, ArrayRef<Operation *> sums) {
  if (!isa<rt::LoadOp, rt::GatherOp>(op))
    return false;
  return llvm::any_of(sums, [&](Operation *sum) {
    return operandIndex(sum) == operandIndex(&op);
  });
}

/// True if what is added is one number a column, to a place that is known when
/// its row begins.
bool canWait(const Schedule &s, Operation *sum) {
  Type type = sinkValue(sum).getType();
  if (!type.isF32() && !rt::isHalf(type) && !type.isInteger(32))
    return false; // no word
  if (auto scatter = dyn_cast<rt::ScatterAddOp>(sum))
    return s.of(scatter.getRow()).depth == 0;
  rt::Mode mode = modeOf(s, sum);
  return numCols(s.kernel) > 1 &&
         (mode == rt::Mode::Col || mode == rt::Mode::Periodic);
}

/// True for a sink whose place is that of its row alone.
bool staysInItsRow(const Schedule &s, Operation *sink) {
  rt::Mode mode = modeOf(s, sink);
  return !isa<rt::ScatterAddOp>(sink) &&
         (mode == rt::Mode::Full || mode == rt::Mode::Row);
}

void setBlocks(TeamShape &shape, const Schedule &s, int64_t threads) {
  int64_t columns = numCols(s.kernel) * std::ssize(shape.sums);
  int64_t most = std::clamp(kBlockElements / columns, int64_t(1), kMostRows);
  // The last round has as many rows as the others, or nearly.
  int64_t ofThread = llvm::divideCeil(numRows(s.kernel), threads);
  int64_t rounds = llvm::divideCeil(ofThread, most);
  shape.form = TeamForm::Blocks;
  shape.rowsPerBlock = llvm::divideCeil(ofThread, rounds);
  shape.workspaceBytes = threads * shape.rowsPerBlock * columns * 4;
}

} // namespace

TeamShape codegen::teamShape(const Schedule &s, int64_t threads) {
  TeamShape shape;
  rt::KernelOp kernel = s.kernel;
  bool inRows = true;
  for (Operation &op : kernel.getBody().front()) {
    if (!isSink(&op))
      continue;
    if (isSum(kernel, &op))
      shape.sums.push_back(&op);
    else
      inRows &= staysInItsRow(s, &op);
  }
  if (isPointwise(s) && s.randomRows.empty() &&
      (numRows(kernel) == 1 || !shape.sums.empty())) {
    shape.form = TeamForm::Columns;
    return shape;
  }
  if (numRows(kernel) == 1 || !inRows)
    return shape;
  if (shape.sums.empty()) {
    shape.form = TeamForm::Rows;
    return shape;
  }
  bool reads = llvm::any_of(kernel.getBody().front(), [&](Operation &op) {
    return readsASum(op, shape.sums);
  });
  if (!reads &&
      llvm::all_of(shape.sums, [&](Operation *sum) { return canWait(s, sum); }))
    setBlocks(shape, s, threads);
  return shape;
}

int64_t codegen::teamWorkspace(rt::KernelOp kernel, int64_t threads) {
  if (threads <= 1 || kernel.getTiled())
    return 0;
  // Others may have something to say at the same time.
  uint64_t own = llvm::get_threadid();
  ScopedDiagnosticHandler quiet(kernel.getContext(), [own](Diagnostic &) {
    return success(llvm::get_threadid() == own);
  });
  auto plan = schedule(kernel, kCpuRowBuffer);
  return failed(plan) ? 0 : teamShape(*plan, threads).workspaceBytes;
}
