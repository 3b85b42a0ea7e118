//===- stream_checker.h - ops of different streams are ordered --*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_STREAM_CHECKER_H
#define MTC_PASSES_VERIFY_STREAM_CHECKER_H

#include "passes/verify/model.h"
#include "passes/verify/stream_clocks.h"

#include <set>

namespace mtc::passes::verify {

/// Bytes that work touches.
struct StreamBytes {
  Extent extent;
  bool writes = false;
};

/// Work that was given to a stream: an op, or a whole row.
struct StreamWork {
  mlir::Operation *op = nullptr; ///< null: a row as a whole
  llvm::SmallVector<StreamBytes, 4> bytes;
  int64_t stream = 0, time = 0;
  const Row *row = nullptr; ///< that gave it; null: a fragment alone
  Site site() const { return op ? Site(op) : Site(*row); }
};

/// Follows the streams of a rank through fragments and rows, in program order,
/// and reports what is not ordered by events; of two ops once, however many
/// rows run them.
class StreamChecker {
public:
  StreamChecker(int64_t streams, Report &report)
      : report(report), clocks(streams), given(streams) {}

  /// The ops of a fragment: as a row runs it, or alone if `row` is null.
  void run(const Fragment &fragment, const Row *row);
  /// Work of the host's own on stream 0: a transfer or a load, which is the
  /// row (`op` null), or a dump.
  void run(const Row &row, mlir::Operation *op,
           llvm::SmallVector<StreamBytes, 4> bytes);
  /// The last work of a stream that stream 0 has not waited for; null if
  /// nothing is in flight.
  const StreamWork *inFlight() const;

private:
  void record(rt::RecordOp op);
  void wait(rt::WaitOp op);
  void touch(const Touch &touch, const Row *row);
  void issue(StreamWork work);
  void reject(const StreamWork &earlier, const StreamWork &work);
  /// False, with a report, for a stream or an event that the target lacks.
  bool hasEvents(mlir::Operation *op);
  bool hasStream(const Site &site, int64_t stream);
  /// Drops work that every stream knows to be done.
  void forgetDone();
  /// Rows repeat fragments: what is wrong in one is said once.
  bool isNew(const Site &site, const Site &other = nullptr) {
    return said.insert({site, other}).second;
  }

  Report &report;
  StreamClocks clocks;
  std::vector<std::vector<StreamWork>> given; ///< by stream, in order
  std::set<int64_t> recorded;                 ///< in the fragment that runs
  std::set<std::pair<Site, Site>> said;       ///< looked up
};

/// The bytes of an extent: of the arena if `row` names the slot, else of slot 0
/// of its pool.
Extent placed(Extent extent, const Row *row);

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_STREAM_CHECKER_H
