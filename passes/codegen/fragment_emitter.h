//===- fragment_emitter.h - one fragment as an LLVM function ----*- C++ -*-===//
#ifndef MTC_PASSES_CODEGEN_FRAGMENT_EMITTER_H
#define MTC_PASSES_CODEGEN_FRAGMENT_EMITTER_H

#include "dialects/rt/Rt.h"
#include "passes/target/gemm_rows.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace mtc::codegen {

/// Emits `void name(MtcContext *, const MtcStep *)`: straight-line code whose
/// calls are direct and whose offsets are immediates, or affine in slot and
/// coordinate. Layouts come from mtc/runtime/abi.h alone.
class FragmentEmitter {
public:
  /// `gemms`: those of the whole program, to which the fragment was added.
  FragmentEmitter(mlir::ModuleOp module, mlir::func::FuncOp fragment,
                  const target::GemmRows &gemms);
  mlir::LogicalResult emit();

private:
  using V = mlir::Value;
  // Small LLVM pieces.
  V i64(int64_t value);
  V i32(int64_t value);
  V add(V a, V b);
  V sub(V a, V b);
  V mul(V a, int64_t factor);
  V min(V a, V b);
  V max(V a, V b);
  V at(V pointer, int64_t bytes);
  V moved(V pointer, V bytes);
  V atElement(V address, mlir::Type view, V element);
  V load(mlir::Type type, V pointer, int64_t bytes);
  V ofContext(mlir::Type type, size_t field); ///< its value
  V null();
  void call(llvm::StringRef name, mlir::ValueRange arguments);
  // State of the step.
  V arena(int64_t kind);
  V coordinate(int64_t axis);
  V placeIn(const GroupInfo &group);
  V slot(int64_t pool);
  V hostBlock();                 ///< an MtcStepBlock
  V variable(unsigned variable); ///< rt::Variable
  // One function per op.
  mlir::LogicalResult emitOp(mlir::Operation *op);
  /// Tells a profile that op `number` of the fragment begins; -1: none does.
  void emitMark(int64_t number);
  void emitView(rt::ViewOp op);
  void emitAffine(rt::AffineOp op);
  void emitStepField(rt::StepFieldOp op);
  void emitFlatRange(rt::FlatRangeOp op);
  std::pair<mlir::Value, mlir::Value> partAmong(rt::FlatRangeOp op,
                                                mlir::Value length);
  void emitOffsetView(rt::OffsetViewOp op);
  V emitSum(const rt::Affine &form);
  /// A scalar of a GPU's kernel: what the host knows of it, and the address on
  /// the GPU of what the kernel adds to that, or 0.
  mlir::FailureOr<std::pair<V, V>> splitScalar(V scalar);
  /// A call of a kernel on all threads of a rank, or on this one if it is
  /// small.
  void emitTeamLaunch(rt::LaunchOp op, llvm::SmallVector<V> arguments);
  /// Where a kernel's arguments are stored, for a caller that gets an address.
  V store(llvm::ArrayRef<V> arguments);
  /// A function, named as the kernel with `suffix`, that gets that address and
  /// `own` numbers, an MtcPart, MtcTile or MtcRange: it calls the kernel with
  /// these arguments and its numbers, or with what `change` makes of these.
  V callerOf(llvm::StringRef kernel, llvm::StringRef suffix,
             llvm::ArrayRef<V> arguments, int64_t own,
             llvm::function_ref<void(llvm::SmallVector<V> &)> change = {});
  /// What a kernel of a cpu gets: its buffers, then its scalars.
  llvm::SmallVector<V> argumentsOf(rt::LaunchOp op);
  /// With the last that continues a sum, the sum and all of them.
  mlir::LogicalResult emitContinuing(rt::NormOp norm);
  /// A sum, and what is counted of it: `count` MtcCounted at `parts`.
  void emitCounted(rt::CollectiveOp op, V parts, V count);
  void emitCounted(rt::LaunchOp op, V parts, V count);
  V countedParts(llvm::ArrayRef<rt::NormOp> norms);
  mlir::LogicalResult emitLaunch(rt::LaunchOp op);
  /// Calls of mtc_launch.
  mlir::LogicalResult emitGpuLaunch(rt::LaunchOp op,
                                    llvm::ArrayRef<int64_t> entries);
  V argumentsAt(llvm::ArrayRef<V> arguments);
  mlir::Value gemmIndex(rt::GemmOp op);
  /// Whether its conditions do, of the row that runs; null if it has none.
  mlir::Value holds(const target::MicrobatchRow &of);
  void emitGemm(rt::GemmOp op);
  void emitPack(rt::PackOp op);
  /// The product in front of it, which calls its kernel.
  mlir::LogicalResult emitContinued(rt::LaunchOp op,
                                    llvm::ArrayRef<V> arguments);
  /// The sample of batch row 0; for a GPU less that of the step, which it adds.
  mlir::FailureOr<V> sampleOf(rt::AttentionOp op);
  mlir::LogicalResult emitAttention(rt::AttentionOp op);
  void emitCollective(rt::CollectiveOp op);
  /// mtc_record or mtc_wait.
  void emitEvent(llvm::StringRef function, int64_t event, int64_t stream);
  void emitNorm(rt::NormOp op);
  V attentionShape(rt::AttentionOp op);

  mlir::ModuleOp module;
  mlir::func::FuncOp fragment;
  const target::GemmRows &gemms;
  mlir::OpBuilder b;
  mlir::Location loc; ///< of the op that is being emitted
  mlir::Type ptr, int32, int64;
  V context, step;
  V rowSlots;      ///< where the slots of the row lie; null: not asked for yet
  V block;         ///< likewise
  V argumentSpace; ///< of launches on a GPU: addresses, then values; likewise
  int64_t mostArguments = 0;   ///< room in there
  V teamArguments;             ///< of launches on all threads; likewise
  int64_t timed = 0;           ///< ops so far that take time
  llvm::DenseMap<V, V> values; ///< looked up only
  llvm::DenseMap<int64_t, V> arenas, coordinates, slots;
};

} // namespace mtc::codegen
#endif // MTC_PASSES_CODEGEN_FRAGMENT_EMITTER_H
