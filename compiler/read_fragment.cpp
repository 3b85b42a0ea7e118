//===- read_fragment.cpp - what one fragment costs ------------------------===//

#include "compiler/read_fragment.h"

#include "compiler/read_calls.h"
#include "mtc/runtime/abi.h"

#include "dialects/rt/Rt.h"

#include "mlir/IR/SymbolTable.h"

#include <algorithm>
#include <map>

namespace mtc::compiler {
namespace {

int64_t elementBytes(mlir::Value buffer) {
  auto type = mlir::dyn_cast<mlir::ShapedType>(buffer.getType());
  if (!type || !type.getElementType().isIntOrFloat())
    return 4;
  return (type.getElementTypeBitWidth() + 7) / 8;
}

int64_t ringPasses(rt::CollectiveKind kind) {
  switch (kind) {
  case rt::CollectiveKind::AllReduce:
  case rt::CollectiveKind::AllReduceMax:
  case rt::CollectiveKind::NormReduce:
    return 2;
  case rt::CollectiveKind::ReduceScatter:
  case rt::CollectiveKind::AllGather:
    return 1;
  }
  llvm_unreachable("a kind that is none");
}

PlanCollective readCollective(rt::CollectiveOp op, const PlanConfig &config) {
  PlanCollective result;
  result.kind = rt::stringifyCollectiveKind(op.getKind()).str();
  result.group = groupName(op.getGroup());
  result.ringPasses = ringPasses(op.getKind());
  if (op.getKind() == rt::CollectiveKind::NormReduce) {
    result.bytes = sizeof MtcStepState::norm;
    return result;
  }
  int64_t width = op.getInit() ? elementBytes(op.getInit()) : 4;
  result.bytes = op.getCount() * width;
  if (op.countsPart())
    result.bytes *= config.mesh.groupSize(op.getGroup());
  return result;
}

/// Bytes of the workspace that collectives over dp work on, all-gathers or the
/// others: sums of gradients before the update. Buckets that do not live
/// together may lie in the same ones.
int64_t workspaceOverDp(mlir::func::FuncOp function, bool gathers) {
  std::map<int64_t, int64_t> ends; // by begin
  function.walk([&](rt::CollectiveOp op) {
    auto view =
        op.getInit() ? op.getInit().getDefiningOp<rt::ViewOp>() : rt::ViewOp();
    if (!view || view.getArena() != MTC_ARENA_WORKSPACE ||
        op.getGroup() != MTC_GROUP_DP ||
        gathers != (op.getKind() == rt::CollectiveKind::AllGather))
      return;
    int64_t &end = ends[view.getOffset()];
    end =
        std::max(end, int64_t(view.getOffset() + rt::bytesOf(view.getType())));
  });
  int64_t bytes = 0, at = 0;
  for (auto [begin, end] : ends) {
    bytes += std::max<int64_t>(0, end - std::max(begin, at));
    at = std::max(at, end);
  }
  return bytes;
}

/// Products and attention are what fragments are weighed by.
void addFlops(const rt::Work &work, PlanFragment &fragment) {
  if (!work.factors)
    return;
  fragment.flops += work.flops;
  fragment.unmaskedFlops += work.unmaskedFlops;
}

} // namespace

PlanFragment readFragment(mlir::func::FuncOp function,
                          const PlanConfig &config) {
  PlanFragment fragment;
  fragment.name = function.getSymName().str();
  fragment.stagingBytes = workspaceOverDp(function, /*gathers=*/false);
  fragment.gatherBytes = workspaceOverDp(function, /*gathers=*/true);
  if (auto of = pipe::FragmentAttr::of(function)) {
    fragment.chunk = of.getChunk();
    fragment.phase = static_cast<int64_t>(of.getPhase());
  }
  function.walk([&](mlir::Operation *op) {
    if (auto collective = mlir::dyn_cast<rt::CollectiveOp>(op))
      fragment.collectives.push_back(readCollective(collective, config));
    if (auto working = mlir::dyn_cast<rt::WorkOpInterface>(op)) {
      rt::Work work = working.getWork(config.mesh);
      addFlops(work, fragment);
      addCall(readCall(working, work), fragment.calls);
    }
  });
  return fragment;
}

} // namespace mtc::compiler
