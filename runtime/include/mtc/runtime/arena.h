//===- arena.h - names of the arenas ----------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_ARENA_H
#define MTC_RUNTIME_ARENA_H

#include "mtc/runtime/abi.h"

#include <string_view>

namespace mtc {

/// By MtcArena: in reports, messages and names of mappings.
inline constexpr std::string_view kArenaNames[MTC_ARENA_COUNT] = {
    "params", "grads", "optimizer", "activations", "workspace"};

} // namespace mtc
#endif // MTC_RUNTIME_ARENA_H
