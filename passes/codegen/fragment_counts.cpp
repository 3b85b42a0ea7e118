//===- fragment_counts.cpp - sums that the norm counts as they are made ---===//
#include "passes/codegen/fragment_emitter.h"

#include "dialects/mtc/Mtc.h"
#include "mtc/runtime/abi.h"
#include "passes/target/target.h"

#include <cstddef>

using namespace mlir;

namespace mtc::codegen {

Value FragmentEmitter::countedParts(ArrayRef<rt::NormOp> norms) {
  constexpr int64_t kBytes = sizeof(MtcCounted);
  Value parts = LLVM::AllocaOp::create(b, loc, ptr, int64,
                                       i64(std::ssize(norms) * kBytes / 8));
  for (size_t i = 0; i < norms.size(); ++i) {
    rt::NormOp norm = norms[i];
    int64_t part = static_cast<int64_t>(i) * kBytes;
    LLVM::StoreOp::create(b, loc, values.lookup(norm.getRange()),
                          at(parts, part + offsetof(MtcCounted, at)));
    LLVM::StoreOp::create(b, loc, values.lookup(norm.getLength()),
                          at(parts, part + offsetof(MtcCounted, count)));
  }
  return parts;
}

void FragmentEmitter::emitCounted(rt::CollectiveOp op, Value parts,
                                  Value count) {
  bool scatters = op.getKind() == rt::CollectiveKind::ReduceScatter;
  Value group = i32(op.getGroup()), elements = i64(op.getCount());
  call(scatters ? "mtc_reduce_scatter_counted" : "mtc_all_reduce_counted",
       {context, group, values.lookup(op.getInit()), elements, parts, count});
}

void FragmentEmitter::emitCounted(rt::LaunchOp op, Value parts, Value count) {
  SmallVector<Value> arguments = argumentsOf(op);
  Value length = arguments.back(), made = values.lookup(op.getInits().front());
  bool isOfTeam = configOf(module)->getTarget().getThreads() > 1;
  if (isOfTeam)
    arguments.push_back(ofContext(ptr, offsetof(MtcContext, kernel_workspace)));
  auto inRange = [&](SmallVector<Value> &all) {
    Value end = all.pop_back_val(), begin = all.pop_back_val();
    for (auto [value, buffer] : llvm::zip(all, op.getBuffers()))
      value = atElement(value, buffer.getType(), begin);
    all[arguments.size() - 1 - isOfTeam] = sub(end, begin);
    if (isOfTeam)
      all.append({i64(0), i64(1)}); // all parts of it
  };
  Value stored = store(arguments),
        caller = callerOf(op.getKernel(), ".range", arguments, 2, inRange);
  call("mtc_range_counted",
       {context, caller, stored, length, made, parts, count});
}

LogicalResult FragmentEmitter::emitContinuing(rt::NormOp norm) {
  Operation *sum = norm.sumBefore();
  auto launch = dyn_cast_or_null<rt::LaunchOp>(sum);
  // verify-plan says more, where it was asked.
  bool isKnown = sum &&
                 (!launch || (launch.getInits().size() == 1 &&
                              launch.getScalars().size() == 1)) &&
                 target::Target::chipOf(configOf(module)->getTarget()).empty();
  if (!isKnown)
    return norm.emitOpError("expected in front of what continues it, on a cpu, "
                            "a collective or a kernel over a flat range that "
                            "writes one buffer, found another op");
  std::vector<rt::NormOp> all = rt::NormOp::continuing(sum);
  if (norm != all.back())
    return success(); // which emits the sum with all of them
  Value parts = countedParts(all), count = i64(std::ssize(all));
  if (launch)
    emitCounted(launch, parts, count);
  else
    emitCounted(cast<rt::CollectiveOp>(sum), parts, count);
  return success();
}

} // namespace mtc::codegen
