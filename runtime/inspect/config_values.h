//===- config_values.h - what a bundle was compiled for ---------*- C++ -*-===//
#ifndef MTC_RUNTIME_INSPECT_CONFIG_VALUES_H
#define MTC_RUNTIME_INSPECT_CONFIG_VALUES_H

#include "runtime/base/status.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mtc::runtime {

/// A value of mtc.config by its path, such as `batch.micro` and `2`.
using ConfigValue = std::pair<std::string, std::string>;

/// Takes the text of mtc.config, which descriptors carry, apart:
/// `#mtc.config<mesh = <tp = 2>, ...>` has `mesh.tp`. Values are as written,
/// strings without their quotes; the order is the text's. No table of keys: a
/// new one is just there. Errors: inputRejected, where and what was expected.
Status readConfigValues(std::string_view text, std::vector<ConfigValue> &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_CONFIG_VALUES_H
