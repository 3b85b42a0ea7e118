//===- strategy_options.cpp - options of the keys of a strategy -----------===//

#include "tools/mtc/strategy_options.h"

#include "compiler/schedules.h"

#include <CLI/CLI.hpp>

#include <sstream>

namespace mtc::tool {

void StrategyOptions::addTo(CLI::App &sub) {
  models::Strategy defaults;
  compiler::resolveSchedule(defaults);
  for (const models::StrategyOptionInfo &option :
       models::strategyOptions(compiler::scheduleNames(), defaults)) {
    std::string flags = "--" + option.name;
    std::istringstream aliases(option.aliases);
    for (std::string alias; aliases >> alias;)
      flags += ",--" + alias;
    auto set = [this, name = option.name](const std::string &value) {
      values_[name] = value;
    };
    CLI::Option *added =
        option.isFlag
            ? sub.add_flag_function(
                  flags,
                  [set](int64_t count) { set(count > 0 ? "true" : "false"); },
                  option.what)
            : sub.add_option_function<std::string>(flags, set, option.what);
    added->multi_option_policy(CLI::MultiOptionPolicy::Throw)
        ->group("Strategy");
  }
}

void addSettings(CLI::App &sub, std::vector<std::string> &out) {
  sub.add_option("--set", out,
                 "any key of spec or strategy over the files, as model.KEY or "
                 "strategy.KEY with a value in TOML: --set model.layers=4 "
                 "(several are allowed)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

} // namespace mtc::tool
