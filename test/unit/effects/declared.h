//===- declared.h - what an op says it touches, as bytes of a rank --------===//
#ifndef MTC_TEST_UNIT_EFFECTS_DECLARED_H
#define MTC_TEST_UNIT_EFFECTS_DECLARED_H

#include "dialects/rt/Rt.h"
#include "mtc/runtime/mesh.h"
#include "runtime/device/arena.h"

#include <string>
#include <vector>

namespace mtc::test {

/// Bytes of an arena, and what the op says that it does with them.
struct Declared {
  std::string what; ///< for people: "operand 2"
  rt::AccessKind kind;
  runtime::ArenaOffset start;
  int64_t bytes = 0;
  mlir::Type element; ///< of inputs
};

/// The values of a step that no op writes: the runtime puts them into the step
/// block before it.
struct StepValues {
  static constexpr uint64_t kSeed = 77;
  static constexpr int64_t kSampleBase = 40;
};

/// What an op in a fragment declares, on a rank: its accesses, each cut to the
/// range that the op names, and the bytes of the resources that its memory
/// effects name. Slots are slot 0, the microbatch is 1.
std::vector<Declared> declaredBy(mlir::Operation *op,
                                 const Mesh::Coordinates &at, const Mesh &mesh);

/// Where accesses, memory effects and destinations of an op contradict each
/// other; empty if they agree. What is written is a destination, but scratch.
std::string contradiction(mlir::Operation *op);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_EFFECTS_DECLARED_H
