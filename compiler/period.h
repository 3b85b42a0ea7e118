//===- period.h - rows of a timeline that repeat ----------------*- C++ -*-===//
#ifndef MTC_COMPILER_PERIOD_H
#define MTC_COMPILER_PERIOD_H

#include "mtc/runtime/abi.h"
#include "mtc/runtime/descriptor.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace mtc::compiler {

/// The rows in the middle of a timeline that repeat, from their first to their
/// last repeat, by the period that covers most of them, and of equals the
/// least: of 1F1B those of its steady state. Rows with equal slots have one
/// index of them; `transfers` are those that rows name. None where nothing
/// repeats around the middle.
std::optional<runtime::PeriodInfo>
findPeriod(llvm::ArrayRef<MtcStep> rows, llvm::ArrayRef<MtcTransfer> transfers);

} // namespace mtc::compiler
#endif // MTC_COMPILER_PERIOD_H
