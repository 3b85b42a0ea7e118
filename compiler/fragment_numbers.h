//===- fragment_numbers.h - what like fragments differ in -------*- C++ -*-===//
//
// The stages in the middle of a pipeline have the same fragments but for a few
// numbers: offsets behind what a stage keeps for its microbatches, and layers.
// Numbers that differ go from the code to the tables of each program, so that
// the code is made once.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_COMPILER_FRAGMENT_NUMBERS_H
#define MTC_COMPILER_FRAGMENT_NUMBERS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinOps.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mtc::compiler {

/// A constant in memory.
struct ConstantArray {
  mlir::StringAttr name;
  mlir::Type type;
  mlir::Attribute value;
  bool operator==(const ConstantArray &) const = default;
};

/// The numbers of fragments in the LLVM dialect, in the order of the text:
/// integer constants of 32 and 64 bits, but for sizes of what a function
/// allocates, and arrays that the module alone sees.
struct FragmentNumbers {
  std::vector<int64_t> constants;
  std::vector<ConstantArray> arrays;
};

/// Which of them differ between programs, by index, in ascending order.
struct DifferentNumbers {
  std::vector<size_t> constants, arrays;
  std::string table; ///< what the constants are called, as nothing else is
};

/// Takes them out of a module, of which a skeleton is left that no code can be
/// made of.
FragmentNumbers takeNumbers(mlir::ModuleOp fragments);

/// Whether two skeletons are the same, wherever in the model they come from.
bool areAlike(mlir::ModuleOp skeleton, mlir::ModuleOp other);

/// Those that not all of `programs` have, of which there is one at least and
/// which have this skeleton.
DifferentNumbers findDifferent(mlir::ModuleOp skeleton,
                               llvm::ArrayRef<FragmentNumbers> programs);

/// Puts the numbers of a program back into its skeleton, all but those that
/// differ: the code reads them from what `defineNumbers` makes.
void putNumbers(mlir::ModuleOp skeleton, const FragmentNumbers &numbers,
                const DifferentNumbers &different);

/// Puts into `tables` what that code reads of a program with these numbers.
void defineNumbers(mlir::ModuleOp tables, const FragmentNumbers &numbers,
                   const DifferentNumbers &different);

} // namespace mtc::compiler
#endif // MTC_COMPILER_FRAGMENT_NUMBERS_H
