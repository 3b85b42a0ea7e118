//===- strategy_options.cpp - options of the keys of a strategy -----------===//

#include "tools/mtc/strategy_options.h"

#include "compiler/schedules.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace mtc::tool {

/// An alias of the form "name=value": a flag that stands for one value of an
/// option, and so does not go with it.
static void addValueFlag(CLI::App &sub, CLI::Option &option,
                         const std::string &alias,
                         const std::function<void(const std::string &)> &set) {
  size_t equals = alias.find('=');
  std::string name = "--" + alias.substr(0, equals),
              value = alias.substr(equals + 1);
  sub.add_flag_callback(
         name, [set, value] { set(value); },
         "the same as " + option.get_name() + " " + value)
      ->excludes(&option)
      ->disable_flag_override()
      ->group("Strategy");
}

void StrategyOptions::addTo(CLI::App &sub) {
  models::Strategy defaults;
  compiler::resolveSchedule(defaults);
  for (const models::StrategyOptionInfo &option :
       models::strategyOptions(compiler::scheduleNames(), defaults)) {
    std::string flags = "--" + option.name;
    std::vector<std::string> valueFlags;
    std::istringstream aliases(option.aliases);
    for (std::string alias; aliases >> alias;)
      if (alias.find('=') != alias.npos)
        valueFlags.push_back(alias);
      else
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
    for (const std::string &alias : valueFlags)
      addValueFlag(sub, *added, alias, set);
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
