//===- hosted_restart.cpp - what a run over MPI goes on from --------------===//

#include "runtime/control/hosted_restart.h"

#include "runtime/control/mpi_start.h"

#include <fmt/format.h>

#include <chrono>
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
  options.resume |= again;
  options.appendLog |= again;
}

void HostedRestart::change(Job &job) const {
  if (!again)
    return;
  // What is past by then RunCheckpoints leaves out.
  job.early.spend(std::chrono::duration<double>(seconds));
}

} // namespace mtc::runtime
