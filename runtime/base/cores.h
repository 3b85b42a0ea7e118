//===- cores.h - cores of the processor -------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_CORES_H
#define MTC_RUNTIME_BASE_CORES_H

#include <sched.h>

namespace mtc::runtime {

/// Logical cores that this process may run on, at least 1.
inline int usableCores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_CORES_H
