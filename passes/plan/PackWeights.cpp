//===- PackWeights.cpp - --pack-weights -----------------------------------===//
//
// Establishes: with `prepack` in the target, weights that products of our own
// read as they lie are packed once a step, in the forward of the microbatch
// that runs first, and products read that. Behind the choice of kernels.
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
#include "passes/target/target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace mtc::passes {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "passes/Passes.h.inc"
} // namespace mtc::passes

using namespace mlir;
using namespace mtc;
using namespace mtc::passes;

namespace {

/// Packing a weight takes as much as 3 products save that need not do it, in a
/// step of gpt2-124m as much as 6 (test/bench/gemm): of a product that no table
/// has, so many have to read it.
constexpr int64_t kLeastProducts = 8;

/// The weight that a product reads as it lies; null if there is none.
pipe::ParamOp weightOf(rt::GemmOp product) {
  return product.getKernel() == rt::GemmKernel::Own
             ? product.getB().getDefiningOp<pipe::ParamOp>()
             : pipe::ParamOp();
}

/// A weight as products of a chunk read it.
using Reading = std::tuple<StringRef, int64_t, int64_t, bool>; // n, k, tb

Reading readingOf(rt::GemmOp product) {
  return {weightOf(product).getName(), product.getN(), product.getK(),
          product.getTb()};
}

/// Packed or not.
struct Packed {
  bool pays = false;
  int64_t index = -1, bytes = 0;
};

/// The weights of one chunk of a program.
class ChunkWeights {
public:
  ChunkWeights(rt::ProgramOp program, std::vector<func::FuncOp> fragments,
               const target::Target &target)
      : program(program), fragments(std::move(fragments)), target(target) {}

  /// Those that `pays` says of the products that read them.
  void find(llvm::function_ref<bool(rt::GemmOp)> pays) {
    for (func::FuncOp fn : fragments)
      for (auto product : fn.getOps<rt::GemmOp>())
        if (weightOf(product))
          all[readingOf(product)].pays |= pays(product);
    all.remove_if([](auto &each) { return !each.second.pays; });
  }
  bool empty() const { return all.empty(); }

  /// In `first`, which runs before all others; `next` is the number of the next
  /// rt.packed of the program.
  void pack(func::FuncOp first, int64_t &next) {
    declare(next);
    std::set<StringRef> done;
    for (auto product : first.getOps<rt::GemmOp>())
      if (auto weight = weightOf(product);
          weight && done.insert(weight.getName()).second)
        packAt(product, weight);
    for (auto &[reading, packed] : all)
      if (done.insert(std::get<StringRef>(reading)).second)
        packAtEnd(first, std::get<StringRef>(reading));
    for (func::FuncOp fn : fragments)
      readPacked(fn);
    if (!llvm::is_contained(fragments, first))
      readPacked(first);
  }

private:
  rt::GemmOp readerOf(const Reading &reading) {
    for (func::FuncOp fn : fragments)
      for (auto product : fn.getOps<rt::GemmOp>())
        if (weightOf(product) && readingOf(product) == reading)
          return product;
    return {};
  }

  void declare(int64_t &next) {
    OpBuilder b(*program.getOps<func::FuncOp>().begin());
    for (auto &[reading, packed] : all) {
      auto [name, n, k, tb] = reading;
      rt::GemmOp reader = readerOf(reading);
      Type type = cast<ShapedType>(reader.getB().getType()).getElementType();
      packed.index = next++;
      packed.bytes = target.packedBytes(n, k, type);
      rt::PackedOp::create(b, reader.getLoc(), packed.index, name, n, k,
                           packed.bytes, tb, type, /*offset=*/IntegerAttr());
    }
  }

  static Value refOf(OpBuilder &b, Location loc, const Packed &packed) {
    return rt::RefOp::create(
        b, loc, MemRefType::get({packed.bytes}, b.getI8Type()),
        rt::RefKind::Packed, StringAttr(), b.getI64IntegerAttr(packed.index),
        IntegerAttr(), StringAttr(), IntegerAttr());
  }

  /// All readings of a weight, in front of an op.
  void packAt(Operation *op, pipe::ParamOp weight) {
    OpBuilder b(op);
    for (auto &[reading, packed] : all) {
      auto [name, n, k, tb] = reading;
      if (name == weight.getName())
        rt::PackOp::create(b, weight.getLoc(), weight,
                           refOf(b, weight.getLoc(), packed), n, k, tb);
    }
  }

