//===- team.h - the threads of a rank ---------------------------*- C++ -*-===//
//
// What a rank computes is divided among its threads by place alone, so that no
// bit depends on their number: every element is computed by one thread, from
// the same values in the same order as a single thread does. The threads are
// those of the OpenMP runtime that oneDNN uses, so that there is one set of
// them: between two calls they spin for a moment, then they sleep.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_TEAM_H
#define MTC_RUNTIME_KERNELS_CPU_TEAM_H

#include "mtc/runtime/abi.h"

#include <algorithm>
#include <cstdint>

namespace mtc::runtime {

/// From begin to before end.
struct Part {
  int64_t begin, end;
  bool empty() const { return begin >= end; }
  int64_t size() const { return empty() ? 0 : end - begin; }
};

/// Part `part` of `parts` of [0, count): as equal as they can be with ends at
/// multiples of `unit`, the last one at `count`.
inline Part partOf(int64_t count, int64_t part, int64_t parts,
                   int64_t unit = 1) {
  int64_t units = (count + unit - 1) / unit;
  return {std::min(count, units * part / parts * unit),
          std::min(count, units * (part + 1) / parts * unit)};
}

/// How many of a rank's threads are worth their start for so many elements, if
/// each should have `least` of them.
inline int64_t threadsFor(int64_t threads, int64_t elements, int64_t least) {
  return std::clamp(elements / least, int64_t(1),
                    std::max(threads, int64_t(1)));
}

/// Calls `work(argument, i, parts)` for each i below `parts`, at the same time,
/// one of them on the calling thread; returns when all have. `parts` is at most
/// `threads` (at least 1), less where OMP_THREAD_LIMIT or OMP_DYNAMIC
/// says so. Not to be
/// called by `work`.
void onTeam(int64_t threads, MtcPart work, void *argument);

/// Returns when every thread of the call of onTeam that runs has come here.
void teamMeets();

/// The same for anything that can be called with (part, parts).
template <typename Work> void onTeam(int64_t threads, Work &&work) {
  if (threads <= 1)
    return (void)work(int64_t(0), int64_t(1));
  onTeam(
      threads,
      [](void *argument, int64_t part, int64_t parts) {
        (*static_cast<Work *>(argument))(part, parts);
      },
      &work);
}

/// The same for work that is worth `workers` of these threads, in as many
/// parts. The others start and end, too: a smaller team than the one before
/// would end threads, and the next one would have to create them.
template <typename Work>
void onTeam(int64_t threads, int64_t workers, Work &&work) {
  if (workers <= 1)
    return (void)work(int64_t(0), int64_t(1));
  onTeam(threads, [&](int64_t part, int64_t parts) {
    int64_t used = std::min(workers, parts);
    if (part < used)
      work(part, used);
  });
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_TEAM_H
