//===- target.h - what a plan must know of its device -----------*- C++ -*-===//
//
// Planner, verifier, code generation and driver ask here, and nowhere else,
// what differs between devices.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_TARGET_TARGET_H
#define MTC_PASSES_TARGET_TARGET_H

#include "dialects/mtc/Mtc.h"
#include "dialects/rt/Rt.h"
#include "mtc/runtime/abi.h"

#include <string>

namespace mtc::target {

/// The stream of kernels and calls, and that of collectives where there are
/// two.
inline constexpr int64_t kComputeStream = MTC_STREAM_COMPUTE,
                         kCommStream = MTC_STREAM_COMM;

/// Whether a product of `columns` columns can have no aux: kernels of cuBLASLt
/// fault where rows of it are no multiples of 8 elements (docs/h100.md). That
/// it begins at a multiple of 16 bytes all values of a plan do.
constexpr bool lacksAux(int64_t columns) { return columns % 8 != 0; }

/// One rank's device, as mtc.config has it.
class Target {
public:
  /// Of the module. Fails, after a diagnostic, if there is no mtc.config or it
  /// names no instruction set.
  static mlir::FailureOr<Target> of(mlir::ModuleOp module);
  /// The chips of a target: "sm_80,sm_90" of "cuda:sm_80,sm_90", empty of
  /// "cpu". No plan depends on which they are.
  static llvm::StringRef chipOf(TargetAttr target);

  /// The best instruction set of this machine for the compute type; empty if it
  /// has no unit for it.
  static std::string bestIsa(bool bf16);

  /// The chips of GPUs, "sm_80,sm_90"; empty for a CPU.
  const std::string &chip() const { return chip_; }

  /// The instruction set of a rank's processor.
  const std::string &isa() const { return isa_; }

  /// Queues of a rank that can run at the same time: a GPU has one for kernels
  /// and one for collectives, a CPU rank what mtc.config says, else one.
  int64_t streams() const { return streams_; }

  /// Bytes of scratch that a call needs: an rt.gemm or rt.attention, on tensors
  /// or on views; 0 for any other op. Fails, with a diagnostic at `op`, if the
  /// device's library has no such call.
  mlir::FailureOr<int64_t> scratchBytes(mlir::Operation *op) const;

  /// Bytes of op(b), [k, n], packed for products of this type; -1 if the device
  /// reads none that is packed.
  int64_t packedBytes(int64_t n, int64_t k, mlir::Type type) const;

  /// Whether its products count the squares of gradients in less time than a
  /// norm behind them takes: with AVX-512, as processors that have it but no
  /// IFMA are old.
  bool countsSquares() const;

  /// The library that states the scratch of GEMMs, with its version.
  std::string library() const;

private:
  Target(TargetAttr target);

  std::string isa_, chip_;
  int64_t threads, streams_;
};

} // namespace mtc::target
#endif // MTC_PASSES_TARGET_TARGET_H
