//===- CountGradients.cpp - --count-gradients -----------------------------===//
//
// Establishes: on a cpu the norm is reset at the end of `reduce`, and products
// and sums that are the last to write a gradient count its squares, where that
// takes less time; the norm has the others. Behind the choice of kernels.
//
//===----------------------------------------------------------------------===//
#include "dialects/mtc/Mtc.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/plan/CountedSums.h"
#include "passes/plan/Fragments.h"
#include "passes/plan/MovedCollectives.h"
#include "passes/plan/ProgramPhase.h"
#include "passes/plan/Timelines.h"
#include "passes/plan/UpdateFragments.h"
#include "passes/target/target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>

namespace mtc::passes {
#define GEN_PASS_DEF_COUNTGRADIENTS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

/// What runs a fragment, in any of its forms.
using Slots = std::pair<pipe::Phase, int64_t>; // and chunk

/// The gradient of a use of a parameter.
struct Gradient {
  bool isProducts = true; ///< all that touches it in microbatches
  int64_t elements = 0;
  std::set<Slots> slots = {}; ///< that add to it
  std::vector<rt::GemmOp> products = {};
};

/// Elements of one bucket that products make, by their first.
using Gradients = std::map<int64_t, Gradient *>;

class CountedGradients {
public:
  explicit CountedGradients(rt::ProgramOp program)
      : program(program), params(program) {
    for (auto param : program.getOps<rt::ParamOp>())
      names[{param.getBucket(), param.getStart()}] = param.getNameAttr();
  }

  void run(func::FuncOp reduce) {
    readTrained();
    for (func::FuncOp fn : microbatchFragments(program))
      for (auto ref : fn.getOps<rt::RefOp>())
        if (ref.getKind() == rt::RefKind::Grad && ref.getParam())
          readWriters(fn, ref);
    place();
    for (auto norm : llvm::make_early_inc_range(reduce.getOps<rt::NormOp>()))
      if (norm.getAction() == rt::NormAction::Accumulate)
        narrow(norm);
  }

private:
  /// What training runs, so that it has a last row.
  void readTrained() {
    for (auto timeline : program.getOps<pipe::TimelineOp>()) {
      if (timeline.getEntry() != "train")
        continue;
      pipe::Rows rows = timeline.getRows();
      for (const pipe::Row &slot : rows.all())
        if (std::optional<pipe::Phase> phase =
                slot.isSlot() ? phaseOf("train", slot) : std::nullopt)
          trained.insert({*phase, slot.getChunk()});
    }
  }

  void readWriters(func::FuncOp fn, rt::RefOp ref) {
    auto of = pipe::FragmentAttr::of(fn);
    Gradient &found = gradients[{ref.getParam()->str(), *ref.getUse()}];
    found.elements = cast<MemRefType>(ref.getType()).getNumElements();
    found.slots.insert({of.getPhase(), of.getChunk()});
    found.isProducts &= llvm::hasSingleElement(ref->getUsers());
    for (Operation *user : ref->getUsers()) {
      auto product = dyn_cast<rt::GemmOp>(user);
      found.isProducts &= product && canCount(product, ref);
      if (product)
        found.products.push_back(product);
    }
  }

  static bool canCount(rt::GemmOp product, rt::RefOp ref) {
    return product.getC() == ref && product.getBeta() &&
           product.getKernel() == rt::GemmKernel::Own &&
           cast<MemRefType>(ref.getType()).getElementType().isF32();
  }

  /// In their buckets; where a parameter has two uses, these are added first.
  void place() {
    for (auto &[key, gradient] : gradients) {
      const ParamSlot *slot = params.find(key.first, key.second);
      bool isLastKnown =
          gradient.slots.size() == 1 && trained.count(*gradient.slots.begin());
      if (slot && gradient.isProducts && isLastKnown &&
          !params.find(key.first, key.second + 1))
        placed[slot->bucket][slot->start] = &gradient;
    }
  }

  /// None, if ranks count parts of it, or it continues a sum. What is yet to be
  /// summed over ranks is one of these: behind the sum they have the same.
  static std::optional<GradientRange> countedBy(rt::NormOp norm) {
    auto found = GradientRange::of(norm);
    bool isOfAll = found && !norm.getContinues() &&
                   found->range.getAt() == found->view.getElements() &&
                   !found->range.getShard() && !found->range.getAmong();
    return isOfAll ? found : std::nullopt;
  }

  /// Leaves what lies between the gradients that their products count.
  void narrow(rt::NormOp norm) {
    std::optional<GradientRange> counted = countedBy(norm);
    auto found =
        counted ? placed.find(*counted->buffer.getBucket()) : placed.end();
    if (found == placed.end())
      return;
    int64_t from = counted->range.getStart(), end = 0;
    if (llvm::AddOverflow<int64_t>(from, counted->range.getCount(), end))
      return; // of no bucket, as verify-plan says
    bool isNarrower = false;
    auto keep = [&](int64_t until) {
      if (from < until)
        accumulate(norm, *counted, from, until);
    };
    for (auto it = found->second.lower_bound(from);
         it != found->second.end() && it->first + it->second->elements <= end;
         ++it) {
      count(*it->second);
      keep(it->first);
      from = it->first + it->second->elements;
      isNarrower = true;
    }
    if (!isNarrower)
      return;
    keep(end);
    removeCount(norm);
  }

  static void count(Gradient &gradient) {
    for (rt::GemmOp product : gradient.products)
      product.setCountsLast(true);
  }

  /// The parameters that begin in it.
  Location partOf(rt::NormOp norm, int64_t bucket, int64_t begin,
                  int64_t end) const {
    auto first = names.lower_bound({bucket, begin}),
         behind = names.lower_bound({bucket, end});
    if (first == behind) // padding
      return norm.getLoc();
    return spanOf(NameLoc::get(first->second),
                  NameLoc::get(std::prev(behind)->second));
  }

  void accumulate(rt::NormOp norm, GradientRange of, int64_t begin,
                  int64_t end) const {
    OpBuilder b(norm);
    Location loc = partOf(norm, *of.buffer.getBucket(), begin, end);
    addCount(b, loc, of, begin, end - begin, rt::GroupsAttr());
  }

  rt::ProgramOp program;
  ParamTable params;
  std::map<std::pair<int64_t, int64_t>, StringAttr>
      names; ///< by where they begin
  std::set<Slots> trained;
  std::map<std::pair<std::string, int64_t>, Gradient> gradients;
  std::map<int64_t, Gradients> placed; ///< by bucket
};

/// For the next step, whose products may count before `reduce` runs.
void resetAtEnd(func::FuncOp reduce) {
  Operation *end = reduce.getBody().front().getTerminator();
  for (auto norm : llvm::make_early_inc_range(reduce.getOps<rt::NormOp>()))
    if (norm.getAction() == rt::NormAction::Reset)
      norm->moveBefore(end);
}

struct CountGradientsPass
    : ConfiguredPhase<PhasePass<
          mtc::passes::impl::CountGradientsBase<CountGradientsPass>>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<rt::RtDialect>();
  }
  LogicalResult runConfigured(rt::ProgramOp program,
                              ConfigAttr config) const override {
    func::FuncOp reduce = updateOf(program, pipe::Phase::Reduce);
    if (config.getTarget().getDevice() != "cpu" || !reduce)
      return success();
    auto target = target::Target::of(program->getParentOfType<ModuleOp>());
    if (failed(target))
      return failure();
    resetAtEnd(reduce);
    if (!target->countsSquares())
      return success();
    CountedGradients(program).run(reduce);
    if (target->streams() == 1)
      continueSums(reduce);
    return success();
  }
};

} // namespace
