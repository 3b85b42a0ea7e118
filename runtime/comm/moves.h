//===- moves.h - bytes of several buffers at once ---------------*- C++ -*-===//
//
// Internal. The body (moves_body.h) is compiled once per instruction set into a
// table of functions. This header is included by those objects, so it defines
// no inline function: a copy built for a higher instruction set must not become
// the program's only one.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_COMM_MOVES_H
#define MTC_RUNTIME_COMM_MOVES_H

#include "mtc/runtime/abi.h"

namespace mtc::runtime::comm {

/// What reduceInOrder (reduce.h) was called with.
struct Reduction {
  MtcReduce op;
  MtcDtype dtype;
  const void *const *inputs;
  int64_t inputCount; ///< at least 1
  void *const *outputs;
  int64_t outputCount;
  int64_t first, count; ///< elements
};

struct MoveTable {
  void (*reduce)(const Reduction &);
  /// See copyBytes (reduce.h).
  void (*copy)(char *to, const char *from, int64_t bytes, bool stream);
};

/// All give the same bits.
extern const MoveTable kMovesBase, kMovesV3, kMovesV4;

} // namespace mtc::runtime::comm
#endif // MTC_RUNTIME_COMM_MOVES_H
