//===- generators.cpp - the named schedules -------------------------------===//
//
// In each list the backward (or weight gradient) of a chunk ascends in the
// microbatch: that order is the order of the sums, and so of the bits.
//
//===----------------------------------------------------------------------===//

#include "passes/pipeline/schedules/generators.h"

#include "passes/pipeline/schedules/closed_forms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mtc::schedules {
namespace {

Schedule emptySchedule(const Params &params) {
  Shape shape{params.p, params.m, params.v, Placement::Straight};
  return {shape, "", params.G, std::vector<std::vector<Slot>>(params.p)};
}

Schedule gpipe(const Params &params) {
  Schedule schedule = emptySchedule(params);
  for (std::vector<Slot> &line : schedule.slots)
    for (Phase phase : {Phase::F, Phase::B})
      for (int k = 0; k < params.m; ++k)
        line.push_back({phase, k, 0});
  return schedule;
}

/// Stage r runs `warmup` forwards, then one forward and one backward in turn.
Schedule inTurn(const Params &params, int (*warmup)(const Params &, int)) {
  Schedule schedule = emptySchedule(params);
  for (int r = 0; r < params.p; ++r) {
    std::vector<Slot> &line = schedule.slots[r];
    int w = warmup(params, r);
    for (int k = 0; k < w; ++k)
      line.push_back({Phase::F, k, 0});
    for (int k = 0; k < params.m; ++k) {
      if (w + k < params.m)
        line.push_back({Phase::F, w + k, 0});
      line.push_back({Phase::B, k, 0});
    }
  }
  return schedule;
}

Schedule oneForwardOneBackward(const Params &params) {
  return inTurn(params, forms::warmupOneForward);
}

/// Eager 1F1B of Zhuang et al., "On Optimizing the Communication of Model
/// Parallelism", MLSys 2023.
Schedule eager(const Params &params) {
  return inTurn(params, forms::warmupEager);
}

/// Order of (microbatch, chunk): groups of G microbatches go through all
/// chunks.
std::vector<Slot> interleavingTable(const Params &params) {
  std::vector<Slot> table;
  int group = params.G > 0 ? params.G : params.m;
  for (int first = 0; first < params.m; first += group)
    for (int c = 0; c < params.v; ++c)
      for (int k = first; k < std::min(first + group, params.m); ++k)
        table.push_back({Phase::F, k, c});
  return table;
}

Schedule interleaved(const Params &params) {
  Schedule schedule = emptySchedule(params);
  std::vector<Slot> table = interleavingTable(params);
  int n = static_cast<int>(table.size());
  auto backward = [&](int j) {
    return Slot{Phase::B, table[j].microbatch, params.v - 1 - table[j].chunk};
  };
  for (int r = 0; r < params.p; ++r) {
    std::vector<Slot> &line = schedule.slots[r];
    int w = forms::warmupInterleaved(params, r);
    line.assign(table.begin(), table.begin() + w);
    for (int j = 0; j < n; ++j) {
      if (w + j < n)
        line.push_back(table[w + j]);
      line.push_back(backward(j));
    }
  }
  return schedule;
}

/// Zero bubble H1: stage r delays the weight gradients by r microbatches.
Schedule zeroBubble(const Params &params) {
  Schedule schedule = emptySchedule(params);
  for (int r = 0; r < params.p; ++r) {
    std::vector<Slot> &line = schedule.slots[r];
    int w = forms::warmupOneForward(params, r);
    for (int k = 0; k < w; ++k)
      line.push_back({Phase::F, k, 0});
    for (int k = 0; k < params.m; ++k) {
      if (w + k < params.m)
        line.push_back({Phase::F, w + k, 0});
      line.push_back({Phase::I, k, 0});
      if (k >= r)
        line.push_back({Phase::W, k - r, 0});
    }
    for (int k = std::max(0, params.m - r); k < params.m; ++k)
      line.push_back({Phase::W, k, 0});
  }
  return schedule;
}

Schedule forwardOnly(const Params &params) {
  Schedule schedule = emptySchedule(params);
  std::vector<Slot> table = interleavingTable(params);
  std::fill(schedule.slots.begin(), schedule.slots.end(), table);
  return schedule;
}

/// Collects broken rules; every message starts with the fact found.
class Rules {
public:
  void want(bool holds, std::string message) {
    if (!holds)
      findings_.push_back({"parameters", std::move(message)});
  }
  /// Rules of every schedule. False when the others make no sense.
  bool sizes(const Params &params) {
    want(params.p >= 1,
         fmt::format("p={}: expected at least one stage", params.p));
    want(params.m >= 1,
         fmt::format("m={}: expected at least one microbatch", params.m));
    want(params.v >= 1, fmt::format("v={}: expected at least one chunk per "
                                    "stage",
                                    params.v));
    want(params.G >= 0, fmt::format("G={}: expected a group of at least one "
                                    "microbatch, or none",
                                    params.G));
    return findings_.empty();
  }
  Findings take() { return std::move(findings_); }

private:
  Findings findings_;
};

void wantOneChunk(Rules &rules, const Params &params) {
  rules.want(params.v == 1,
             fmt::format("v={}: this schedule has one chunk per stage, choose "
                         "v=1 or interleaved-1f1b",
                         params.v));
  rules.want(params.G == 0 || params.v > 1,
             fmt::format("G={}: only schedules with chunks have a microbatch "
                         "group, leave it out",
                         params.G));
}

/// Any p and m, one chunk.
Findings checkPlain(const Params &params) {
  Rules rules;
  if (rules.sizes(params))
    wantOneChunk(rules, params);
  return rules.take();
}

/// p >= 2, v >= 2, p <= G <= m, and m mod G is 0 or at least p: exactly the
/// settings that neither deadlock nor lengthen the bubble.
Findings checkInterleaved(const Params &params) {
  Rules rules;
  if (!rules.sizes(params))
    return rules.take();
  auto [p, m, v, G] = params;
  rules.want(p >= 2, fmt::format("p={} < 2: interleaving needs two stages", p));
  rules.want(v >= 2, fmt::format("v={} < 2: interleaving needs two chunks per "
                                 "stage, or choose 1f1b",
                                 v));
  if (v < 2) // groups are of chunks
    return rules.take();
  rules.want(G >= p, fmt::format("G={} < p={}: a group holds at least one "
                                 "microbatch per stage",
                                 G, p));
  rules.want(G <= m, fmt::format("G={} > m={}: a group holds at most all "
                                 "microbatches",
                                 G, m));
  int rest = G > 0 ? m % G : 0;
  rules.want(rest == 0 || rest >= p,
             fmt::format("m mod G = {} is neither 0 nor >= p={}: the last "
                         "group is too short, choose another m or G",
                         rest, p));
  return rules.take();
}

Findings checkForwardOnly(const Params &params) {
  Rules rules;
  if (!rules.sizes(params))
    return rules.take();
  if (params.v == 1)
    wantOneChunk(rules, params);
  else
    rules.want(params.G >= 1 && params.G <= params.m,
               fmt::format("G={}: expected a group of 1 to m={} microbatches "
                           "when v > 1",
                           params.G, params.m));
  return rules.take();
}

constexpr Generator registry[] = {
    {"gpipe", "all forwards, then all backwards: most activations held",
     Use::Training, gpipe, checkPlain, forms::warmupAll, forms::leadAll,
     forms::leadAll, forms::bubbleFill, forms::latencyGpipe},
    {"1f1b", "one forward, one backward in turn: at most p activations held",
     Use::Training, oneForwardOneBackward, checkPlain, forms::warmupOneForward,
     forms::leadOneForward, forms::leadOneForward, forms::bubbleFill,
     forms::latencyOneForward},
    {"eager-1f1b",
     "1f1b with forwards further ahead, which hides the latency of transfers: "
     "at most 2p-1 activations held",
     Use::Training, eager, checkPlain, forms::warmupEager, forms::leadEager,
     forms::leadEager, forms::bubbleFill, forms::latencyEager},
    {"interleaved-1f1b",
     "1f1b over v chunks of layers a stage: the bubble is v times smaller",
     Use::Training, interleaved, checkInterleaved, forms::warmupInterleaved,
     forms::leadInterleaved, forms::leadInterleaved, forms::bubbleFill,
     forms::latencyInterleaved},
    {"zb-h1", "1f1b whose weight gradients fill the bubble", Use::Training,
     zeroBubble, checkPlain, forms::warmupOneForward, forms::leadOneForward,
     forms::leadOneForward, forms::bubbleZeroBubble, forms::latencyZeroBubble},
    {"forward-only", "forwards alone, for the eval entry", Use::Evaluation,
     forwardOnly, checkForwardOnly, forms::warmupAll, forms::leadAll,
     forms::leadAll, forms::bubbleForward, forms::latencyForward},
};

std::string join(const std::vector<std::string_view> &names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace

std::span<const Generator> generators() { return registry; }

int defaultGroup(const Params &params) { return params.v > 1 ? params.p : 0; }

const Generator *findGenerator(std::string_view name) {
  for (const Generator &generator : registry)
    if (generator.name == name)
      return &generator;
  return nullptr;
}

std::vector<std::string_view> trainingNames() {
  std::vector<std::string_view> names;
  for (const Generator &row : registry)
    if (row.use == Use::Training)
      names.push_back(row.name);
  return names;
}

std::string trainingScheduleError(std::string_view name) {
  const Generator *row = findGenerator(name);
  if (row && row->use == Use::Training)
    return "";
  std::string why = !row ? "is unknown" : "has no backwards";
  return fmt::format("schedule '{}' {}, expected one of {}", name, why,
                     join(trainingNames()));
}

std::optional<Schedule> generate(std::string_view name, const Params &params,
                                 Findings &findings) {
  const Generator *generator = findGenerator(name);
  if (!generator) {
    std::vector<std::string_view> known;
    for (const Generator &row : registry)
      known.push_back(row.name);
    findings.push_back(
        {"parameters", fmt::format("schedule '{}' is unknown, expected one of "
                                   "{}",
                                   name, join(known))});
    return std::nullopt;
  }
  Findings broken = generator->check(params);
  findings.insert(findings.end(), broken.begin(), broken.end());
  if (!broken.empty())
    return std::nullopt;
  Schedule schedule = generator->generate(params);
  schedule.name = generator->name;
  return schedule;
}

} // namespace mtc::schedules
