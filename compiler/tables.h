//===- tables.h - a program's tables as constants ---------------*- C++ -*-===//
#ifndef MTC_COMPILER_TABLES_H
#define MTC_COMPILER_TABLES_H

#include "compiler/plan.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace mtc::compiler {

/// An MtcStep in 32-bit words, an MtcTransfer in 64-bit ones.
inline constexpr int64_t kStepWords = 7, kTransferWords = 5;

/// Appends to a module in the LLVM dialect the constants that abi.h asks of a
/// program: `mtc_descriptor`, `mtc_fragments`, `mtc_timeline_<entry>` for each
/// timeline, `mtc_slots`, and `mtc_transfers` if there are any. The module must
/// declare or define a function `llvm.func` for each fragment; the name of the
/// first that is not there is returned, else "".
std::string appendTables(mlir::ModuleOp module, const ProgramPlan &program,
                         const std::string &descriptor);

/// The rows of one timeline as 32-bit words, as MtcStep lays them out; `first`
/// is the row of `mtc_transfers` at which its exchanges start, and is advanced.
std::vector<int32_t> timelineWords(const ProgramPlan &program,
                                   const PlanTimeline &timeline,
                                   int64_t &first);

/// All transfers in the order of the timelines, as MtcTransfer lays them out,
/// in 64-bit words.
std::vector<int64_t> transferWords(const ProgramPlan &program);

} // namespace mtc::compiler
#endif // MTC_COMPILER_TABLES_H
