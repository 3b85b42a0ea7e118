//===- watchdog.cpp - a run in which nothing happens any more -------------===//

#include "runtime/control/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace mtc::runtime {
namespace {

/// Stopped by SIGSTOP or a debugger: the state after the name in brackets.
bool isStopped(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  size_t at = text.rfind(") ");
  return at != std::string::npos &&
         (text[at + 2] == 'T' || text[at + 2] == 't');
}

/// The stopped ranks; if none is, those that are behind, of many the first.
std::string suspects(const std::vector<RankProgress> &ranks) {
  int64_t least = INT64_MAX;
  for (const RankProgress &rank : ranks)
    least = rank.pid > 0 ? std::min(least, rank.step) : least;
  std::vector<std::string> stopped, behind;
  for (size_t i = 0; i < ranks.size(); ++i) {
    std::string text = fmt::format("rank {} in step {}", i, ranks[i].step);
    if (isStopped(ranks[i].pid))
      stopped.push_back(text + ", stopped by a signal");
    else if (ranks[i].pid > 0 && ranks[i].step == least)
      behind.push_back(text);
  }
  std::vector<std::string> &list = stopped.empty() ? behind : stopped;
  list.resize(std::min<size_t>(list.size(), 8));
  return fmt::format("{}", fmt::join(list, "; "));
}

} // namespace

Status Watchdog::look(const std::vector<RankProgress> &ranks) {
  if (seconds_ <= 0)
    return Status::okay();
  int64_t sum = 0;
  for (const RankProgress &rank : ranks)
    sum += rank.step + (rank.pid > 0 ? 0 : 1);
  auto now = std::chrono::steady_clock::now();
  if (sum != seen_) {
    seen_ = sum;
    since_ = now;
  }
  if (now - since_ < std::chrono::duration<double>(seconds_))
    return Status::okay();
  return {StatusCode::hang,
          fmt::format("no step began for {} seconds, the limit of --timeout: "
                      "{}; raise it if steps may take longer",
                      seconds_, suspects(ranks))};
}

} // namespace mtc::runtime
