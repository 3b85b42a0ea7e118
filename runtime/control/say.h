//===- say.h - what a run tells people --------------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_SAY_H
#define MTC_RUNTIME_CONTROL_SAY_H

#include <cstdio>
#include <string>

namespace mtc::runtime {

/// A line on standard error.
inline void say(const std::string &text) {
  std::fprintf(stderr, "%s\n", text.c_str());
}

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_SAY_H
