//===- validate_stages.cpp - does each layer have a stage -----------------===//
//
// Three ways to say how many layers each stage has, and the rules of each: a
// list of them; the ends or costs, from which the rest follows; or nothing, for
// as many layers each. `checkStages` chooses.
//
//===----------------------------------------------------------------------===//

#include "models/validate_stages.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/nearest.h"
#include "models/stages.h"

namespace mtc::models {

/// What the rules below count: without chunks a stage is one virtual stage.
static std::string stagesWord(const Strategy &strategy) {
  return strategy.chunks == 1 ? "pp" : "pp * chunks";
}

static std::string stagesText(const Strategy &strategy) {
  std::string text = fmt::format("pp = {}", strategy.mesh.stages());
  return strategy.chunks == 1
             ? text
             : text + fmt::format(", chunks = {}", strategy.chunks);
}

static std::string sizesText(const ModelSpec &spec, const Strategy &strategy) {
  return fmt::format("layers = {}, {}", spec.layers, stagesText(strategy));
}

/// As many as the tags of transfers can tell apart.
static void checkMostStages(const Strategy &strategy,
                            std::vector<Violation> &out) {
  int64_t pp = strategy.mesh.stages();
  constexpr int64_t most = Mesh::kMostVirtualStages;
  if (strategy.virtualStages() <= most)
    return;
  std::string nearest = fmt::format("pp = {}", most / strategy.chunks);
  if (strategy.chunks > 1 && pp <= most)
    nearest += fmt::format(", or chunks = {}", most / pp);
  out.push_back({fmt::format("{} <= {}", stagesWord(strategy), most),
                 stagesText(strategy), nearest});
}

//===--- a list -----------------------------------------------------------===//

/// The most even list of `layers` over `stages`, for a suggestion.
static std::string evenList(int64_t layers, int64_t stages) {
  // A long list helps nobody.
  if (stages > 64)
    return "";
  return fmt::format("layers_per_stage = [{}]",
                     fmt::join(evenStages(layers, stages), ", "));
}

/// Only the first virtual stage, which has the embedding, and the last, which
/// has the head, have something to do without a layer.
static void checkStagesWithoutLayers(const Strategy &strategy,
                                     std::vector<Violation> &out) {
  const std::vector<int64_t> &stages = strategy.layersPerStage;
  constexpr int kShown = 8; // a long list helps nobody
  std::string empty;
  int count = 0;
  for (size_t u = 1; u + 1 < stages.size() && count <= kShown; ++u)
    if (stages[u] == 0)
      empty += ++count > kShown
                   ? ", ..."
                   : fmt::format("{}{}", empty.empty() ? "" : ", ", u);
  if (!empty.empty())
    out.push_back({"layers_per_stage[i] >= 1 but for the first and the last",
                   fmt::format("0 layers for i = {}", empty),
                   "layers_per_stage[i] = 1"});
}

static void checkListedStages(const ModelSpec &spec, const Strategy &strategy,
                              std::vector<Violation> &out) {
  const std::vector<int64_t> &stages = strategy.layersPerStage;
  int64_t wanted = strategy.virtualStages();
  int64_t sum = std::accumulate(stages.begin(), stages.end(), int64_t{0});
  int64_t length = static_cast<int64_t>(stages.size());
  std::string even = spec.layers >= wanted ? evenList(spec.layers, wanted) : "";
  if (length != wanted) {
    std::string nearest = even;
    if (strategy.chunks == 1 || length % strategy.chunks == 0)
      nearest = fmt::format("pp = {}{}{}", length / strategy.chunks,
                            even.empty() ? "" : ", or ", even);
    out.push_back(
        {fmt::format("layers_per_stage has {} entries", stagesWord(strategy)),
         fmt::format("{} entries, {}", length, stagesText(strategy)), nearest});
  }
  if (sum != spec.layers)
    out.push_back({"the sum of layers_per_stage == layers",
                   fmt::format("a sum of {}, layers = {}", sum, spec.layers),
                   even.empty() ? fmt::format("pp = {}", spec.layers) : even});
  checkStagesWithoutLayers(strategy, out);
}

//===--- ends, or costs ---------------------------------------------------===//

/// Whether some list of stages has all layers, see stageLimits.
static bool fits(int64_t layers, const Strategy &strategy) {
  int64_t stages = strategy.virtualStages();
  std::optional<int64_t> first = strategy.firstStageLayers,
                         last = strategy.lastStageLayers;
  if (stages == 1)
    return last.value_or(first.value_or(layers)) == layers;
  int64_t between = stages - 2;
  int64_t least = first.value_or(0) + last.value_or(0) + between;
  int64_t most =
      first.value_or(layers) + last.value_or(layers) + between * layers;
  return least <= layers && layers <= most;
}

namespace {
/// Stages of which the ends are given, or whose numbers follow from costs.
struct GivenStages {
  GivenStages(int64_t layers, const Strategy &strategy)
      : shares(!strategy.balancedStages),
        given(strategy.firstStageLayers.value_or(0) +
              strategy.lastStageLayers.value_or(0)),
        open(strategy.virtualStages() - strategy.firstStageLayers.has_value() -
             strategy.lastStageLayers.has_value()),
        rest(layers - given),
        hasRoom(fits(layers, strategy) && open >= 0 &&
                !(shares && rest < open) && !(open == 0 && rest != 0)) {}

