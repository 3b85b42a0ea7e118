//===- strategy_options.cpp - options of the keys of a strategy -----------===//

#include "tools/mtc/strategy_options.h"

#include "compiler/schedules.h"

#include <CLI/CLI.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace mtc::tool {

namespace {

/// An alias that is a flag: "name=value" stands for one value of an option, and
/// goes neither with it nor with another such flag of it; "name+=value" adds to
/// a list, and goes with others that do.
struct ValueFlag {
  explicit ValueFlag(const std::string &alias) {
    size_t equals = alias.find('=');
    adds = alias[equals - 1] == '+';
    name = "--" + alias.substr(0, equals - (adds ? 1 : 0));
    value = alias.substr(equals + 1);
  }

  std::string name, value;
  bool adds;
};

} // namespace

void StrategyOptions::addFlags(CLI::App &sub, CLI::Option &option,
                               const std::vector<std::string> &aliases,
                               const models::StrategyOptionInfo &of) {
  std::vector<CLI::Option *> standing;
  for (const std::string &alias : aliases) {
    ValueFlag flag(alias);
    auto set = [this, flag, name = of.name, first = of.byDefault] {
      auto [it, isFirst] = values_.try_emplace(name, first);
      it->second = flag.adds ? it->second + "," + flag.value : flag.value;
    };
    std::string what =
        flag.adds ? "adds " + flag.value + " to " : "the same as ";
    what += option.get_name() + " " + (flag.adds ? of.byDefault : flag.value);
    CLI::Option *added = sub.add_flag_callback(flag.name, set, what);
    added->excludes(&option)->disable_flag_override()->group("Strategy");
    if (flag.adds)
      continue;
    for (CLI::Option *other : standing)
      added->excludes(other);
    standing.push_back(added);
  }
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
    addFlags(sub, *added, valueFlags, option);
  }
  megatron_.addTo(sub, MegatronUse::compile);
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
