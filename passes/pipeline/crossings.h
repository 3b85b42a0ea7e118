//===- crossings.h - what crosses virtual stages ----------------*- C++ -*-===//
#ifndef MTC_PASSES_PIPELINE_CROSSINGS_H
#define MTC_PASSES_PIPELINE_CROSSINGS_H

#include "passes/pipeline/layers.h"
#include "passes/pipeline/schedules/crossings.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <set>

namespace mtc::pipeline {

/// The values of a function that virtual stages send each other, and their
/// names. A value is sent directly to each virtual stage that reads it.
class ValueCrossings {
public:
  /// Reads a function whose ops are all on virtual stages. The first value that
  /// is read by a neighbour has no number, every other the least that neither
  /// its sender nor its receiver has. Fails, after a diagnostic, on a value of
  /// the other phase, or one that goes to where the phase has been already.
  static mlir::FailureOr<ValueCrossings> make(mlir::func::FuncOp fn,
                                              const LayerMap &layers);

  /// How `value` is called on its way to virtual stage `to`; none if it does
  /// not go there.
  std::optional<CrossingName> find(mlir::Value value, int64_t to) const;
  /// The names under which it is sent, in order of their readers.
  std::vector<CrossingName> namesOf(mlir::Value value) const;
  /// Whether values of the same names and types go the same ways.
  bool isLike(const ValueCrossings &other) const;
  /// Writes a pipe.crossing for each.
  void write(mlir::OpBuilder &b, llvm::StringRef entry) const;

private:
  struct Row {
    mlir::Value value;
    CrossingName name;
    int64_t from, to;
  };
  mlir::LogicalResult add(mlir::Value value, mlir::Operation *reader,
                          const LayerMap &layers);

  std::vector<Row> rows; ///< in order of their first readers
  llvm::DenseMap<mlir::Value, std::vector<size_t>> rowsOf; ///< looked up only
  std::set<std::pair<CrossingName, int64_t>> senders, receivers;
};

/// The lines of slots of a schedule, as parseSchedule reads them.
std::string textOf(mlir::ArrayAttr slots);

/// What the pipe.crossing ops of an entry say; whether they fit together,
/// Crossings::findings tells.
schedules::Crossings crossingsOf(mlir::ModuleOp module, llvm::StringRef entry);

} // namespace mtc::pipeline
#endif // MTC_PASSES_PIPELINE_CROSSINGS_H
