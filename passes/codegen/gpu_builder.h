//===- gpu_builder.h - what all forms of GPU kernels share ------*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_GPU_BUILDER_H
#define MTC_PASSES_CODEGEN_GPU_BUILDER_H

#include "passes/codegen/body_emitter.h"
#include "passes/codegen/gpu_shape.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mtc::codegen {

/// One entry while it is built. Indices and bodies at the builder's place.
class GpuBuilder {
public:
  /// `function` has the parameters of `makeGpuFunction`.
  GpuBuilder(const Schedule &schedule, const GpuShape &shape,
             mlir::gpu::GPUFuncOp function, mlir::ImplicitLocOpBuilder &b);

  mlir::Value index(int64_t v) { return body.index(v); }
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value equal(mlir::Value x, mlir::Value y);

  /// Runs all passes and sinks of `row` by a team; this thread is number
  /// `thread` of `shape.rowThreads`.
  void emitRow(mlir::Value row, mlir::Value thread);

  /// Emits `all` of the entry; of a guarded kernel behind a look at its guard.
  void emitGuarded(llvm::function_ref<void()> all);

  /// Notes a failure of the emitter; true if all is well.
  template <typename T> bool check(const T &result) {
    if (mlir::failed(result))
      ok = mlir::failure();
    return mlir::succeeded(result);
  }

  mlir::ImplicitLocOpBuilder &b;
  const Schedule &s;
  const GpuShape &shape;
  mlir::gpu::GPUFuncOp function;
  rt::KernelOp kernel;
  mlir::Value cols;
  llvm::SmallVector<mlir::Value> arguments; ///< of the kernel, 64 bits each
  BodyEmitter body;
  mlir::LogicalResult ok = mlir::success();

private:
  void emitPass(int pass, mlir::Value thread);
  /// Body for each vector of columns that this thread of a team has in a row of
  /// `cols`, carrying values.
  using Step = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      Columns, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value>
  forColumns(mlir::Value thread, llvm::SmallVector<mlir::Value> carried,
             Step step);

  llvm::SmallVector<mlir::Value>
  forDynamicColumns(mlir::Value thread, llvm::SmallVector<mlir::Value> carried,
                    Step step);
  mlir::Value totals(); ///< shared memory of reductions
  mlir::Value totalsMemory;
};

/// An entry of `kernel`'s parameters with `threads` in a block and an empty
/// body. Behind them it has, for each 64-bit argument, the address of a 64-bit
/// number that is added to it, or 0: what changes from step to step is read on
/// the GPU, so that a launch can be repeated as it is. Then comes the guard of
/// a kernel that has one, one i32. The last one is the workspace if
/// `workspaceBytes` is not 0.
mlir::gpu::GPUFuncOp makeGpuFunction(rt::KernelOp kernel, llvm::StringRef name,
                                     int64_t threads, int64_t workspaceBytes,
                                     mlir::ImplicitLocOpBuilder &b);

/// The forms' bodies.
void emitGpuElements(GpuBuilder &g);
void emitGpuRows(GpuBuilder &g);
void emitGpuChunks(GpuBuilder &g);
void emitGpuOwners(GpuBuilder &g);
/// The second entry of Chunks and Owners: adds the blocks' parts.
void emitGpuSums(GpuBuilder &g);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_GPU_BUILDER_H
