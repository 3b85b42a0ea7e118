//===- crossings.cpp - what virtual stages send each other ----------------===//

#include "passes/pipeline/schedules/crossings.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace mtc::schedules {

Crossings Crossings::chain(int64_t activationBytes, int64_t gradientBytes) {
  Crossings chain;
  chain.activationBytes_ = activationBytes;
  chain.gradientBytes_ = gradientBytes;
  return chain;
}

static void add(std::vector<std::vector<Crossing>> &by, int u,
                const Crossing &row) {
  if (u < 0 || u >= int(Tag::kStages))
    return;
  if (u >= int(by.size()))
    by.resize(u + 1);
  by[u].push_back(row);
}

Crossings Crossings::table(std::vector<Crossing> rows) {
  std::stable_sort(
      rows.begin(), rows.end(),
      [](const Crossing &a, const Crossing &b) { return a.name < b.name; });
  Crossings made;
  made.isChain_ = false;
  for (const Crossing &row : rows) {
    add(made.into_, row.to, row);
    add(made.outOf_, row.from, row);
    if (row.name.fits())
      made.poolCount_ = std::max<int>(
          made.poolCount_, row.name.number == 0
                               ? MTC_POOL_FIXED
                               : sendPool({true, row.name.number}) + 1);
  }
  made.rows_ = std::move(rows);
  return made;
}

static std::vector<Crossing>
ofDirection(const std::vector<std::vector<Crossing>> &by, int u,
            bool gradient) {
  std::vector<Crossing> found;
  if (u >= 0 && u < int(by.size()))
    for (const Crossing &row : by[u])
      if (row.name.gradient == gradient)
        found.push_back(row);
  return found;
}

std::vector<Crossing> Crossings::into(int u, bool gradient, int count) const {
  if (!isChain_)
    return ofDirection(into_, u, gradient);
  int from = gradient ? u + 1 : u - 1;
  if (std::min(u, from) < 0 || std::max(u, from) >= count)
    return {};
  return {{{gradient}, from, u, gradient ? gradientBytes_ : activationBytes_}};
}

std::vector<Crossing> Crossings::outOf(int u, bool gradient, int count) const {
  if (!isChain_)
    return ofDirection(outOf_, u, gradient);
  return into(gradient ? u - 1 : u + 1, gradient, count);
}

Findings Crossings::findings(int count) const {
  Findings found;
  std::set<std::tuple<CrossingName, int, bool>> ends;
  for (const Crossing &row : rows_) {
    auto report = [&](std::string message) {
      found.push_back(
          {"crossing", fmt::format("{} from {} to {}: {}", row.name.text(),
                                   row.from, row.to, message)});
    };
    auto [low, high] = std::minmax(row.from, row.to);
    if (low < 0 || high >= count)
      report(fmt::format("expected virtual stages 0 to {}", count - 1));
    if (row.name.gradient ? row.from <= row.to : row.from >= row.to)
      report(fmt::format("expected {} virtual stage to receive it",
                         row.name.gradient ? "an earlier" : "a later"));
    if (!row.name.fits())
      report(fmt::format("expected fewer than {} values of a direction at a "
                         "virtual stage",
                         CrossingName::kNumbers));
    if (!ends.insert({row.name, row.from, true}).second)
      report(fmt::format("virtual stage {} sends two values of this name, "
                         "expected one",
                         row.from));
    if (!ends.insert({row.name, row.to, false}).second)
      report(fmt::format("virtual stage {} receives two values of this name, "
                         "expected one",
                         row.to));
  }
  return found;
}

} // namespace mtc::schedules
