//===- served_buckets.h - which bucket a collective works on ----*- C++ -*-===//
#ifndef MTC_COMPILER_EXPLAIN_SERVED_BUCKETS_H
#define MTC_COMPILER_EXPLAIN_SERVED_BUCKETS_H

#include "dialects/rt/Rt.h"

#include <optional>

namespace mtc::compiler {

/// Writes on each rt.collective in bytes that works on gradients or parameters
/// of a bucket its number, as the attribute "bucket". A view has lost it, so it
/// is read off the rt.ref of the same collective in rt.tensor_form: call this
/// while that is there. A fragment whose two forms have other collectives
/// (edited IR that nobody verified) gets none.
void nameServedBuckets(mlir::ModuleOp module);

/// The bucket that was written; empty: none.
std::optional<int64_t> servedBucket(rt::CollectiveOp op);

} // namespace mtc::compiler
#endif // MTC_COMPILER_EXPLAIN_SERVED_BUCKETS_H
