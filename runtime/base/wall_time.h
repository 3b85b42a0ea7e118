//===- wall_time.h - what people call now and here --------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_WALL_TIME_H
#define MTC_RUNTIME_BASE_WALL_TIME_H

#include <chrono>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace mtc::runtime {

/// Seconds since 1970 (UTC), to a microsecond.
inline double wallTime() {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<double>(
             std::chrono::duration_cast<std::chrono::microseconds>(now)
                 .count()) /
         1e6;
}

/// The name of this machine; "localhost" if it has none. MTC_HOST is another
/// one, where ranks that share a kernel are to count as those of many hosts.
inline std::string hostName() {
  if (const char *given = std::getenv("MTC_HOST"); given && *given)
    return given;
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0')
    return "localhost";
  return name;
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_WALL_TIME_H
