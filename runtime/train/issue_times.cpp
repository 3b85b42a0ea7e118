//===- issue_times.cpp - what the host has of a step on a device ----------===//

#include "runtime/train/issue_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace mtc::runtime {
namespace {

double median(std::vector<double> all) {
  auto middle = all.begin() + static_cast<ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  if (all.size() % 2 == 1)
    return *middle;
  return (*middle + *std::max_element(all.begin(), middle)) / 2;
}

double millisecondsOf(const Json &host, const char *key) {
  return 1e3 * host[key].get<double>();
}

} // namespace

void IssueTimes::add(const HostIssue &issue, double seconds) {
  steps_[added_++ % kMost] = {issue, seconds};
}

Json IssueTimes::toJson(int rank) const {
  const size_t count = std::min(added_, kMost);
  Json host = {{"rank", rank}, {"steps", count}};
  if (count == 0)
    return host;
  auto medianOf = [&](auto figure) {
    std::vector<double> all;
    for (size_t i = 0; i < count; ++i)
      all.push_back(figure(steps_[i]));
    return median(std::move(all));
  };
  auto secondsOf = [&](auto part) {
    return medianOf([&](const Step &step) {
      return 1e-9 * static_cast<double>(part(step.issue));
    });
  };
  const HostIssue &latest = steps_[(added_ - 1) % kMost].issue;
  double all = secondsOf([](const HostIssue &i) { return i.all(); });
  double step = medianOf([](const Step &s) { return s.seconds; });
  host["graphs"] = latest.worksIssued;
  host["copies"] = latest.copies;
  host["issue_seconds"] = all;
  host["block_seconds"] = secondsOf([](const HostIssue &i) { return i.block; });
  host["tokens_seconds"] =
      secondsOf([](const HostIssue &i) { return i.tokens; });
  host["graphs_seconds"] =
      secondsOf([](const HostIssue &i) { return i.works; });
  host["results_seconds"] =
      secondsOf([](const HostIssue &i) { return i.results; });
  host["step_seconds"] = step;
  host["share"] = step > 0 ? all / step : 0;
  return host;
}

std::string issueText(const Json &host) {
  auto steps = host["steps"].get<int64_t>();
  if (steps == 0)
    return "host: no step was issued as a graph, whose issue is timed; leave "
           "steps behind the profile (--profile-step-end), or in front of it";
  auto graphs = host["graphs"].get<int64_t>();
  return fmt::format(
      "host: a step is issued in {:.3f} ms, {:.2f} % of the {:.3f} ms that it "
      "takes (step block {:.3f}, tokens {:.3f}, {} graph{} {:.3f}, results "
      "{:.3f}; medians of {} step{})",
      millisecondsOf(host, "issue_seconds"), 100 * host["share"].get<double>(),
      millisecondsOf(host, "step_seconds"),
      millisecondsOf(host, "block_seconds"),
      millisecondsOf(host, "tokens_seconds"), graphs, graphs == 1 ? "" : "s",
      millisecondsOf(host, "graphs_seconds"),
      millisecondsOf(host, "results_seconds"), steps, steps == 1 ? "" : "s");
}

} // namespace mtc::runtime