  /// Of a weight that the fragment does not read in a product.
  void packAtEnd(func::FuncOp first, StringRef name) {
    Operation *end = first.getBody().front().getTerminator();
    for (auto &[reading, packed] : all)
      if (std::get<StringRef>(reading) == name) {
        pipe::ParamOp weight = weightOf(readerOf(reading));
        OpBuilder b(end);
        packAt(end, cast<pipe::ParamOp>(b.clone(*weight)));
        return;
      }
  }

  void readPacked(func::FuncOp fn) {
    for (auto product : fn.getOps<rt::GemmOp>()) {
      pipe::ParamOp weight = weightOf(product);
      auto it = weight ? all.find(readingOf(product)) : all.end();
      if (it == all.end())
        continue;
      OpBuilder b(product);
      product.getBMutable().assign(refOf(b, product.getLoc(), it->second));
      product.setKernel(rt::GemmKernel::OwnPacked);
      if (weight->use_empty())
        weight.erase();
    }
  }

  rt::ProgramOp program;
  std::vector<func::FuncOp> fragments;
  const target::Target &target;
  llvm::MapVector<Reading, Packed, std::map<Reading, unsigned>> all;
};

/// What the first slot of a chunk's forwards runs.
class FirstForwards {
public:
  explicit FirstForwards(rt::ProgramOp program) {
    for (auto fn : program.getOps<func::FuncOp>())
      if (auto of = pipe::FragmentAttr::of(fn);
          of && of.getPhase() == pipe::Phase::Forward)
        forwards[of.getChunk()].push_back(fn);
    for (auto timeline : program.getOps<pipe::TimelineOp>())
      if (timeline.getEntry() == "train")
        read(timeline);
  }

  /// By itself, or a form of it that the first slot alone runs; null if no slot
  /// does.
  func::FuncOp of(int64_t chunk) {
    func::FuncOp fn = firsts.lookup(chunk);
    return fn && times.lookup(fn) > 1 ? cloneForm(fn, pipe::Form::First) : fn;
  }

private:
  void read(pipe::TimelineOp timeline) {
    pipe::Rows rows = timeline.getRows();
    SlotOrder order(rows);
    for (auto [at, slot] : llvm::enumerate(rows.all())) {
      if (!slot.isSlot() ||
          phaseOf(timeline.getEntry(), slot) != pipe::Phase::Forward)
        continue;
      func::FuncOp fn =
          formFor(forwards[slot.getChunk()], order.conditionsOf(at));
      firsts.try_emplace(slot.getChunk(), fn);
      ++times[fn];
    }
  }

  std::map<int64_t, std::vector<func::FuncOp>> forwards; ///< by chunk
  llvm::DenseMap<int64_t, func::FuncOp> firsts;          ///< looked up only
  llvm::DenseMap<Operation *, int64_t> times;            ///< looked up only
};

struct PackWeightsPass
    : ConfiguredPhase<
          PhasePass<mtc::passes::impl::PackWeightsBase<PackWeightsPass>>> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<rt::RtDialect>();
  }

  LogicalResult runConfigured(rt::ProgramOp program,
                              ConfigAttr config) const override {
    if (std::optional<Prepack> which = config.getTarget().getPrepack())
      if (failed(pack(program, *which, config.getBatch().getMicrobatches())))
        return failure();
    program.walk([](rt::GemmOp product) { product.removePacksAttr(); });
    return success();
  }

  LogicalResult pack(rt::ProgramOp program, Prepack which,
                     int64_t microbatches) const {
    auto target = target::Target::of(program->getParentOfType<ModuleOp>());
    if (failed(target))
      return failure();
    auto pays = [&](rt::GemmOp product) {
      return which == Prepack::Always ||
             product.getPacks().value_or(microbatches >= kLeastProducts);
    };
    FirstForwards forwards(program);
    int64_t next = 0;
    for (auto &[chunk, fragments] : trainedChunks(program)) {
      ChunkWeights weights(program, fragments, *target);
      weights.find(pays);
      if (weights.empty())
        continue;
      if (func::FuncOp first = forwards.of(chunk))
        weights.pack(first, next);
    }
    return success();
  }

  static std::map<int64_t, std::vector<func::FuncOp>>
  trainedChunks(rt::ProgramOp program) {
    std::map<int64_t, std::vector<func::FuncOp>> chunks;
    for (func::FuncOp fn : microbatchFragments(program))
      if (auto of = pipe::FragmentAttr::of(fn); of.getEntry() == "train")
        chunks[of.getChunk()].push_back(fn);
    return chunks;
  }
};

} // namespace
