//===- launch_forms.h - the integers of one launch --------------*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_LAUNCH_FORMS_H
#define MTC_PASSES_VERIFY_LAUNCH_FORMS_H

#include "passes/verify/index_form.h"
#include "passes/verify/kernel_indices.h"
#include "passes/verify/model.h"

namespace mtc::passes::verify {

/// A launch of a kernel, as many buffers as it has operands, and forms of its
/// row, its column and the coordinates of `mesh`.
class LaunchForms {
public:
  LaunchForms(rt::LaunchOp launch, rt::KernelOp kernel, const Mesh &mesh);

  /// What the body computes where arguments are what the launch gives.
  KernelIndices indices();
  /// The number of the kernel's element, row by row.
  IndexForm elementNumber();
  /// Where in each dimension of `shape` its element number `element` lies.
  llvm::SmallVector<IndexForm> indicesIn(llvm::ArrayRef<int64_t> shape,
                                         IndexForm element);
  /// The number of the element of `shape` at `indices`.
  static IndexForm numberIn(llvm::ArrayRef<int64_t> shape,
                            llvm::ArrayRef<IndexForm> indices);

  /// Runs `compute` until every division that it makes has its digits.
  void settle(llvm::function_ref<void()> compute);

  rt::LaunchOp launch;
  rt::KernelOp kernel;
  llvm::SmallVector<mlir::Value> buffers;
  IndexForms forms;
};

/// Each launch of the fragments of layers in the tensor form of each stage,
/// with its kernel. What names none, or has other buffers, checkSameValues
/// reports.
void forEachLaunch(
    const Model &model, Report &report,
    llvm::function_ref<void(rt::LaunchOp, rt::KernelOp, Report &)> check);

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_LAUNCH_FORMS_H
