//===- populate.h - pages of arenas, ahead of their use ---------*- C++ -*-===//
#ifndef MTC_RUNTIME_DEVICE_CPU_POPULATE_H
#define MTC_RUNTIME_DEVICE_CPU_POPULATE_H

#include "runtime/device/arena.h"
#include "runtime/device/device.h"

namespace mtc::runtime {

/// Has the kernel give all pages of `arenas`, private or shared, and no other,
/// on `threads` threads of the rank, huge ones where it has some; what they
/// hold stays. `done` is heard now and then, on the calling thread, and may be
/// empty. Where the kernel cannot (it is older than Linux 5.14, or refuses),
/// pages come as before, by their first use.
void populate(const ArenaViews &arenas, int64_t threads,
              const PopulateProgress &done);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_DEVICE_CPU_POPULATE_H
