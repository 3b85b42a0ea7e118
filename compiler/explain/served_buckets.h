//===- served_buckets.h - which bucket a collective works on ----*- C++ -*-===//
#ifndef MTC_COMPILER_EXPLAIN_SERVED_BUCKETS_H
#define MTC_COMPILER_EXPLAIN_SERVED_BUCKETS_H

#include "dialects/rt/Rt.h"

#include <optional>
#include <vector>

namespace mtc::compiler {

/// A collective in bytes and the bucket whose gradients or parameters it works
/// on.
struct ServedBucket {
  rt::CollectiveOp op;
  int64_t bucket = 0;
};

/// All of them. A view has lost its bucket, so that is read off the rt.ref of
/// the same collective in rt.tensor_form: call this while that is there. A
/// fragment whose two forms have other collectives (edited IR that nobody
/// verified) has none.
std::vector<ServedBucket> servedBuckets(mlir::ModuleOp module);

/// Writes them into the IR, as the attribute "bucket". The number of the plan
/// is taken of the IR: call this behind readPlan.
void writeServedBuckets(const std::vector<ServedBucket> &served);

/// The bucket that was written; empty: none.
std::optional<int64_t> servedBucket(rt::CollectiveOp op);

} // namespace mtc::compiler
#endif // MTC_COMPILER_EXPLAIN_SERVED_BUCKETS_H
