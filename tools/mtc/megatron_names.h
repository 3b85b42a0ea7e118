//===- megatron_names.h - options of Megatron-LM --------------*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_MEGATRON_NAMES_H
#define MTC_TOOLS_MTC_MEGATRON_NAMES_H

#include <string_view>

namespace mtc::tool {

/// What to take in place of an option of Megatron-LM that is no synonym of one
/// of ours, as its meaning is not equal; empty: none is known. `name` is
/// without dashes in front.
std::string_view insteadOf(std::string_view name);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_MEGATRON_NAMES_H
