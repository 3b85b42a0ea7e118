//===- comm_kind.h - how ranks talk to each other ---------------*- C++ -*-===//
#ifndef MTC_RUNTIME_COMM_KIND_H
#define MTC_RUNTIME_COMM_KIND_H

#include "mtc/runtime/table.h"

#include <cstddef>
#include <string_view>

namespace mtc::runtime {

enum class CommKind { shm, threads, mpi, nccl };

/// A communication backend.
struct CommInfo {
  CommKind id;
  std::string_view name; ///< of `mtc run --comm`
  bool oneProcess;       ///< all ranks are threads of one process
};

/// By CommKind; the first is the default. runtime/comm/worlds.h makes those of
/// one host, runtime/comm/mpi/mpi_world.h that of many. Under nccl, of programs
/// for GPUs, it is one of these that starts ranks and brings them together.
inline constexpr CommInfo kComms[] = {
    {CommKind::shm, "shm", false},
    {CommKind::threads, "threads", true},
    {CommKind::mpi, "mpi", false},
    {CommKind::nccl, "nccl", false},
};

constexpr const CommInfo &infoOf(CommKind kind) {
  return kComms[static_cast<size_t>(kind)];
}

static_assert(infoOf(CommKind::shm).id == CommKind::shm &&
              infoOf(CommKind::threads).id == CommKind::threads &&
              infoOf(CommKind::mpi).id == CommKind::mpi &&
              infoOf(CommKind::nccl).id == CommKind::nccl);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_COMM_KIND_H
