//===- numbers.h - one number for each different value ----------*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_NUMBERS_H
#define MTC_PASSES_VERIFY_NUMBERS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Allocator.h"

#include <string>
#include <vector>

namespace mtc::passes::verify {

/// Values of one number are equal in every run.
using Number = int64_t;

/// How a value is made, apart from the numbers of what it is made of: words to
/// be compared one by one. Attributes, types and names of ops are unique in
/// their context, so that their addresses are such words.
using Recipe = llvm::SmallVector<int64_t, 16>;
/// The first word of a recipe: what the others mean.
enum class By : int64_t {
  Operand,
  Body,
  Result,
  Kernel,
  Parts,
  Scalar,
  Call,
  Moved
};
inline int64_t wordOf(By by) { return static_cast<int64_t>(by); }
inline int64_t wordOf(const void *unique) {
  return static_cast<int64_t>(reinterpret_cast<intptr_t>(unique));
}

/// Value numbering: values that are made alike of the same values have one
/// number. Nothing is simplified, so values of two numbers may still be equal.
class Numbers {
public:
  /// A value that is not made of others, such as a parameter: equal text, equal
  /// number. The text is for messages.
  Number leaf(llvm::StringRef text);
  /// A value that equals no other, not even one of the same text. The text
  /// outlives the numbers.
  Number unique(llvm::StringRef text) {
    values.push_back({{}, 0, nullptr, text});
    return values.size() - 1;
  }
  /// What `recipe` makes of `operands`. `maker` is for messages, may be null.
  Number make(llvm::ArrayRef<int64_t> recipe, llvm::ArrayRef<Number> operands,
              mlir::Operation *maker);

  /// A value and one that was expected in its place.
  struct Difference {
    Number expected = 0, found = 0;
    mlir::Operation *user = nullptr; ///< that has the second; null: nobody
  };
  /// Where two values begin to differ: as long as they are made alike, the
  /// first operands that differ are looked at instead.
  Difference firstDifference(Number expected, Number found) const;
  /// The op that makes a value; null of a leaf.
  mlir::Operation *makerOf(Number number) const { return values[number].maker; }
  /// What a value is, for messages: `parameter "w"`, or the op that makes it.
  std::string describe(Number number) const;

private:
  struct Made {
    llvm::ArrayRef<int64_t> key; ///< recipe, operands; empty: a leaf
    size_t operands = 0;         ///< so many of its last words
    mlir::Operation *maker = nullptr;
    llvm::StringRef text;
    llvm::ArrayRef<Number> uses() const { return key.take_back(operands); }
    llvm::ArrayRef<int64_t> recipe() const { return key.drop_back(operands); }
  };
  llvm::BumpPtrAllocator memory;
  llvm::DenseMap<llvm::ArrayRef<int64_t>, Number> known; ///< looked up only
  llvm::StringMap<Number> leaves;                        ///< looked up only
  std::vector<Made> values;
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_NUMBERS_H
