//===- environment.h - what children inherit --------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_ENVIRONMENT_H
#define MTC_RUNTIME_CONTROL_ENVIRONMENT_H

#include <string>
#include <vector>

namespace mtc::runtime {

/// This process's environment with `variables` ("NAME=value") in the place of
/// its own of these names.
std::vector<std::string>
environmentWith(const std::vector<std::string> &variables);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_ENVIRONMENT_H
