//===- strategy_options.h - options of the keys of a strategy ---*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_STRATEGY_OPTIONS_H
#define MTC_TOOLS_MTC_STRATEGY_OPTIONS_H

#include "models/strategy.h"
#include "tools/mtc/megatron_options.h"

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace mtc::tool {

/// Values given on the command line, which replace the strategy file's.
class StrategyOptions {
public:
  /// Adds an option for every key of a strategy. This must live as long as
  /// `sub`.
  void addTo(CLI::App &sub);

  /// Errors: usage, options of Megatron-LM that are not ours.
  runtime::Status check() const { return megatron_.check(); }

  /// Those that were given, in the order of their names.
  std::vector<models::StrategyOption> given() const {
    return {values_.begin(), values_.end()};
  }

private:
  /// Aliases that stand for values.
  void addFlags(CLI::App &sub, CLI::Option &option,
                const std::vector<std::string> &aliases,
                const models::StrategyOptionInfo &of);

  std::map<std::string, std::string> values_;
  MegatronOptions megatron_;
};

/// Adds --set, whose texts come into `out`, which must live as long as `sub`.
void addSettings(CLI::App &sub, std::vector<std::string> &out);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_STRATEGY_OPTIONS_H
