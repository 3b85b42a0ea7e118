//===- MemoryLayout.h - offsets of buckets, slots and temporaries ---------===//
//
//   params      | bucket 0 | bucket 1 | ..
//   grads       | bucket 0 | bucket 1 | second uses .. | loss |
//   optimizer   | b0 state 0 | b0 state 1 | .. | b1 state 0 ..
//   activations | slots of recv_activation | of recv_gradient | ..
//               by pool, those of further values that cross last
//   workspace   temporaries of one fragment, by liveness
//   packed      | rt.packed 0 | rt.packed 1 | ..
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_PLAN_MEMORYLAYOUT_H
#define MTC_PASSES_PLAN_MEMORYLAYOUT_H

#include "dialects/pipe/Pipe.h"
#include "dialects/rt/Rt.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mtc::passes {

inline constexpr int64_t kAlign = 64;  ///< of every view: one cache line
inline constexpr int64_t kPage = 4096; ///< arenas are whole pages
inline int64_t alignTo(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

using rt::bytesOf;

/// Address of a view: see rt.view.
struct Address {
  MtcArena arena = MTC_ARENA_PARAMS;
  int64_t offset = 0;
  std::optional<MtcPool> pool = {};
  int64_t stride = 0; ///< of the pool
};

/// A pool of equal slots in the activation arena.
struct PoolRegion {
  int64_t base = 0, stride = 0, count = 0;
};

/// A value that a fragment saves for a later one of its microbatch.
struct KeptPlace {
  MtcPool pool = MTC_POOL_SAVED; ///< whose slots live as long as the value
  int64_t bytes = 0;
  int64_t offset = 0; ///< in a slot
};

/// Everything of one program that does not depend on liveness.
struct ProgramLayout {
  std::map<MtcPool, PoolRegion> pools; ///< that the program has
  /// Where a saved value lies, by its key. A slot holds the values of one
  /// chunk, so those of different chunks take the same bytes.
  std::map<int64_t, KeptPlace> kept;
  /// Name of an input -> its offset in a slot of an input pool, at the begin.
  std::map<std::string, int64_t> inputOffset;
  /// In whose slots inputs lie until their last reader: of microbatches that
  /// save all, of those that are computed again, or of both.
  std::set<MtcPool> inputPools;
  std::set<int64_t> chunksWithInputs; ///< that read inputs
  int64_t activationBytes = 0, paramBytes = 0, gradBytes = 0,
          optimizerBytes = 0, packedBytes = 0;
  int64_t lossOffset = 0;

  /// The pool in which a fragment of a form finds inputs. Those of eval, which
  /// saves nothing, lie where there is room.
  MtcPool inputPool(pipe::FragmentAttr of) const;

  /// A place in a slot; expects a pool that a boundary op of the program names.
  Address slot(MtcPool pool, int64_t within = 0) const {
    const PoolRegion &region = pools.at(pool);
    return {MTC_ARENA_ACTIVATIONS, region.base + within, pool, region.stride};
  }
};

/// Reads boundary ops and timelines; sets the offsets on rt.bucket and
/// rt.packed.
ProgramLayout layOutProgram(rt::ProgramOp program);

/// One temporary: alive on [begin, end], both included.
struct Lifetime {
  int64_t bytes = 0, begin = 0, end = 0;
  int64_t offset = -1; ///< result
};
/// Gives offsets so that no two temporaries that live together overlap: largest
/// first, each at the lowest free offset. Returns the bytes needed.
int64_t placeTemporaries(std::vector<Lifetime> &values);

} // namespace mtc::passes
#endif // MTC_PASSES_PLAN_MEMORYLAYOUT_H
