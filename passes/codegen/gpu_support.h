//===- gpu_support.h - what GPU kernels call --------------------*- C++ -*-===//
//
// A few functions in LLVM IR that read special registers or reduce over a
// block. `emitPtx` links them in and has them inlined.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_CODEGEN_GPU_SUPPORT_H
#define MTC_PASSES_CODEGEN_GPU_SUPPORT_H

#include "llvm/ADT/StringRef.h"

namespace mtc::codegen {

/// i64 (): thread and block index, and their numbers.
inline constexpr llvm::StringLiteral kGpuThread = "mtc_gpu_thread";
inline constexpr llvm::StringLiteral kGpuThreads = "mtc_gpu_threads";
inline constexpr llvm::StringLiteral kGpuBlock = "mtc_gpu_block";
inline constexpr llvm::StringLiteral kGpuBlocks = "mtc_gpu_blocks";
/// f32 (f32): over all threads of the block, which all must call it.
inline constexpr llvm::StringLiteral kGpuSum = "mtc_gpu_sum";
inline constexpr llvm::StringLiteral kGpuMax = "mtc_gpu_max";

/// LLVM IR text that defines them for NVPTX.
llvm::StringRef gpuSupportIr();

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_GPU_SUPPORT_H
