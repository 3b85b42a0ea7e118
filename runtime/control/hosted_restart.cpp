//===- hosted_restart.cpp - what a run over MPI goes on from --------------===//

#include "runtime/control/hosted_restart.h"

#include "runtime/control/mpi_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace mtc::runtime {
namespace {

constexpr const char *kVariable = "MTC_RESTART";

} // namespace

bool isHosted() { return std::getenv(kListenVariable) != nullptr; }

Status HostedRestart::find(HostedRestart &out) {
  const char *text = std::getenv(kVariable);
  out.again = text != nullptr && isHosted();
  long long step = 0, bytes = 0;
  if (out.again &&
      std::sscanf(text, "%lld %lf %lld", &step, &out.seconds, &bytes) != 3)
    return {
        StatusCode::usage,
        fmt::format("{}: expected three numbers, found '{}'; it is of mtc's "
                    "own launcher",
                    kVariable, text)};
  out.step = step;
  out.logBytes = bytes;
  return Status::okay();
}

std::string HostedRestart::environment() const {
  return fmt::format("{}={} {:.3f} {}", kVariable, step, seconds, logBytes);
}

void HostedRestart::change(RunOptions &options) const {
  if (!again)
    return;
  options.resume = true;
  options.appendLog = true;
  constexpr double kLeastMinutes = 1e-5, kMinute = 60;
  if (options.exitMinutes > 0)
    options.exitMinutes =
        std::max(kLeastMinutes, options.exitMinutes - seconds / kMinute);
  std::erase_if(options.dumps, [&](const DumpRequest &dump) {
    bool initial =
        dump.what == DumpRequest::init || dump.what == DumpRequest::logits;
    int64_t at = dump.step;
    if (at == 0 && !initial)
      at = dump.what == DumpRequest::grads ? 1
           : options.recipe.samples > 0    ? INT64_MAX // the last, of the job
                                           : options.recipe.steps;
    return initial || at <= step;
  });
  if (options.traceStep > 0 && options.traceStep <= step)
    options.traceFile.clear();
}

} // namespace mtc::runtime
