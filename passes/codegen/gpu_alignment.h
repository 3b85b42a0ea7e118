//===- gpu_alignment.h - alignment of kernel operands -----------*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_GPU_ALIGNMENT_H
#define MTC_PASSES_CODEGEN_GPU_ALIGNMENT_H

#include "dialects/rt/Rt.h"

#include <map>
#include <string>

namespace mtc::codegen {

/// What every allocation of CUDA is aligned to at least (CUDA C++ programming
/// guide, "Device memory accesses").
inline constexpr int64_t kAllocationAlignment = 256;

/// For each kernel that something in `source` launches: bytes that every
/// address of each of its operands is a multiple of, as the offsets of the
/// planned views say. What is no view of an arena has an element's alignment.
std::map<std::string, llvm::SmallVector<int64_t>>
alignmentsOf(mlir::Operation *source);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_GPU_ALIGNMENT_H
