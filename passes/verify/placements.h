//===- placements.h - where values lie, in bytes or in tensors --*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_PLACEMENTS_H
#define MTC_PASSES_VERIFY_PLACEMENTS_H

#include "passes/verify/model.h"
#include "passes/verify/numbers.h"

#include <compare>

namespace mtc::passes::verify {

/// What bytes can belong to. The first ones outlive a fragment, and both forms
/// of a program name them alike.
enum class SpaceKind {
  Param,
  Grad,
  State,  ///< of the optimizer
  Packed, ///< a weight as products read it: has the number of the weight
  Loss,
  Norm,      ///< the sum of squares, which lies in no arena
  Pool,      ///< slot 0, standing for the slot of any microbatch
  Workspace, ///< of one fragment
  Staging,   ///< of one fragment: a bucket's gradients before they are summed
  Tensor,    ///< a tensor of one fragment
  Field,     ///< of the step block
  Nowhere,   ///< bytes that belong to nothing
};
struct Space {
  SpaceKind kind = SpaceKind::Nowhere;
  int64_t index = 0; ///< of a bucket, a pool, a tensor
  int64_t state = 0; ///< of the bucket's states
  int64_t chunk = 0; ///< of a pool: a slot holds the values of one chunk
  auto operator<=>(const Space &) const = default;
  bool isLasting() const { return kind <= SpaceKind::Norm; }
};

/// Bytes [begin, end) of a space. Parts of a bucket that are sharded are named
/// as if they were whole: on each rank they are the part that it has.
struct Placement {
  Space space;
  int64_t begin = 0, end = 0;
  /// The number of elements by which it was moved; of a rank's own range.
  std::optional<Number> moved = {};
};

/// Values by the bytes where they lie.
class Contents {
public:
  struct Cell {
    int64_t end = 0;
    Number number = 0;
    int64_t from = 0, to = 0; ///< where the whole value began and ended
    mlir::Operation *writer = nullptr;
  };
  using Cells = std::map<int64_t, Cell>; ///< by first byte

  void write(const Placement &placement, Number number,
             mlir::Operation *writer);
  /// The number of what lies there: of one value, or of parts of several.
  /// Bytes that nobody wrote are equal to nothing.
  Number read(const Placement &placement, Numbers &numbers) const;
  bool isEmpty(const Placement &placement) const;
  /// All that was written to a space; empty if nothing was.
  const Cells &cellsOf(const Space &space) const;
  const std::map<Space, Cells> &all() const { return spaces; }
  /// Forgets all but what lies in slots. Then `lasting` is what there is.
  void beginFragment(const Contents &lasting);

private:
  std::map<Space, Cells> spaces;
};

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_PLACEMENTS_H
