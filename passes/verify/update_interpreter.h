//===- update_interpreter.h - what reduce and apply do ----------*- C++ -*-===//
//
// Runs the fragments reduce and apply of a stage on states of elements
// (update_cells.h), op by op, for all its ranks at once. It knows what an op
// does to elements, not in which order a step does it: a sum over ranks, a sum
// of two uses, a gather, a norm, an update, in any number and any order, on any
// part of a bucket, as long as what each reads is what it may read. Of a kernel
// it knows which operands an operand is made of, not by which arithmetic.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_VERIFY_UPDATE_INTERPRETER_H
#define MTC_PASSES_VERIFY_UPDATE_INTERPRETER_H

#include "passes/verify/update_kernel.h"
#include "passes/verify/update_state.h"

namespace mtc::passes::verify {

class UpdateInterpreter {
public:
  UpdateInterpreter(const Model &model, const Stage &stage, UpdateState &state,
                    Report &report)
      : model(model), stage(stage), state(state), report(report),
        slices(model, stage, report), kernels(stage.op),
        norm(resetsForNext(stage) ? Norm::Summing : Norm::None),
        isResetForNext(norm == Norm::Summing) {}

  void run(const Fragment &fragment);
  /// One op, of any fragment.
  void run(const Touch &touch);
  /// What a product counts of its result, in the microbatch that does.
  void countProduct(const Touch &touch);
  /// Whether the norm has been made: summed from zero, reduced over all ranks
  /// and finished, and the next step finds it as this one did.
  bool hasNorm() const {
    return norm == (isResetForNext ? Norm::Reset : Norm::Finished);
  }

private:
  enum class Norm { None, Summing, Reduced, Finished, Reset };
  static bool resetsForNext(const Stage &stage);

  // Collectives.
  void collective(const Touch &touch, rt::CollectiveOp op);
  void sumOver(const Touch &touch, rt::CollectiveOp op);
  void sumOverStages(const Touch &touch, rt::CollectiveOp op);
  void gather(const Touch &touch, rt::CollectiveOp op);

  // The norm.
  void normStep(const Touch &touch, llvm::StringRef step, Norm from, Norm to);
  void count(const Touch &touch, rt::NormOp op);
  /// `by`: the sum that it continues; null: none.
  struct Sum;
  void count(const Touch &touch, const Slice &slice, const Sum *by = nullptr);
  void checkLoss(const Touch &touch);
  void checkCountedOnce(const Touch &touch, const Slice &slice,
                        const Param &param, const Sum *by);
  void checkContinued(const Touch &touch, rt::NormOp op, const Slice &slice);

  // Launches.
  using Operands = std::map<int64_t, Slice>; ///< those that are no scalars
  std::optional<Operands> operandsOf(const Touch &touch, rt::LaunchOp op);
  void launch(const Touch &touch, rt::LaunchOp op);
  void addUses(const Touch &touch, const Slice &into, const Slice &from);
  void readForUpdate(const Touch &touch, const Slice &slice);
  void update(const Touch &touch, rt::LaunchOp op, const FlatKernel &kernel,
              const Operands &operands);
  void writeUpdated(const Touch &touch, const Slice &slice, bool byGradient);
  void checkRounded(const Touch &touch, const FlatKernel &kernel,
                    const Operands &operands);
  void checkEveryRank(const Touch &touch, const Slice &slice);
  void checkFields(const Touch &touch, rt::LaunchOp op, const Slice &slice);
  void checkFieldsOf(const Touch &touch, const Param &param, tfm::ParamAttr of,
                     bool decays, const std::set<int64_t> &groups);

  void clear(const Touch &touch);

  /// Equal elements of a slice, on some of the ranks along dp.
  struct Element {
    const Named &name;
    const Param *param; ///< null: padding
    Cell Copies::*copy; ///< which ranks'
    Cell &cell;
  };
  /// Applies `visit` to the copies that a slice names, interval by interval;
  /// the first that says what is wrong is reported as found instead of
  /// `expected`.
  using Visit = llvm::function_ref<std::string(const Element &)>;
  void change(const Touch &touch, const Slice &slice, llvm::StringRef expected,
              Visit visit);

  /// Of which a step of the norm may count what each rank makes.
  struct Sum {
    mlir::Operation *op = nullptr;
    Slice slice = {};
    /// Of its ranks each makes a part of the slice.
    std::optional<MtcGroup> among = {};
  };

  const Model &model;
  const Stage &stage;
  UpdateState &state;
  Report &report;
  Slices slices;
  FlatKernels kernels;
  Sum lastSum; ///< of gradients
  Norm norm;
  bool isResetForNext; ///< by `reduce`, at its end; else at its begin
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_UPDATE_INTERPRETER_H
