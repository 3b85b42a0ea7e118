//===- gpu_team.h - the threads that share a row ----------------*- C++ -*-===//
//
// A team is a warp or a whole block. All of its threads call what is here
// together.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_CODEGEN_GPU_TEAM_H
#define MTC_PASSES_CODEGEN_GPU_TEAM_H

#include "dialects/rt/Rt.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::codegen {

/// Thread and block as indices, at the builder.
mlir::Value emitThread(mlir::ImplicitLocOpBuilder &b);
mlir::Value emitBlock(mlir::ImplicitLocOpBuilder &b);
void emitBarrier(mlir::ImplicitLocOpBuilder &b);
/// Of a team of `threads`: a warp or the block.
void emitTeamBarrier(mlir::ImplicitLocOpBuilder &b, int64_t threads);

/// What a reduction begins with: x combined with it is x, -0 included.
mlir::Value emitIdentity(mlir::ImplicitLocOpBuilder &b, rt::ReduceKind kind,
                         mlir::Type like);
mlir::Value emitCombine(mlir::ImplicitLocOpBuilder &b, rt::ReduceKind kind,
                        mlir::Value x, mlir::Value y);

/// Combines the lanes of a vector by halves; a scalar stays.
mlir::Value emitFold(mlir::ImplicitLocOpBuilder &b, rt::ReduceKind kind,
                     mlir::Value v);

/// Combines an f32 of each thread of a team of `threads` (a power of two from
/// 32 to 1024) by a fixed tree: a butterfly in each warp, then one over the
/// warps' totals in `totals`, shared memory of 32 f32 (unused by one warp).
/// Every thread gets the same bits.
mlir::Value emitTeamReduce(mlir::ImplicitLocOpBuilder &b, rt::ReduceKind kind,
                           mlir::Value v, int64_t threads, mlir::Value totals);

/// i32 with a bit per lane of the warp, set where `condition` holds.
mlir::Value emitBallot(mlir::ImplicitLocOpBuilder &b, mlir::Value condition);

/// Uninitialised shared memory of `count` f32, 16-byte aligned, as a flat
/// memref; `name` must be new in the module of `function`.
mlir::Value emitShared(mlir::ImplicitLocOpBuilder &b, mlir::Operation *function,
                       llvm::StringRef name, int64_t count);

/// The same of the shared memory that a launch asks for; there is one. LLVM
/// does not know its size, so it reads it only where the program does: what a
/// thread has to itself is read by no other.
mlir::Value emitDynamicShared(mlir::ImplicitLocOpBuilder &b,
                              mlir::Operation *function, llvm::StringRef name,
                              int64_t count);

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_GPU_TEAM_H
