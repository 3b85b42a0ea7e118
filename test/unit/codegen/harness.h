//===- harness.h - compile kernels and run them -----------------*- C++ -*-===//
#ifndef MTC_TEST_UNIT_CODEGEN_HARNESS_H
#define MTC_TEST_UNIT_CODEGEN_HARNESS_H

#include "evaluator.h"
#include "passes/codegen/emit.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>
#include <vector>

namespace mtc::test {

/// A context with the dialects of kernels and their lowering.
std::unique_ptr<mlir::MLIRContext> makeContext();

mlir::OwningOpRef<mlir::ModuleOp> parse(mlir::MLIRContext &context,
                                        const std::string &text);

/// A clone of `module` after codegen-kernels and down to the LLVM dialect;
/// null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> lowered(mlir::ModuleOp module, int64_t lanes,
                                          bool nativeBf16 = false,
                                          int64_t threads = 1);

/// Compiled kernels in a shared object, found by name.
class Library {
public:
  /// For `threads` of a rank; with several, they meet in this process's
  /// mtc_parallel_meet.
  Library(mlir::ModuleOp module, const codegen::TargetIsa &isa,
          int64_t threads = 1);
  ~Library();
  Library(const Library &) = delete;
  bool loaded() const { return handle; }
  void *find(const std::string &name) const;

private:
  void *handle = nullptr;
};

/// Bytes of one operand between guard zones.
class Memory {
public:
  /// Elements of `type` (f32, bf16, i32) with the values of `initial`.
  Memory(mlir::Type type, const Buffer &initial);
  void *data() { return bytes.data() + kGuard; }
  Buffer read() const;
  /// The bytes, without the guard zones.
  std::vector<unsigned char> bits() const {
    return {bytes.begin() + kGuard, bytes.end() - kGuard};
  }
  bool guardsIntact() const;

private:
  static constexpr size_t kGuard = 256;
  mlir::Type type;
  size_t width, count;
  std::vector<unsigned char> bytes;
};

/// Calls a kernel with its operands' addresses and i64 arguments (32 in all at
/// most; unused ones are passed too, which the calling convention permits).
void call(void *function, const std::vector<void *> &operands,
          const std::vector<int64_t> &args);

/// f32 number `x` as a value that fp32 holds exactly.
Number asFloat(double x);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_CODEGEN_HARNESS_H
