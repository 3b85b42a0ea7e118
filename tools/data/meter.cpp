//===- meter.cpp - how far a command is, for people -----------------------===//

#include "tools/data/meter.h"

#include <fmt/format.h>

#include <algorithm>

using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::data {
namespace {

/// "2:05", "1:02:05".
std::string clock(double seconds) {
  auto whole = static_cast<int64_t>(seconds + 0.5);
  return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02}:{:02}", whole / 3600,
                                    whole / 60 % 60, whole % 60);
}

} // namespace

Meter::Meter(std::string what, int64_t total, const Watch &watch,
             bool countsBytes)
    : what_(std::move(what)), total_(total), countsBytes_(countsBytes),
      stop_(watch.stop),
      line_(watch.progressFd, watch.rewrites, std::chrono::seconds(1)),
      start_(std::chrono::steady_clock::now()) {}

double Meter::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                       start_)
      .count();
}

Status Meter::at(int64_t done, int64_t count, const char *units) {
  if (stop_ && stop_->load(std::memory_order_relaxed))
    return {StatusCode::interrupted,
            fmt::format("{}: stopped by a signal; nothing was written", what_)};
  if (!line_.due() || done == 0)
    return Status::okay();
  double time = seconds(), rate = static_cast<double>(done) / time;
  std::string text =
      fmt::format("{}: {:.0f} %", what_,
                  100.0 * static_cast<double>(done) /
                      static_cast<double>(std::max<int64_t>(total_, 1)));
  if (countsBytes_)
    text += fmt::format(", {:.1f} MB/s", 1e-6 * rate);
  if (*units)
    text += fmt::format(", {:.2f} million {}/s",
                        1e-6 * static_cast<double>(count) / time, units);
  text += fmt::format(", {} left",
                      clock(static_cast<double>(total_ - done) / rate));
  line_.print(text);
  return Status::okay();
}

} // namespace mtc::data
