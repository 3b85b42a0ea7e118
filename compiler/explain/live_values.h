//===- live_values.h - values of a fragment and when they live --*- C++ -*-===//
#ifndef MTC_COMPILER_EXPLAIN_LIVE_VALUES_H
#define MTC_COMPILER_EXPLAIN_LIVE_VALUES_H

#include "dialects/rt/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace mtc::compiler {

/// Bytes in the workspace from the call that writes them to the last that reads
/// them, both included. Calls are the ops of a fragment that have buffers,
/// numbered from 0.
struct LiveValue {
  int64_t offset = 0, bytes = 0;
  int64_t begin = 0, end = 0;
  std::string part;  ///< of the model: "layers.0.mlp.up"
  std::string maker; ///< what wrote it: "gemm", "pointwise"
};

/// A value in a slot of a pool, which outlives the fragment.
struct KeptValue {
  MtcPool pool = MTC_POOL_SAVED;
  int64_t offset = 0, bytes = 0; ///< from the begin of the pool
  std::string part;
};

struct FragmentValues {
  int64_t calls = 0;
  std::vector<LiveValue> values; ///< in the order in which they are written
  std::vector<KeptValue> kept;   ///< each once, by the first call that names it
  /// The most bytes that live at a call, and the first such call.
  int64_t peakBytes = 0, peakCall = 0;
};

FragmentValues valuesOf(mlir::func::FuncOp fragment);

/// The parts of the model that a location names: "layers.0.norm1", or the first
/// and how many more.
std::string partOf(mlir::Location location);

/// Where the spec says it, as "model.toml:12": the first such place in a
/// location, its file without folders; empty if there is none.
std::string specLineOf(mlir::Location location);

/// The view that a buffer is a part of; null if it is none.
rt::ViewOp viewOf(mlir::Value buffer);

} // namespace mtc::compiler
#endif // MTC_COMPILER_EXPLAIN_LIVE_VALUES_H
