//===- validate.h - does a strategy fit a model -----------------*- C++ -*-===//
#ifndef MTC_MODELS_VALIDATE_H
#define MTC_MODELS_VALIDATE_H

#include <string>
#include <vector>

#include "models/diagnostics.h"
#include "models/spec.h"
#include "models/strategy.h"

namespace mtc::models {

/// A rule that is broken (contract of conservation: nothing is dropped or
/// rounded to make a configuration fit).
struct Violation {
  std::string rule;    ///< "heads % tp == 0"
  std::string found;   ///< "heads = 12, tp = 5"
  std::string nearest; ///< "tp = 4 or 6"; values that satisfy the rule
};

/// All violations, not the first only, in a fixed order. Where several rules
/// limit tp, the nearest tp satisfies all of them. Both arguments must be free
/// of diagnostics. The sizes are those of the unpartitioned model.
std::vector<Violation> validate(const ModelSpec &spec,
                                const Strategy &strategy);

/// Microbatches of a step of the smallest global batch: `microbatches=N` of
/// recompute, which holds for all of them, names no more. Sizes fit each other.
int64_t fewestMicrobatches(const Strategy &strategy);

/// "expected RULE, found FOUND; nearest: NEAREST", class infeasible.
Diagnostics toDiagnostics(const std::vector<Violation> &violations);

} // namespace mtc::models
#endif // MTC_MODELS_VALIDATE_H
