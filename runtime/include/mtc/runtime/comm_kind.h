//===- comm_kind.h - how ranks talk to each other ---------------*- C++ -*-===//
#ifndef MTC_RUNTIME_COMM_KIND_H
#define MTC_RUNTIME_COMM_KIND_H

#include "mtc/runtime/table.h"

#include <cstddef>
#include <string_view>

namespace mtc::runtime {

enum class CommKind { shm, threads };

/// A communication backend.
struct CommInfo {
  CommKind id;
  std::string_view name; ///< of `mtc run --comm`
  bool oneProcess;       ///< all ranks are threads of one process
};

/// By CommKind; the first is the default. runtime/comm/worlds.h makes them.
inline constexpr CommInfo kComms[] = {
    {CommKind::shm, "shm", false},
    {CommKind::threads, "threads", true},
};

constexpr const CommInfo &infoOf(CommKind kind) {
  return kComms[static_cast<size_t>(kind)];
}

static_assert(infoOf(CommKind::shm).id == CommKind::shm &&
              infoOf(CommKind::threads).id == CommKind::threads);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_COMM_KIND_H
