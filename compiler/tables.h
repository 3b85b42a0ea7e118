//===- tables.h - a program's tables as constants ---------------*- C++ -*-===//
#ifndef MTC_COMPILER_TABLES_H
#define MTC_COMPILER_TABLES_H

#include "compiler/kernel_sets.h"
#include "compiler/plan.h"

#include "llvm/ADT/ArrayRef.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mtc::compiler {

/// Appends to a module in the LLVM dialect the constants that abi.h asks of a
/// program: `mtc_descriptor`, `mtc_fragments`, `mtc_timeline_<entry>` for each
/// timeline, `mtc_slots`, and `mtc_transfers` and `mtc_ptx_<chip>` and
/// `mtc_cubin_<chip>` if there are any; and the lists of `kernels`
/// (kernel_sets.h), which its runtime has, `mtc_kernel_sets` and, of a GPU,
/// `mtc_gpu_texts`. The module must declare or define a function `llvm.func`
/// for each of `fragments`, which are the program's own or, in the same order,
/// those of a program with the same code; the name of the first that is not
/// there is returned, else "". The module refers to the rows and slots of
/// `program`, which must live as long as it is used.
std::string appendTables(mlir::ModuleOp module, const ProgramPlan &program,
                         llvm::ArrayRef<PlanFragment> fragments,
                         const RuntimeKernels &kernels,
                         const std::string &descriptor);

/// Transfers in 64-bit words, as MtcTransfer lays them out, with zeros in its
/// gaps.
std::vector<int64_t> transferWords(llvm::ArrayRef<MtcTransfer> transfers);

} // namespace mtc::compiler
#endif // MTC_COMPILER_TABLES_H
