//===- Work.h - what ops of fragments compute and move ----------*- C++ -*-===//
#ifndef MTC_DIALECTS_RT_WORK_H
#define MTC_DIALECTS_RT_WORK_H

#include "mlir/IR/Types.h"

#include <cstdint>

namespace mtc::rt {

/// Of one call on one rank. Where ranks of a stage do not have the same part,
/// as under ZeRO, their mean.
struct Work {
  /// Floating-point operations: a product and its sum are two, any other one.
  double flops = 0;
  /// The same in full, where a mask leaves some out.
  double unmaskedFlops = 0;
  /// Read from and written to memory at least: each operand once in, once out.
  double bytes = 0;
  /// Sent to other ranks, of a collective as a ring; what it moves in memory is
  /// not in `bytes`.
  double linkBytes = 0;
  /// The elements that are multiplied, where the operations are those of
  /// products of matrices; null: element by element, in f32.
  mlir::Type factors;
};

/// Of attention whose result has this many elements, with all pairs of queries
/// and keys: two products forward, five backward.
inline double attentionFlops(int64_t elements, int64_t keys, bool isBackward) {
  return (isBackward ? 10.0 : 4.0) * static_cast<double>(elements) *
         static_cast<double>(keys);
}

} // namespace mtc::rt
#endif // MTC_DIALECTS_RT_WORK_H
