//===- megatron_options.cpp - options of Megatron-LM that are not ours ----===//

#include "tools/mtc/megatron_options.h"

#include "models/megatron_names.h"
#include "runtime/data/data_path.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string_view>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::tool {
namespace {

/// Empty: the command has the option, or knows nothing of it.
std::string adviceOf(const models::MegatronName &option, MegatronUse use) {
  if (use == MegatronUse::compile)
    return option.inCompile ? option.inCompile : "";
  if (option.inRun)
    return option.inRun;
  return fmt::format("it is compiled into the bundle: to mtc compile, {}",
                     option.inCompile);
}

/// Adds what says something if it is given.
void addName(CLI::App &sub, const models::MegatronName &option,
             const std::function<void()> &say) {
  std::string flag = fmt::format("--{}", option.name);
  CLI::Option *added =
      option.words == models::Behind::none
          ? sub.add_flag_callback(flag, say)
          : sub.add_option_function<std::vector<std::string>>(
                   flag, [say](const std::vector<std::string> &) { say(); })
                ->expected(0, option.words == models::Behind::any ? -1 : 1)
                ->allow_extra_args(option.words == models::Behind::any);
  added->group("");
}

} // namespace

void MegatronOptions::addTo(CLI::App &sub, MegatronUse use) {
  for (const models::MegatronName &option : models::megatronNames()) {
    std::string advice = adviceOf(option, use);
    if (advice.empty())
      continue;
    addName(sub, option, [=, this, &sub] {
      found_.push_back(
          fmt::format("--{}: no option of mtc {} as it is of Megatron-LM: {}",
                      option.name, sub.get_name(), advice));
    });
  }
}

Status MegatronOptions::check() const {
  return found_.empty() ? Status::okay()
                        : Status(StatusCode::usage,
                                 fmt::format("{}", fmt::join(found_, "\n  ")));
}

std::vector<std::string> withDataInOneWord(std::vector<std::string> arguments) {
  constexpr std::string_view names[] = {"--data-path", "--train-data-path",
                                        "--valid-data-path",
                                        "--test-data-path"};
  if (arguments.size() < 2 ||
      (arguments[1] != "run" && arguments[1] != "profile"))
    return arguments;
  for (size_t at = 2; at < arguments.size(); ++at) {
    if (std::ranges::find(names, arguments[at]) == std::end(names))
      continue;
    auto first = arguments.begin() + static_cast<ptrdiff_t>(at) + 1;
    size_t count = runtime::countDataWords({first, arguments.end()});
    if (count < 2)
      continue;
    auto end = first + static_cast<ptrdiff_t>(count);
    *first = fmt::format("{}", fmt::join(first, end, " "));
    arguments.erase(first + 1, end);
  }
  return arguments;
}

} // namespace mtc::tool
