//===- experiment.h - what an op touches, found by running it ---*- C++ -*-===//
//
// All memory of a rank is poisoned but for what the op declares that it reads.
// After it ran, what it declares that it stores must be the same whatever the
// poison was, and every byte that it does not declare to write must be as it
// was.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TEST_UNIT_EFFECTS_EXPERIMENT_H
#define MTC_TEST_UNIT_EFFECTS_EXPERIMENT_H

#include "declared.h"
#include "machine.h"

#include <optional>

namespace mtc::test {

/// An access that a declaration forgets.
struct Forgotten {
  size_t declared = 0; ///< by number, of what declaredBy says
  bool read = false;   ///< that it reads; else that it writes
};

/// Where a case does something else than it declares, a sentence each; empty if
/// it keeps to it. With `forgotten`, as if it did not declare that.
std::vector<std::string> findings(Machine &machine, const Case &which,
                                  std::optional<Forgotten> forgotten = {});

/// Every access of a case that a declaration could forget: not those of
/// scratch, which calls need not touch.
std::vector<Forgotten> whatMayBeForgotten(Machine &machine, const Case &which);

} // namespace mtc::test
#endif // MTC_TEST_UNIT_EFFECTS_EXPERIMENT_H
