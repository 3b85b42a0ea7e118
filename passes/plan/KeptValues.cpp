//===- KeptValues.cpp - what fragments save for each other ----------------===//
#include "passes/plan/KeptValues.h"

#include "dialects/pipe/Pipe.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>

using namespace mlir;

namespace mtc::passes {
namespace {

class KeptLayout {
public:
  explicit KeptLayout(ProgramLayout &layout) : layout(layout) {}

  void run(rt::ProgramOp program) {
    for (auto fn : program.getOps<func::FuncOp>())
      if (auto of = pipe::FragmentAttr::of(fn))
        fn.walk([&](Operation *op) { visitWriter(of, op); });
    for (auto fn : program.getOps<func::FuncOp>())
      if (auto of = pipe::FragmentAttr::of(fn);
          of && of.getPhase() == pipe::Phase::WeightGradient)
        fn.walk([&](Operation *op) { visitLastReader(op); });
    placeInputs();
    placeKept();
  }

private:
  /// The pool of a fragment's form in the place of one that saves all.
  static MtcPool poolOf(pipe::FragmentAttr of, MtcPool pool) {
    return of.isOf(pipe::Form::Recompute) ? againPool(pool) : pool;
  }

  void visitWriter(pipe::FragmentAttr of, Operation *op) {
    if (auto save = dyn_cast<pipe::SaveOp>(op)) {
      bool isSplit = of.getPhase() == pipe::Phase::InputGradient;
      layout.kept[save.getKey()] = {
          poolOf(of, isSplit ? MTC_POOL_SPLIT : MTC_POOL_SAVED),
          bytesOf(save.getValue().getType())};
      chunkOf[save.getKey()] = of.getChunk();
    } else if (auto input = dyn_cast<pipe::InputOp>(op)) {
      inputs[input.getName().str()] = bytesOf(input.getType());
      layout.chunksWithInputs.insert(of.getChunk());
      if (of.getPhase() != pipe::Phase::Eval)
        layout.inputPools.insert(poolOf(of, MTC_POOL_SAVED));
    } else if (isa<func::ReturnOp>(op) && of.getPhase() == pipe::Phase::Forward)
      // A forward names it in any case.
      layout.pools[poolOf(of, MTC_POOL_SAVED)].stride = 0;
  }

  /// In a weight gradient: what forward saved lives longer.
  void visitLastReader(Operation *op) {
    if (isa<pipe::InputOp>(op))
      inputsOutliveSaved = true;
    else if (auto saved = dyn_cast<pipe::SavedOp>(op))
      if (auto it = layout.kept.find(saved.getKey()); it != layout.kept.end())
        it->second.pool = outliving(it->second.pool);
  }

  /// The pool of the same form whose slots live to the weight gradient.
  static MtcPool outliving(MtcPool pool) {
    return pool == MTC_POOL_SAVED         ? MTC_POOL_OPERAND
           : pool == MTC_POOL_SAVED_AGAIN ? MTC_POOL_OPERAND_AGAIN
                                          : pool;
  }

  void placeInputs() {
    if (!inputs.empty() && layout.inputPools.empty())
      layout.inputPools = {MTC_POOL_SAVED}; // eval alone reads them
    for (auto &[name, bytes] : inputs) {
      layout.inputOffset[name] = behindInputs;
      behindInputs = alignTo(behindInputs + bytes, kAlign);
    }
    if (inputsOutliveSaved) {
      std::set<MtcPool> pools;
      for (MtcPool pool : layout.inputPools)
        pools.insert(outliving(pool));
      layout.inputPools = std::move(pools);
    }
    for (MtcPool pool : layout.inputPools)
      layout.pools[pool].stride = behindInputs;
  }

  void placeKept() {
    std::map<std::pair<MtcPool, int64_t>, int64_t> ends; // of pool and chunk
    for (auto &[key, place] : layout.kept) {
      int64_t chunk = chunkOf.at(key);
      bool besideInputs = layout.inputPools.count(place.pool) &&
                          layout.chunksWithInputs.count(chunk);
      int64_t &end =
          ends.try_emplace({place.pool, chunk}, besideInputs ? behindInputs : 0)
              .first->second;
      place.offset = end;
      end = alignTo(end + place.bytes, kAlign);
      int64_t &stride = layout.pools[place.pool].stride;
      stride = std::max(stride, end);
    }
  }

  ProgramLayout &layout;
  std::map<int64_t, int64_t> chunkOf;    ///< by key
  std::map<std::string, int64_t> inputs; ///< bytes, by name
  int64_t behindInputs = 0;
  bool inputsOutliveSaved = false; ///< a weight gradient reads them
};

} // namespace

void layOutKept(rt::ProgramOp program, ProgramLayout &layout) {
  KeptLayout(layout).run(program);
}

} // namespace mtc::passes
