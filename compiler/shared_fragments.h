//===- shared_fragments.h - code that like stages have in common *- C++ -*-===//
//
// Stages in the middle of a pipeline have the same layers, so their fragments
// are the same code with other numbers (fragment_numbers.h). It is made once,
// and each of them has an object of tables beside it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_SHARED_FRAGMENTS_H
#define MTC_COMPILER_SHARED_FRAGMENTS_H

#include "compiler/fragment_numbers.h"
#include "compiler/stage.h"

#include "mlir/IR/OwningOpRef.h"

#include <vector>

namespace mtc::compiler {

class SharedFragments {
public:
  /// Finds which of `jobs`, each of the fragments of a program, share code. All
  /// that may is lowered, on the threads of the context, and compared. The jobs
  /// live as long as this does. Errors: those of `lowerFragments`.
  runtime::Status find(mlir::MLIRContext &context,
                       llvm::ArrayRef<ObjectJob> jobs,
                       mlir::TimingScope &timing);

  /// By group, in the order of their first: the programs, two at least, in
  /// ascending order. A program is in one at most.
  size_t size() const { return groups.size(); }
  llvm::ArrayRef<size_t> programs(size_t group) const {
    return groups[group].programs;
  }

  /// The object of the code of a group, once for each; its functions have the
  /// names that they have in the first program. Then that of the tables of the
  /// program at `place` in it. Safe to call from several threads. Errors:
  /// internal, with diagnostics in the context's handlers.
  runtime::Status makeCode(size_t group, mlir::TimingScope &timing,
                           std::string &bytes);
  runtime::Status makeTables(size_t group, size_t place,
                             mlir::TimingScope &timing,
                             std::string &bytes) const;

private:
  struct Group {
    std::vector<size_t> programs;
    std::vector<FragmentNumbers> numbers; ///< by place
    /// Whether a program has the skeleton, by place.
    std::vector<char> isAlike;
    mlir::OwningOpRef<mlir::ModuleOp> skeleton; ///< of the first
    DifferentNumbers different;
  };
  runtime::Status lowerFirst(Group &group, mlir::TimingScope &timing);
  runtime::Status compare(Group &group, size_t place,
                          mlir::TimingScope &timing);
  /// The programs that are left over.
  static std::vector<size_t> keepAlike(Group &group);
  runtime::Status compareAll(mlir::MLIRContext &context,
                             std::vector<Group> &all,
                             mlir::TimingScope &timing);

  llvm::ArrayRef<ObjectJob> jobs;
  std::vector<Group> groups;
};

} // namespace mtc::compiler
#endif // MTC_COMPILER_SHARED_FRAGMENTS_H
