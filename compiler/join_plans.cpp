//===- join_plans.cpp - one program for steps of several shapes -----------===//

#include "compiler/join_plans.h"

#include "dialects/mtc/Mtc.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/KernelStructure.h"
#include "dialects/rt/Rt.h"
#include "mtc/runtime/descriptor.h"
#include "passes/PhasePass.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"

#include <fmt/format.h>

using namespace mlir;

namespace mtc::compiler {
namespace {

using runtime::StepShape;

StepShape shapeOf(ConfigAttr config) {
  BatchAttr batch = config.getBatch();
  return {batch.getSequence(), batch.getGlobal()};
}

template <typename Op> std::vector<Op> opsOf(Operation *of) {
  auto ops = of->getRegion(0).getOps<Op>();
  return {ops.begin(), ops.end()};
}

/// Whether two plans say the same with their ops of a kind.
template <typename Op> bool saySame(Operation *one, Operation *other) {
  return llvm::equal(opsOf<Op>(one), opsOf<Op>(other), [](Op a, Op b) {
    return a->getAttrDictionary() == b->getAttrDictionary();
  });
}

void moveTo(Operation *op, Operation *parent) {
  Block &block = parent->getRegion(0).front();
  op->moveBefore(&block, block.end());
}

/// Moves what a program of other steps does into that of the largest.
class ProgramJoin {
public:
  ProgramJoin(rt::ProgramOp into, rt::ProgramOp from, ConfigAttr largest,
              ConfigAttr config)
      : into(into), from(from), largest(largest), config(config) {}

  LogicalResult run() {
    if (failed(checkMemory()) || failed(joinLibrary()))
      return failure();
    moveKernels();
    if (failed(moveFragments()))
      return failure();
    moveForms();
    for (auto timeline : opsOf<rt::TimelineOp>(from))
      moveTimeline(timeline);
    for (auto slot : opsOf<rt::InputSlotOp>(from)) {
      slot.setEntry(named(slot.getEntry()));
      moveTo(slot, into);
    }
    for (auto slot : opsOf<rt::ExportSlotOp>(from)) {
      StringRef name = nameOf(slot.getFragment());
      if (name == slot.getFragment()) // the other plan says it, too
        continue;
      slot.setFragment(name);
      moveTo(slot, into);
    }
    return success();
  }

private:
  std::string named(StringRef name) {
    return runtime::entryName(name.str(), shapeOf(config), shapeOf(largest));
  }

  /// What lasts from step to step must be the same bytes, and what is one
  /// step's is as large as the largest.
  LogicalResult checkMemory() {
    if (!saySame<rt::BucketOp>(into, from) || !saySame<rt::ParamOp>(into, from))
      return from.emitError("expected the buckets and parameters of \"")
             << into.getSymName() << "\" for the largest step, found others";
    bool arePlanned = into.getArenas() && from.getArenas() &&
                      into.getArenas()->size() == MTC_ARENA_COUNT &&
                      from.getArenas()->size() == MTC_ARENA_COUNT;
    if (!arePlanned || into.getLossOffset() != from.getLossOffset())
      return from.emitError("expected sizes of arenas, and the offset of the "
                            "loss as for the largest step, found others");
    SmallVector<int64_t> arenas(*into.getArenas());
    for (auto [arena, bytes] : llvm::enumerate(*from.getArenas())) {
      bool isOfStep = arena == MTC_ARENA_ACTIVATIONS ||
                      arena == MTC_ARENA_WORKSPACE || arena == MTC_ARENA_PACKED;
      if (!isOfStep && arenas[arena] != bytes)
        return from.emitError("expected ")
               << arenas[arena] << " bytes in arena " << arena
               << ", as for the largest step, found " << bytes;
      arenas[arena] = std::max(arenas[arena], bytes);
    }
    into.setArenas(arenas);
    return success();
  }

  /// A table of products may give the library some of one length only.
  LogicalResult joinLibrary() {
    StringRef library = from.getOnednn().value_or("");
    if (into.getOnednn().value_or("").empty())
      into.setOnednn(library);
    if (library.empty() || into.getOnednn() == library)
      return success();
    return from.emitError("expected oneDNN ")
           << *into.getOnednn() << ", as for the largest step, found "
           << library;
  }

  void moveKernels() {
    rt::KernelSet known;
    for (auto kernel : opsOf<rt::KernelOp>(into))
      known.insert(kernel);
    for (auto kernel : opsOf<rt::KernelOp>(from)) {
      std::string name = kernel.getSymName().str();
      if (auto same = known.find(kernel); same != known.end()) {
        rt::KernelOp other = *same;
        kernels[name] = other.getSymName().str();
        continue;
      }
      kernels[name] = named(name);
      kernel.setSymName(kernels[name]);
      moveTo(kernel, into);
    }
    from.walk([&](rt::LaunchOp launch) {
      if (auto it = kernels.find(launch.getKernel().str()); it != kernels.end())
        launch.setKernel(it->second);
    });
  }

