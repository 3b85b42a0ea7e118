//===- explain.h - the questions of mtc explain -----------------*- C++ -*-===//
//
// Each answer is JSON first; its text is written from that.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_INSPECT_EXPLAIN_H
#define MTC_RUNTIME_INSPECT_EXPLAIN_H

#include "runtime/base/json.h"
#include "runtime/inspect/explain_file.h"

#include <optional>
#include <string_view>

namespace mtc::runtime {

/// Where a parameter lies: on each rank that has it its indices, its place in
/// bucket and arenas, and the part whose optimizer states the rank keeps.
/// Errors: usage if no stage has one of this name.
Status explainParameter(const Bundle &bundle, const std::string &name,
                        Json &answer);
std::string parameterText(const Json &answer);

/// Why there is a collective, for people; empty for an origin that is none.
std::string whyOf(const ExplainedCollective &collective);

bool isOrigin(std::string_view name);

/// "f, g, sp": all of them.
std::string originNames();

/// The collectives of a step, numbered; those of a group, or the one of a
/// number, with `which`; empty: all. Errors: usage.
Status explainCollectives(const Bundle &bundle,
                          const std::vector<ExplainedStage> &stages,
                          const std::string &which, Json &answer);
std::string collectivesText(const Json &answer);

/// What a rank has reserved, and what lives there when most does. Row by row
/// the bytes that live at most. Errors: usage for a rank that is none.
Status explainMemory(const Bundle &bundle,
                     const std::vector<ExplainedStage> &stages, int64_t rank,
                     Json &answer);
std::string memoryText(const Json &answer);
/// Its rows over time as a picture.
std::string memorySvg(const Json &answer);

/// What a stage's calls take at least on a card, longest first; `card` and
/// `stage` as readKernels takes them. With `registers`, what the CUDA toolkit's
/// assembler says of the kernels, where it is, and how many of them a
/// multiprocessor holds. Errors: usage, inputRejected.
Status explainKernels(const Bundle &bundle, const std::string &card,
                      std::optional<int64_t> stage, bool registers,
                      Json &answer);
std::string kernelsText(const Json &answer);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_EXPLAIN_H
