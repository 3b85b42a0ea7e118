//===- sample_orders.cpp - samples in the order of before -----------------===//

#include "runtime/control/sample_orders.h"

#include <fmt/format.h>

#include <set>

namespace mtc::runtime {

static std::string valueOf(const SampleOrder &order, const std::string &name) {
  auto found = order.find(name);
  return found == order.end() ? "none" : found->second;
}

static std::string differences(const SampleOrder &before,
                               const SampleOrder &now) {
  std::set<std::string> names;
  for (const SampleOrder *order : {&before, &now})
    for (const auto &[name, value] : *order)
      names.insert(name);
  std::string text;
  for (const std::string &name : names)
    if (std::string a = valueOf(before, name), b = valueOf(now, name); a != b)
      text +=
          fmt::format("{}{} {}, now {}", text.empty() ? "" : "; ", name, a, b);
  return text;
}

std::vector<std::string> changedOrders(const Manifest &before, const Job &job) {
  std::vector<std::string> warnings;
  for (const SourceFiles &source : job.sources) {
    auto known = before.orders.find(std::to_string(source.seq));
    if (known == before.orders.end())
      continue;
    if (std::string found = differences(known->second, source.order);
        !found.empty())
      warnings.push_back(fmt::format(
          "warning: samples of {} tokens come in another order than before the "
          "checkpoint: {}; the run goes on with sample {} of the new order, so "
          "it may read some a second time and others not at all",
          source.seq, found, before.position.samples));
  }
  return warnings;
}

} // namespace mtc::runtime
