//===- cores.h - the processor and its cores --------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_CORES_H
#define MTC_RUNTIME_BASE_CORES_H

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace mtc::runtime {

/// Logical cores that this process may run on, at least 1; where there are more
/// than a cpu_set_t has, all of the machine.
inline int usableCores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0
             ? CPU_COUNT(&set)
             : int(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

/// As /proc/cpuinfo has it; empty: unknown.
inline std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (size_t at = line.find(": "); at != line.npos)
        return line.substr(at + 2);
  return "";
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_CORES_H