  /// Fragments that are the same are there once. `apply` must be: it has no
  /// samples. What `reduce` counts for the norm is what products do not, and
  /// these may have other kernels in steps of another size.
  LogicalResult moveFragments() {
    for (auto fn : opsOf<func::FuncOp>(from)) {
      StringRef name = fn.getSymName();
      auto other = into.lookupSymbol<func::FuncOp>(name);
      if (other && OperationEquivalence::isEquivalentTo(
                       fn, other, OperationEquivalence::IgnoreLocations)) {
        fragments[name.str()] = name.str();
        continue;
      }
      if (auto of = pipe::FragmentAttr::of(fn);
          of && of.getPhase() == pipe::Phase::Apply)
        return fn.emitError("expected the update \"")
               << name << "\" of the largest step, found another";
      std::string own = named(name);
      fragments[name.str()] = own;
      fn.setSymName(own);
      moveTo(fn, into);
    }
    return success();
  }

  /// `servedBuckets` reads them once more; nobody else does.
  void moveForms() {
    auto target = opsOf<rt::TensorFormOp>(into);
    for (auto form : opsOf<rt::TensorFormOp>(from))
      for (auto fn : opsOf<func::FuncOp>(form)) {
        std::string name = nameOf(fn.getSymName()).str();
        if (target.empty() || name == fn.getSymName())
          continue;
        fn.setSymName(name);
        moveTo(fn, target.front());
      }
  }

  void moveTimeline(rt::TimelineOp timeline) {
    timeline.setRows(timeline.getRows().renamed([&](StringAttr fragment) {
      return StringAttr::get(timeline.getContext(), nameOf(fragment));
    }));
    timeline.setSymName(named(timeline.getSymName()));
    BatchAttr own = config.getBatch(), first = largest.getBatch();
    if (own.getSequence() != first.getSequence())
      timeline.setSequence(own.getSequence());
    if (own.getMicrobatches() != first.getMicrobatches())
      timeline.setMicrobatches(own.getMicrobatches());
    moveTo(timeline, into);
  }

  StringRef nameOf(StringRef fragment) {
    auto it = fragments.find(fragment.str());
    return it == fragments.end() ? fragment : StringRef(it->second);
  }

  rt::ProgramOp into, from;
  ConfigAttr largest, config;
  std::map<std::string, std::string> kernels, fragments; ///< new names
};

LogicalResult joinInto(ModuleOp into, ModuleOp from) {
  FailureOr<ConfigAttr> largest = configOf(into), config = configOf(from);
  if (failed(largest) || failed(config))
    return failure();
  std::vector<rt::ProgramOp> programs = opsOf<rt::ProgramOp>(into),
                             others = opsOf<rt::ProgramOp>(from);
  auto areOfOneStage = [](rt::ProgramOp a, rt::ProgramOp b) {
    return a.getStage() == b.getStage();
  };
  if (!llvm::equal(programs, others, areOfOneStage) ||
      !saySame<pipe::ParameterOp>(into, from))
    return from.emitError("expected the stages and parameters of the plan for "
                          "the largest step, found others");
  for (auto [program, other] : llvm::zip_equal(programs, others))
    if (failed(ProgramJoin(program, other, *largest, *config).run()))
      return failure();
  return success();
}

/// An entry is named by its shape, and arenas and figures are of the first.
LogicalResult checkShapes(ArrayRef<ModuleOp> plans) {
  std::optional<StepShape> largest, before;
  int64_t micro = 0;
  for (ModuleOp plan : plans) {
    FailureOr<ConfigAttr> config = configOf(plan);
    if (failed(config))
      return failure();
    StepShape shape = shapeOf(*config);
    BatchAttr batch = config->getBatch();
    if (!before) {
      largest = shape;
      micro = batch.getMicro();
    } else if (shape >= *before || shape.globalBatch > largest->globalBatch ||
               batch.getMicro() != micro) {
      return plan.emitError("expected a plan for samples of fewer than ")
             << before->seq << " tokens, or as many and a global batch below "
             << before->globalBatch << ", with at most " << largest->globalBatch
             << " samples a step in microbatches of " << micro << ", found "
             << shape.seq << " tokens and " << shape.globalBatch
             << " samples in microbatches of " << batch.getMicro();
    }
    before = shape;
  }
  return success();
}

} // namespace

std::vector<ModuleOp> plansOf(ModuleOp module) {
  std::vector<ModuleOp> plans = opsOf<ModuleOp>(module);
  return plans.empty() ? std::vector{module} : plans;
}

OwningOpRef<ModuleOp>
bundlePlans(MutableArrayRef<OwningOpRef<ModuleOp>> plans) {
  if (plans.size() == 1)
    return std::move(plans.front());
  ModuleOp first = *plans.front();
  OwningOpRef<ModuleOp> all = ModuleOp::create(first.getLoc());
  (*all)->setAttr(passes::phaseAttr, first->getAttr(passes::phaseAttr));
  for (OwningOpRef<ModuleOp> &plan : plans)
    all->push_back(plan.release());
  return all;
}

LogicalResult joinPlans(ModuleOp module) {
  std::vector<ModuleOp> plans = plansOf(module);
  if (plans.front() == module)
    return success();
  if (failed(checkShapes(plans)))
    return failure();
  for (ModuleOp other : llvm::drop_begin(plans))
    if (failed(joinInto(plans.front(), other)))
      return failure();
  module->setAttrs(plans.front()->getAttrDictionary());
  module.getBody()->getOperations().splice(
      module.getBody()->begin(), plans.front().getBody()->getOperations());
  for (ModuleOp plan : plans)
    plan.erase();
  return success();
}

} // namespace mtc::compiler
