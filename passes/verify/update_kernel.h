//===- update_kernel.h - what a kernel over a flat range does ---*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_UPDATE_KERNEL_H
#define MTC_PASSES_VERIFY_UPDATE_KERNEL_H

#include "dialects/rt/Rt.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace mtc::passes::verify {

/// A kernel that works on each element of its operands alone: element k of what
/// it writes depends on elements k of what it reads, and on scalars.
struct FlatKernel {
  struct Operand {
    bool scalar = false; ///< one element for all
    bool loaded = false; ///< its own elements are read
    /// Operands of which it stores a function here; none: it stores nothing.
    std::optional<std::set<int64_t>> storedFrom = {};
    /// The operand that gets the value of which it stores the rounded one here;
    /// or -1.
    int64_t roundedFrom = -1;
    /// The operand that it adds here, as it is, once and nothing else; or -1.
    int64_t added = -1;
    /// It adds anything else.
    bool addsOther = false;
  };
  llvm::SmallVector<Operand> operands;
};

/// The flat kernels of a program, each read once, however often it is launched.
class FlatKernels {
public:
  explicit FlatKernels(rt::ProgramOp program) : program(program) {}
  /// A kernel whose length is its argument; null if the one of this name is
  /// another, or there is none. Lives as long as this.
  const FlatKernel *find(llvm::StringRef name);

private:
  rt::ProgramOp program;
  std::map<std::string, std::optional<FlatKernel>> byName;
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_UPDATE_KERNEL_H
