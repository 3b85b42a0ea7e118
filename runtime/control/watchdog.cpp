//===- watchdog.cpp - a run in which nothing happens any more -------------===//

#include "runtime/control/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace mtc::runtime {

// The state is behind the name in brackets.
bool isStopped(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  size_t at = text.rfind(") ");
  return at != std::string::npos &&
         (text[at + 2] == 'T' || text[at + 2] == 't');
}

namespace {

bool runs(const RankProgress &rank) { return rank.pid >= 0; }

std::string holds(const RankProgress &rank) {
  return rank.held.empty() && isStopped(rank.pid) ? "stopped by a signal"
                                                  : rank.held;
}

/// The ranks that are held; if none is, those that are behind.
std::vector<int> suspects(const std::vector<RankProgress> &ranks) {
  int64_t least = INT64_MAX;
  for (const RankProgress &rank : ranks)
    least = runs(rank) ? std::min(least, rank.step) : least;
  std::vector<int> held, behind;
  for (size_t i = 0; i < ranks.size(); ++i)
    if (runs(ranks[i]) && !holds(ranks[i]).empty())
      held.push_back(int(i));
    else if (runs(ranks[i]) && ranks[i].step == least)
      behind.push_back(int(i));
  return held.empty() ? behind : held;
}

/// The first of them, for people.
std::string suspectsText(const std::vector<RankProgress> &ranks) {
  constexpr size_t kMost = 8;
  std::vector<std::string> list;
  for (int suspect : suspects(ranks)) {
    const RankProgress &rank = ranks[size_t(suspect)];
    std::string why = holds(rank);
    list.push_back(fmt::format("rank {} in step {}{}{}", suspect, rank.step,
                               why.empty() ? "" : ", ", why));
  }
  list.resize(std::min(list.size(), kMost));
  return fmt::format("{}", fmt::join(list, "; "));
}

/// Without --timeout. Ten minutes is what users know from PyTorch's
/// collectives.
constexpr double kNoMeasure = 3600, kStep = 600, kTimesLongest = 5;
/// More than the launcher's pause between two looks.
constexpr double kLook = 1;

} // namespace

int suspectOf(const std::vector<RankProgress> &ranks) {
  std::vector<int> found = suspects(ranks);
  return found.empty() ? 0 : found.front();
}

double Watchdog::limit() const {
  if (seconds_) // 0: never
    return ending_ && *seconds_ > 0 ? std::max(*seconds_, kNoMeasure)
                                    : *seconds_;
  double least = measured_ && !ending_ ? kStep : kNoMeasure;
  return std::max(least, kTimesLongest * longest_);
}

Status Watchdog::look(const std::vector<RankProgress> &ranks, bool ending,
                      Clock::time_point now) {
  int64_t sum = 0;
  for (const RankProgress &rank : ranks)
    sum += rank.step + rank.beats + (runs(rank) ? 0 : 1);
  if (sum == seen_)
    silence_ +=
        std::min(kLook, std::chrono::duration<double>(now - last_).count());
  last_ = now;
  if (sum != seen_) {
    if (measured_)
      longest_ = std::max(longest_, silence_);
    auto began = [&](int64_t step) {
      return [step](const RankProgress &rank) { return rank.step >= step; };
    };
    measured_ = std::all_of(ranks.begin(), ranks.end(), began(2));
    ending_ = std::any_of(ranks.begin(), ranks.end(), began(lastStep_));
    seen_ = sum;
    silence_ = 0;
  }
  ending_ = ending_ || ending;
  double most = limit();
  if (most <= 0 || silence_ < most)
    return Status::okay();
  return {StatusCode::hang,
          fmt::format("no step began for {} seconds, the limit {}: {}; {} if "
                      "steps may take longer",
                      most, seconds_ ? "of --timeout" : "without --timeout",
                      suspectsText(ranks),
                      seconds_ ? "raise it" : "give --timeout SECONDS")};
}

} // namespace mtc::runtime
