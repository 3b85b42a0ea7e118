//===- update_cells.h - what elements of buckets mean -----------*- C++ -*-===//
//
// The domain of the interpreter of the update (update_interpreter.h): what an
// element of an accumulator, a parameter or a state of the optimizer means at
// one moment of reduce and apply.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_VERIFY_UPDATE_CELLS_H
#define MTC_PASSES_VERIFY_UPDATE_CELLS_H

#include "mtc/runtime/mesh.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <bitset>
#include <map>
#include <set>

namespace mtc::passes::verify {

/// One element.
struct Cell {
  enum class Kind {
    Unknown,  ///< not of this rank's shard: nobody may read it
    Zero,     ///< of an accumulator that was cleared
    Gradient, ///< a sum of what microbatches added
    Before,   ///< a parameter or state as it was when the step began
    Updated,  ///< the same after its update
  };
  Kind kind = Kind::Unknown;
  // Of a gradient:
  std::set<int64_t> uses; ///< buckets whose accumulators are in the sum
  /// By MtcGroup: whose other ranks have parts of it.
  std::bitset<MTC_GROUP_COUNT> partial;
  bool stages = false;  ///< both ends of the pipeline are in the sum
  bool counted = false; ///< the global norm has read or checked it

  bool is(Kind wanted) const { return kind == wanted; }
};

/// The same element on the ranks along dp: on the one whose shard has it, and
/// on the others. Without shards both are always equal.
struct Copies {
  Cell own, others;
};

/// The elements of one buffer: equal neighbours are one interval.
class Cells {
public:
  /// `size` elements that are all `value`.
  Cells(int64_t size, Copies value) : size_(size) { intervals[0] = value; }
  int64_t size() const { return size_; }
  /// From now on intervals begin at `at`.
  void split(int64_t at);
  /// All intervals of [begin, end), in order, which is split at its ends.
  /// Expects it to lie inside.
  void
  forEach(int64_t begin, int64_t end,
          llvm::function_ref<void(int64_t begin, int64_t end, Copies &)> visit);

private:
  int64_t size_;
  std::map<int64_t, Copies> intervals; ///< by their begin
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_UPDATE_CELLS_H