  bool divides() const { return !shares || open <= 0 || rest % open == 0; }

  bool shares;   ///< the stages between the ends have as many layers each
  int64_t given; ///< layers of the ends
  int64_t open;  ///< virtual stages whose layers are not given
  int64_t rest;  ///< layers of these
  bool hasRoom;  ///< for each of them, and for each layer
};

/// Looks for values of single keys with which all layers have a stage.
class NearestStages {
public:
  NearestStages(const ModelSpec &spec, const Strategy &strategy)
      : layers(spec.layers), strategy(strategy) {}

  /// "pp = 6, or first_stage_layers = 2 or 3", then `last`; empty: one key does
  /// not do.
  std::string text(std::string_view last = "") {
    add(axisName(MTC_AXIS_PP), 1, layers + 2, strategy.mesh.stages(),
        [](Strategy &s, int64_t pp) { s.mesh[MTC_AXIS_PP] = pp; });
    addEnd("first_stage_layers", &Strategy::firstStageLayers);
    addEnd("last_stage_layers", &Strategy::lastStageLayers);
    if (!last.empty())
      append(std::string(last));
    return found;
  }

private:
  void addEnd(std::string_view key, std::optional<int64_t> Strategy::*end) {
    if (strategy.*end)
      add(key, 0, layers, *(strategy.*end),
          [=](Strategy &s, int64_t value) { s.*end = value; });
  }

  /// The nearest values in [least, most] below and above `own`.
  template <typename Set>
  void add(std::string_view key, int64_t least, int64_t most, int64_t own,
           Set set) {
    Strategy changed = strategy;
    auto holds = [&](int64_t value) {
      set(changed, value);
      GivenStages stages(layers, changed);
      return stages.hasRoom && stages.divides();
    };
    std::vector<int64_t> values;
    int64_t below = std::min(own - 1, most), above = std::max(own + 1, least);
    while (below >= least && !holds(below))
      --below;
    if (below >= least)
      values.push_back(below);
    while (above <= most && !holds(above))
      ++above;
    if (above <= most)
      values.push_back(above);
    if (!values.empty())
      append(fmt::format("{} = {}", key, joinOr(values)));
  }

  void append(const std::string &text) {
    found += (found.empty() ? "" : ", or ") + text;
  }

