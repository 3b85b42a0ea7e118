//===- read_calls.cpp - what the calls of a plan compute ------------------===//

#include "compiler/read_calls.h"

#include "compiler/explain/live_values.h"
#include "runtime/base/part_name.h"

#include <algorithm>

#include <llvm/Support/raw_ostream.h>

namespace mtc::compiler {
namespace {

std::string typeText(mlir::Type type) {
  std::string text;
  if (type)
    llvm::raw_string_ostream(text) << type;
  return text;
}

/// What an exchange moves in the direction of which it moves more.
double largerDirection(std::span<const MtcTransfer> transfers) {
  double sent = 0, received = 0;
  for (const MtcTransfer &transfer : transfers)
    (transfer.is_send ? sent : received) += static_cast<double>(transfer.bytes);
  return std::max(sent, received);
}

} // namespace

void PlanCalls::add(const PlanCalls &more, int64_t times) {
  auto scale = static_cast<double>(times);
  calls += more.calls * times;
  flops += more.flops * scale;
  unmaskedFlops += more.unmaskedFlops * scale;
  bytes += more.bytes * scale;
  linkBytes += more.linkBytes * scale;
}

PlanCalls readCall(rt::WorkOpInterface op, const rt::Work &work) {
  PlanCalls call;
  call.op = op->getName().stripDialect().str();
  call.name = op.describeCall();
  call.part = partOf(op->getLoc());
  call.factors = typeText(work.factors);
  if (auto collective = mlir::dyn_cast<rt::CollectiveOp>(op.getOperation()))
    call.stream = static_cast<int64_t>(collective.getStream());
  call.calls = 1;
  call.flops = work.flops;
  call.unmaskedFlops = work.unmaskedFlops;
  call.bytes = work.bytes;
  call.linkBytes = work.linkBytes;
  return call;
}

void addCall(const PlanCalls &more, std::vector<PlanCalls> &calls,
             int64_t times) {
  auto like = std::ranges::find_if(
      calls, [&](const PlanCalls &known) { return known.isLike(more); });
  if (like != calls.end()) {
    like->add(more, times);
    like->part = runtime::commonPart(like->part, more.part);
    return;
  }
  PlanCalls &row = calls.emplace_back(more);
  row.calls = 0;
  row.flops = row.unmaskedFlops = row.bytes = row.linkBytes = 0;
  row.add(more, times);
}

std::vector<PlanCalls> callsOfStep(const ProgramPlan &program) {
  std::vector<PlanCalls> calls;
  PlanCalls exchanges;
  exchanges.op = "exchange";
  exchanges.name = "with other stages";
  for (const PlanTimeline &timeline : program.timelines) {
    if (timeline.entry != "train")
      continue;
    std::vector<int64_t> runs(program.fragments.size());
    for (const MtcStep &row : timeline.rows) {
      if (row.kind == MTC_STEP_RUN && row.fragment >= 0)
        ++runs[static_cast<size_t>(row.fragment)];
      // Those of a post are counted where they are waited for.
      if (row.kind == MTC_STEP_POST || program.transfersOf(row).empty())
        continue;
      ++exchanges.calls;
      exchanges.linkBytes += largerDirection(program.transfersOf(row));
    }
    for (size_t i = 0; i < runs.size(); ++i)
      if (runs[i] > 0)
        for (const PlanCalls &of : program.fragments[i].calls)
          addCall(of, calls, runs[i]);
  }
  if (exchanges.calls > 0)
    calls.push_back(exchanges);
  return calls;
}

} // namespace mtc::compiler
