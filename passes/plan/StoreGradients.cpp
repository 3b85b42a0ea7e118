//===- StoreGradients.cpp - --store-gradients -----------------------------===//
//
// Establishes: accumulators that only products write whole are stored by the
// first microbatch of a step, and `apply` clears the others alone. Behind
// shard-gradients, which puts some gradients elsewhere.
//
//===----------------------------------------------------------------------===//
#include "dialects/mtc/Mtc.h"
#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"
#include "passes/Passes.h"
#include "passes/PhasePass.h"
#include "passes/plan/Fragments.h"
#include "passes/plan/MovedCollectives.h"
#include "passes/plan/ProgramPhase.h"
#include "passes/plan/Timelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <map>
#include <set>

namespace mtc::passes {
#define GEN_PASS_DEF_STOREGRADIENTS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

/// Elements of a bucket, by their begin: begin and end.
using Ranges = std::map<int64_t, int64_t>;

class FirstStores {
public:
  explicit FirstStores(rt::ProgramOp program)
      : program(program), params(program) {}

  void run() {
    func::FuncOp apply = updateOf(program, pipe::Phase::Apply);
    if (!apply)
      return;
    readOrder();
    for (func::FuncOp fn : microbatchFragments(program))
      for (auto ref : fn.getOps<rt::RefOp>())
        if (ref.getKind() == rt::RefKind::Grad && ref.getParam())
          readWriters(fn, ref);
    for (auto &[key, found] : accumulators)
      if (found.isStored)
        store(key, found);
    for (auto zero : llvm::make_early_inc_range(apply.getOps<rt::ZeroOp>()))
      narrow(zero);
  }

private:
  using Key = std::pair<std::string, int64_t>; ///< a parameter and its use
  struct Accumulator {
    bool isStored = true; ///< by all that write it
    int64_t elements = 0;
    std::vector<rt::GemmOp> products = {};
  };

  /// Of which phases and chunks microbatch 0 is the first.
  void readOrder() {
    std::set<std::pair<pipe::Phase, int64_t>> seen;
    for (auto timeline : program.getOps<pipe::TimelineOp>()) {
      if (timeline.getEntry() != "train")
        continue;
      pipe::Rows rows = timeline.getRows();
      for (const pipe::Row &slot : rows.all()) {
        std::optional<pipe::Phase> phase =
            slot.isSlot() ? phaseOf("train", slot) : std::nullopt;
        if (phase && seen.insert({*phase, slot.getChunk()}).second &&
            slot.getMicrobatch() == 0)
          beginning.insert({*phase, slot.getChunk()});
      }
    }
  }

  bool beginsWithFirst(func::FuncOp fn) const {
    auto of = pipe::FragmentAttr::of(fn);
    return beginning.count({of.getPhase(), of.getChunk()});
  }

  void readWriters(func::FuncOp fn, rt::RefOp ref) {
    Accumulator &found = accumulators[{ref.getParam()->str(), *ref.getUse()}];
    found.elements = cast<MemRefType>(ref.getType()).getNumElements();
    // A second one in a fragment adds to the first.
    found.isStored &= llvm::hasSingleElement(ref->getUsers());
    for (Operation *user : ref->getUsers()) {
      auto product = dyn_cast<rt::GemmOp>(user);
      bool adds = product && product.getC() == ref && product.getBeta();
      found.isStored &= adds && beginsWithFirst(fn);
      if (adds)
        found.products.push_back(product);
    }
  }

  void store(const Key &key, Accumulator &found) {
    const ParamSlot *slot = params.find(key.first, key.second);
    if (!slot || found.products.empty())
      return;
    for (rt::GemmOp product : found.products)
      product.setStoresFirst(true);
    stored[slot->bucket][slot->start] = slot->start + found.elements;
  }

  /// Clears what lies between the accumulators that are stored.
  void narrow(rt::ZeroOp zero) {
    auto ref = zero.getInit().getDefiningOp<rt::RefOp>();
    auto found = ref && ref.getKind() == rt::RefKind::Grad && ref.getBucket()
                     ? stored.find(*ref.getBucket())
                     : stored.end();
    if (found == stored.end())
      return;
    auto type = cast<MemRefType>(ref.getType());
    OpBuilder b(zero);
    auto clear = [&](int64_t begin, int64_t end) {
      if (begin >= end)
        return;
      auto part = rt::RefOp::create(
          b, ref.getLoc(),
          MemRefType::get({end - begin}, type.getElementType()),
          rt::RefKind::Grad, StringAttr(), ref.getBucketAttr(),
          b.getI64IntegerAttr(begin), StringAttr(), IntegerAttr());
      rt::ZeroOp::create(b, zero.getLoc(), Type(), part, zero.getGuarded());
    };
    int64_t from = ref.getStart().value_or(0);
    int64_t last = from + type.getNumElements();
    for (auto [begin, end] : found->second) {
      clear(from, std::min(begin, last));
      from = std::max(from, end);
    }
    clear(from, last);
    zero.erase();
    if (ref->use_empty())
      ref.erase();
  }

  rt::ProgramOp program;
  ParamTable params;
  std::set<std::pair<pipe::Phase, int64_t>> beginning;
  std::map<Key, Accumulator> accumulators;
  std::map<int64_t, Ranges> stored; ///< by bucket
};

struct StoreGradientsPass
    : ConfiguredPhase<PhasePass<
          mtc::passes::impl::StoreGradientsBase<StoreGradientsPass>>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<rt::RtDialect>();
  }
  LogicalResult runConfigured(rt::ProgramOp program,
                              ConfigAttr config) const override {
    // A GPU's library may make both products by algorithms that add in another
    // order.
    if (config.getTarget().getDevice() == "cpu")
      FirstStores(program).run();
    return success();
  }
};

} // namespace
