//===- gpu_team.cpp - the threads that share a row ------------------------===//
#include "passes/codegen/gpu_team.h"

#include "passes/codegen/elementary.h"
#include "passes/codegen/gpu_launch.h"
#include "passes/codegen/loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

/// PTX's number of the state space .shared.
static constexpr int64_t kSharedSpace = 3;

Value codegen::emitThread(ImplicitLocOpBuilder &b) {
  return gpu::ThreadIdOp::create(b, gpu::Dimension::x);
}

Value codegen::emitBlock(ImplicitLocOpBuilder &b) {
  return gpu::BlockIdOp::create(b, gpu::Dimension::x);
}

void codegen::emitBarrier(ImplicitLocOpBuilder &b) {
  gpu::BarrierOp::create(b);
}

void codegen::emitTeamBarrier(ImplicitLocOpBuilder &b, int64_t threads) {
  if (threads > kGpuWarp)
    return emitBarrier(b);
  NVVM::SyncWarpOp::create(b, emitInteger(b, b.getI32Type(), -1));
}

Value codegen::emitIdentity(ImplicitLocOpBuilder &b, rt::ReduceKind kind,
                            Type like) {
  return emitConstant(b, like, kind == rt::ReduceKind::Sum ? -0.0 : -INFINITY);
}

Value codegen::emitCombine(ImplicitLocOpBuilder &b, rt::ReduceKind kind,
                           Value x, Value y) {
  if (kind == rt::ReduceKind::Sum)
    return arith::AddFOp::create(b, x, y);
  return arith::MaximumFOp::create(b, x, y);
}

Value codegen::emitFold(ImplicitLocOpBuilder &b, rt::ReduceKind kind, Value v) {
  auto type = dyn_cast<VectorType>(v.getType());
  if (!type)
    return v;
  SmallVector<Value> parts;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    parts.push_back(vector::ExtractOp::create(b, v, i));
  for (size_t width = parts.size() / 2; width >= 1; width /= 2)
    for (size_t i = 0; i < width; ++i)
      parts[i] = emitCombine(b, kind, parts[i], parts[i + width]);
  return parts[0];
}

/// Combines over groups of `width` neighbouring lanes, a power of two.
static Value butterfly(ImplicitLocOpBuilder &b, rt::ReduceKind kind, Value v,
                       int64_t width) {
  for (int64_t distance = width / 2; distance >= 1; distance /= 2) {
    auto other = gpu::ShuffleOp::create(b, v, static_cast<int32_t>(distance),
                                        static_cast<int32_t>(kGpuWarp),
                                        gpu::ShuffleMode::XOR);
    v = emitCombine(b, kind, v, other.getShuffleResult());
  }
  return v;
}

Value codegen::emitTeamReduce(ImplicitLocOpBuilder &b, rt::ReduceKind kind,
                              Value v, int64_t threads, Value totals) {
  v = butterfly(b, kind, v, kGpuWarp);
  int64_t warps = threads / kGpuWarp;
  if (warps == 1)
    return v;
  auto constant = [&](int64_t n) {
    return arith::ConstantIndexOp::create(b, n).getResult();
  };
  Value thread = emitThread(b);
  Value lane = arith::AndIOp::create(b, thread, constant(kGpuWarp - 1));
  Value warp = arith::ShRUIOp::create(b, thread, constant(5));
  // A fast warp must not overwrite totals that a slow one still reads.
  emitBarrier(b);
  Value first =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, constant(0));
  emitIf(b, first, [&] { memref::StoreOp::create(b, v, totals, warp); });
  emitBarrier(b);
  // Every group of `warps` lanes reads all totals: none reads what is not
  // there.
  Value mine = arith::AndIOp::create(b, lane, constant(warps - 1));
  Value total = memref::LoadOp::create(b, totals, mine);
  return butterfly(b, kind, total, warps);
}

Value codegen::emitBallot(ImplicitLocOpBuilder &b, Value condition) {
  Value everyone = emitInteger(b, b.getI32Type(), -1);
  return NVVM::VoteSyncOp::create(b, b.getI32Type(), everyone, condition,
                                  NVVM::VoteSyncKind::ballot);
}

static MemRefType sharedType(OpBuilder &b, int64_t count) {
  return MemRefType::get({count}, b.getF32Type(), AffineMap(),
                         b.getI64IntegerAttr(kSharedSpace));
}

static void declareShared(ImplicitLocOpBuilder &b, Operation *function,
                          StringRef name, MemRefType type, bool isDynamic) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(function);
  memref::GlobalOp::create(
      b, name, b.getStringAttr(isDynamic ? "public" : "private"), type,
      isDynamic ? Attribute() : b.getUnitAttr(), /*constant=*/false,
      b.getI64IntegerAttr(kGpuAccessBytes));
}

Value codegen::emitShared(ImplicitLocOpBuilder &b, Operation *function,
                          StringRef name, int64_t count) {
  declareShared(b, function, name, sharedType(b, count), false);
  return memref::GetGlobalOp::create(b, sharedType(b, count), name);
}

Value codegen::emitDynamicShared(ImplicitLocOpBuilder &b, Operation *function,
                                 StringRef name, int64_t count) {
  declareShared(b, function, name, sharedType(b, 0), true);
  Value memory = memref::GetGlobalOp::create(b, sharedType(b, 0), name);
  return memref::ReinterpretCastOp::create(
      b, sharedType(b, count), memory, OpFoldResult(b.getIndexAttr(0)),
      ArrayRef<OpFoldResult>{b.getIndexAttr(count)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}
