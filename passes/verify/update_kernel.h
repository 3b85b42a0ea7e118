//===- update_kernel.h - what a kernel over a flat range does ---*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_UPDATE_KERNEL_H
#define MTC_PASSES_VERIFY_UPDATE_KERNEL_H

#include "dialects/rt/Rt.h"

#include <optional>
#include <set>

namespace mtc::passes::verify {

/// A kernel that works on each element of its operands alone: element k of what
/// it writes depends on elements k of what it reads, and on scalars.
struct FlatKernel {
  struct Operand {
    bool scalar = false; ///< one element for all
    bool loaded = false; ///< its own elements are read
    /// Operands of which it stores a function here; none: it stores nothing.
    std::optional<std::set<int64_t>> storedFrom;
    /// The operand that it adds here, as it is, once and nothing else; or -1.
    int64_t added = -1;
    /// It adds anything else.
    bool addsOther = false;
  };
  llvm::SmallVector<Operand> operands;
};

/// Reads a kernel whose length is its argument; none if it is another.
std::optional<FlatKernel> readFlatKernel(mlir::Operation *program,
                                         llvm::StringRef name);

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_UPDATE_KERNEL_H