  int64_t layers;
  const Strategy &strategy;
  std::string found;
};
} // namespace

static void checkGivenStages(const ModelSpec &spec, const Strategy &strategy,
                             std::vector<Violation> &out) {
  GivenStages stages(spec.layers, strategy);
  if (strategy.chunks > 1 && stages.shares)
    return out.push_back(
        {"chunks == 1 with first_stage_layers or last_stage_layers",
         fmt::format("chunks = {}", strategy.chunks),
         "layers_per_stage, as a list or balanced"});
  if (!stages.hasRoom)
    return out.push_back(
        {"a layer for each stage between the ends, and a stage for each layer",
         fmt::format("{}, {} of them given to the ends",
                     sizesText(spec, strategy), stages.given),
         NearestStages(spec, strategy).text()});
  if (!stages.divides())
    out.push_back(
        {"(layers - first_stage_layers - last_stage_layers) % the other stages "
         "== 0",
         fmt::format("{} layers for {} stages", stages.rest, stages.open),
         NearestStages(spec, strategy).text("layers_per_stage = balanced")});
}

//===--- as many layers each ----------------------------------------------===//

static Violation tooFewLayers(const ModelSpec &spec, const Strategy &strategy) {
  std::string nearest = fmt::format("pp = {}", spec.layers);
  if (strategy.chunks > 1)
    nearest =
        fmt::format("pp = {}, or chunks = {}",
                    std::max<int64_t>(spec.layers / strategy.chunks, 1),
                    std::max<int64_t>(spec.layers / strategy.mesh.stages(), 1));
  return {fmt::format("layers >= {}", stagesWord(strategy)),
          sizesText(spec, strategy), nearest};
}

/// Values of one key with which stages have as many layers each; empty: there
/// are none.
static std::string nearestEqual(const ModelSpec &spec,
                                const Strategy &strategy) {
  int64_t pp = strategy.mesh.stages();
  if (strategy.chunks == 1)
    return fmt::format("pp = {}", joinOr(nearestDivisors(spec.layers, pp)));
  if (spec.layers % pp != 0)
    return "";
  return fmt::format("chunks = {}", joinOr(nearestDivisors(spec.layers / pp,
                                                           strategy.chunks)));
}

static Violation unequalStages(const ModelSpec &spec,
                               const Strategy &strategy) {
  std::string nearest = nearestEqual(spec, strategy),
              list = evenList(spec.layers, strategy.virtualStages());
  if (!list.empty())
    nearest += (nearest.empty() ? "" : ", or ") + list;
  return {fmt::format("layers % {} == 0 without layers_per_stage",
                      strategy.chunks == 1 ? "pp" : "(pp * chunks)"),
          sizesText(spec, strategy), nearest};
}

//===--- all of them ------------------------------------------------------===//

static bool hasEnds(const Strategy &strategy) {
  return strategy.firstStageLayers || strategy.lastStageLayers;
}

void checkStages(const ModelSpec &spec, const Strategy &strategy,
                 std::vector<Violation> &out) {
  checkMostStages(strategy, out);
  if (!strategy.layersPerStage.empty()) {
    if (hasEnds(strategy))
      out.push_back({"first_stage_layers and last_stage_layers, or a list",
                     "layers_per_stage, a list, and one of them",
                     "layers_per_stage alone"});
    return checkListedStages(spec, strategy, out);
  }
  if (hasEnds(strategy) || strategy.balancedStages)
    return checkGivenStages(spec, strategy, out);
  if (spec.layers < strategy.virtualStages())
    out.push_back(tooFewLayers(spec, strategy));
  else if (spec.layers % strategy.virtualStages() != 0)
    out.push_back(unequalStages(spec, strategy));
}

/// As layersOfStages shares out what the ends leave.
static int64_t mostBetweenEnds(int64_t layers, const Strategy &strategy) {
  GivenStages stages(layers, strategy);
  return stages.open <= 0
             ? 0
             : stages.rest / stages.open + (stages.rest % stages.open > 0);
}

int64_t mostLayers(const ModelSpec &spec, const Strategy &strategy) {
  auto stages = static_cast<size_t>(strategy.mesh.stages());
  if (strategy.balancedStages || (hasEnds(strategy) && strategy.chunks > 1))
    return spec.layers; // nobody knows yet, or ever: another rule says so
  if (hasEnds(strategy))
    return std::max({strategy.firstStageLayers.value_or(0),
                     strategy.lastStageLayers.value_or(0),
                     mostBetweenEnds(spec.layers, strategy)});
  if (strategy.layersPerStage.empty())
    return (spec.layers + strategy.mesh.stages() - 1) / strategy.mesh.stages();
  std::vector<int64_t> layers(stages);
  for (size_t u = 0; u < strategy.layersPerStage.size(); ++u)
    layers[u % stages] += strategy.layersPerStage[u];
  return *std::max_element(layers.begin(), layers.end());
}

} // namespace mtc::models
