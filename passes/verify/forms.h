//===- forms.h - the two forms of a fragment --------------------*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_FORMS_H
#define MTC_PASSES_VERIFY_FORMS_H

#include "passes/verify/interpreter.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mtc::passes::verify {

/// The text of the leaf that stands for what a chunk receives, or for an input.
std::string received(CrossingName name, int64_t chunk);
std::string inputLeaf(llvm::StringRef name);

/// Fragments on views: values lie in bytes.
class ByteForm : public Interpreter {
public:
  using Interpreter::Interpreter;
  /// Puts the inputs of an entry where the data reader does, in a slot of any
  /// chunk.
  void load(const Model &model, const Stage &stage, llvm::StringRef entry);
  /// The placement of `bytes` at an address; in a pool, of the slot that the
  /// chunk of the fragment that ran last has.
  Placement at(MtcArena arena, std::optional<MtcPool> pool, int64_t offset,
               int64_t bytes) const;

  /// All that lies in its slot of a pool.
  const Contents::Cells &slotOf(MtcPool pool) const {
    return contents.cellsOf(spaceOf(pool));
  }

private:
  Space spaceOf(MtcPool pool) const {
    return {SpaceKind::Pool, pool, /*state=*/0, chunk};
  }
  void visit(mlir::Operation &op) override;
  void reject(mlir::Operation &) override {} // reported by readTouches
};

/// A value that leaves a fragment.
struct Left {
  mlir::Operation *op = nullptr; ///< pipe.send, pipe.save, pipe.export
  Number number = 0;
};

/// Fragments on tensors. What is malformed is reported.
class TensorForm : public Interpreter {
public:
  TensorForm(const Kernels &kernels, const Lasting &lasting, Numbers &numbers,
             Report &report)
      : Interpreter(kernels, lasting, numbers), report(report) {}
  /// What the fragments that ran since this was called last send, keep and
  /// export.
  std::vector<Left> takeLeft() { return std::exchange(left, {}); }

private:
  void visit(mlir::Operation &op) override;
  void reject(mlir::Operation &call) override;
  Placement placementOf(mlir::Value value) override;
  Placement placementOfRef(rt::RefOp ref) const;
  void define(mlir::Value value, llvm::StringRef text);
  void expectPlacement(mlir::Operation &op, llvm::StringRef what);
  void restore(pipe::SavedOp op);
  void expectUnread(mlir::tensor::EmptyOp empty);

  Report &report;
  int64_t tensors = 0;
  std::vector<Left> left;
  std::map<int64_t, Number> kept; ///< by key
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_FORMS_H
