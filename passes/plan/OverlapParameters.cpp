//===- OverlapParameters.cpp - --overlap-parameters -----------------------===//
//
// Establishes: with `overlap = ["param-gather"]` the parameters of a bucket, of
// which each replica has updated its shard, are gathered in front of their
// first reader in each entry, where that is a forward. Behind lower-calls, as
// only then readers have the order in which they run.
//
//===----------------------------------------------------------------------===//
#include "dialects/mtc/Mtc.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/plan/MovedCollectives.h"
#include "passes/plan/Params.h"
#include "passes/plan/ProgramPhase.h"
#include "passes/plan/Timelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace mtc::passes {
#define GEN_PASS_DEF_OVERLAPPARAMETERS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

/// The gathers of parameters behind which `apply` does nothing to them.
MovableCollectives gathersOf(func::FuncOp apply) {
  MovableCollectives gathers;
  for (Operation &op : apply.getBody().front()) {
    if (isMemoryEffectFree(&op))
      continue; // an address
    auto collective = dyn_cast<rt::CollectiveOp>(op);
    bool isGather = collective && staysOnStage(collective) &&
                    collective.getKind() == rt::CollectiveKind::AllGather;
    for (Value operand : op.getOperands()) {
      int64_t bucket = bucketOf(operand, rt::RefKind::Param);
      if (isGather)
        gathers[bucket].push_back(collective);
      else
        gathers.erase(bucket);
    }
  }
  gathers.erase(-1);
  return gathers;
}

/// A form of a fragment in an entry.
struct Runs {
  func::FuncOp fn;
  bool isFirst; ///< of the forms of its phase and chunk
  int64_t times = 0;
  std::set<int64_t> buckets = {}; ///< that nothing before it reads
};

class ForwardGathers {
public:
  explicit ForwardGathers(rt::ProgramOp program)
      : program(program), params(program) {
    for (auto fn : program.getOps<func::FuncOp>())
      if (auto of = pipe::FragmentAttr::of(fn); of && !of.isOfOne())
        fragments[{of.getPhase(), of.getChunk(), of.getForm()}] = fn;
  }

  void run() {
    func::FuncOp apply = updateOf(program, pipe::Phase::Apply);
    if (!apply)
      return;
    gathers = gathersOf(apply);
    std::vector<std::vector<Runs>> entries;
    for (auto timeline : program.getOps<pipe::TimelineOp>())
      entries.push_back(runsOf(timeline));
    keepWhatStays(entries);
    for (std::vector<Runs> &entry : entries)
      for (Runs &runs : entry)
        gatherIn(runs);
    for (auto &[bucket, ops] : gathers)
      eraseCollectives(ops);
  }

private:
  using FormKey = std::tuple<pipe::Phase, int64_t, pipe::Form>;

  /// The forms of fragments in an entry, by their first slot.
  std::vector<Runs> runsOf(pipe::TimelineOp timeline) {
    std::vector<Runs> all;
    pipe::Rows rows = timeline.getRows();
    SlotOrder order(rows);
    std::map<FormKey, size_t> places;
    for (auto [at, slot] : llvm::enumerate(rows.all())) {
      std::optional<pipe::Phase> phase;
      if (slot.isSlot())
        phase = phaseOf(timeline.getEntry(), slot);
      auto found = fragments.end();
      if (phase)
        found = fragments.find({*phase, slot.getChunk(), slot.getForm()});
      if (found == fragments.end()) // plan-memory rejects it
        continue;
      auto [place, isNew] = places.try_emplace(found->first, all.size());
      if (isNew)
        all.push_back({found->second, bitEnumContainsAll(order.conditionsOf(at),
                                                         pipe::Form::First)});
      ++all[place->second].times;
    }
    std::set<int64_t> read;
    for (Runs &runs : all)
      for (auto [bucket, reader] : readersIn(runs.fn))
        if (read.insert(bucket).second)
          runs.buckets.insert(bucket);
    return all;
  }

  /// The first op of a fragment that reads parameters of each bucket.
  std::map<int64_t, Operation *> readersIn(func::FuncOp fn) {
    std::map<int64_t, Operation *> first;
    for (auto param : fn.getOps<pipe::ParamOp>()) {
      const ParamSlot *slot = params.parameter(param.getName());
      if (!slot) // plan-memory rejects it
        continue;
      for (Operation *user : param->getUsers()) {
        Operation *&reader = first[slot->bucket];
        if (!reader || user->isBeforeInBlock(reader))
          reader = user;
      }
    }
    return first;
  }

  /// In `apply` stays what training does not read, and what is read first by
  /// anything but a forward, or by one that others of its chunk ran before and
  /// that several microbatches run.
  void keepWhatStays(ArrayRef<std::vector<Runs>> entries) {
    std::set<int64_t> trained;
    for (const std::vector<Runs> &entry : entries)
      for (const Runs &runs : entry)
        for (int64_t bucket : runs.buckets) {
          pipe::FragmentAttr of = pipe::FragmentAttr::of(runs.fn);
          if (of.getEntry() == "train")
            trained.insert(bucket);
          if (!of.isForward() || (!runs.isFirst && runs.times > 1))
            gathers.erase(bucket);
        }
    std::erase_if(gathers,
                  [&](const auto &each) { return !trained.count(each.first); });
  }

  /// Into the fragment, or into a form of it that its first slot runs.
  void gatherIn(Runs &runs) {
    std::erase_if(runs.buckets,
                  [&](int64_t bucket) { return !gathers.count(bucket); });
    if (runs.buckets.empty())
      return;
    func::FuncOp fn = runs.fn;
    if (runs.times > 1)
      fn = cloneForm(fn, pipe::Form::First);
    std::vector<std::pair<Operation *, int64_t>> readers;
    for (auto [bucket, reader] : readersIn(fn))
      if (runs.buckets.count(bucket))
        readers.push_back({reader, bucket});
    llvm::stable_sort(readers, [](const auto &a, const auto &b) {
      return a.first->isBeforeInBlock(b.first);
    });
    // One bucket ahead: on a stream of its own a gather runs beside the readers
    // of the bucket before, and holds up collectives of these by one only.
    for (size_t i = 0; i < readers.size(); ++i) {
      OpBuilder b(readers[i ? i - 1 : 0].first);
      copyCollectives(gathers.at(readers[i].second), b,
                      readers[i].first->getLoc());
    }
  }

  rt::ProgramOp program;
  ParamTable params;
  std::map<FormKey, func::FuncOp> fragments; ///< that several slots may run
  MovableCollectives gathers;                ///< that go
};

struct OverlapParametersPass
    : ConfiguredPhase<PhasePass<
          mtc::passes::impl::OverlapParametersBase<OverlapParametersPass>>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<rt::RtDialect>();
  }
  LogicalResult runConfigured(rt::ProgramOp program,
                              ConfigAttr config) const override {
    if (config.overlaps(Overlap::ParamGather))
      ForwardGathers(program).run();
    return success();
  }
};

} // namespace
