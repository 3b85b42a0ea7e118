//===- megatron_names.h - names of Megatron-LM that are not ours *- C++ -*-===//
#ifndef MTC_MODELS_MEGATRON_NAMES_H
#define MTC_MODELS_MEGATRON_NAMES_H

#include <span>
#include <string_view>

namespace mtc::models {

/// What stands behind an option.
enum class Behind { none, upToOne, any };

/// An option of Megatron-LM that is no other name of one of ours, as its
/// meaning is not equal, and what to do instead.
struct MegatronName {
  const char *name;      ///< without the dashes in front
  const char *inCompile; ///< null: mtc compile has it, or knows nothing of it
  const char *inRun;     ///< null: what it is in mtc compile
  Behind words = Behind::upToOne;
};

std::span<const MegatronName> megatronNames();

/// What to do instead of a key of a strategy, with '_' between words; empty:
/// it is a key, or nothing is known of it.
std::string_view megatronAdvice(std::string_view key);

} // namespace mtc::models
#endif // MTC_MODELS_MEGATRON_NAMES_H
