//===- hosts.cpp - what moves inside hosts and between them ---------------===//

#include "compiler/hosts.h"

#include "compiler/traffic.h"
#include "runtime/base/number_text.h"

#include <numeric>

#include <fmt/format.h>

namespace mtc::compiler {
namespace {

using Json = nlohmann::ordered_json;

struct Bytes {
  double within = 0, between = 0;
};

/// Of all groups of a name.
struct Kind {
  int64_t count = 0, crossing = 0;
  std::map<std::string, Bytes> kinds;
};

class Hosts {
public:
  explicit Hosts(const BundlePlan &plan)
      : mesh(plan.config.mesh), own(*plan.config.ranksPerHost) {
    for (const ProgramPlan &program : plan.programs)
      traffic.push_back(trafficOfStep(program));
  }

  Json run() {
    Json groups = Json::object();
    for (const GroupInfo &info : kGroups)
      if (mesh.groupSize(info.id) > 1)
        groups[std::string(info.name)] = toJson(collectives(info));
    if (mesh.stages() > 1)
      groups[std::string(axisName(MTC_AXIS_PP))] = toJson(sends());
    return {{"ranks_per_host", own},
            {"hosts", (mesh.worldSize() + own - 1) / own},
            {"groups", groups},
            {"warnings", warnings(groups)}};
  }

private:
  int64_t hostOf(int64_t rank) const { return rank / own; }
  const StepTraffic &trafficOf(int64_t rank) const {
    return traffic[mesh.coordinate(rank, MTC_AXIS_PP)];
  }

  Kind collectives(const GroupInfo &info) const {
    Kind result;
    for (int64_t rank = 0; rank < mesh.worldSize(); ++rank) {
      std::vector<int> members = mesh.members(rank, info.id);
      if (members.size() < 2 || members.front() != rank)
        continue;
      ++result.count;
      size_t edges = crossingEdges(members);
      result.crossing += edges > 0;
      auto calls = trafficOf(rank).groups.find(std::string(info.name));
      if (calls != trafficOf(rank).groups.end())
        for (const auto &[kind, part] : calls->second.kinds)
          addRing(members.size(), edges, part.ringBytes, result.kinds[kind]);
    }
    return result;
  }

  size_t crossingEdges(const std::vector<int> &members) const {
    size_t edges = 0;
    for (size_t i = 0; i < members.size(); ++i)
      edges += hostOf(members[i]) != hostOf(members[(i + 1) % members.size()]);
    return edges;
  }

  static void addRing(size_t members, size_t crossing, int64_t ringBytes,
                      Bytes &sum) {
    auto size = static_cast<double>(members);
    double edge = static_cast<double>(ringBytes) * (size - 1) / size;
    sum.between += edge * static_cast<double>(crossing);
    sum.within += edge * static_cast<double>(members - crossing);
  }

  /// Every rank with the next stage of its own pipeline.
  Kind sends() const {
    Kind result;
    for (int64_t rank = 0; rank < mesh.worldSize(); ++rank) {
      int64_t stage = mesh.coordinate(rank, MTC_AXIS_PP);
      if (stage == 0) {
        ++result.count;
        bool crosses = false;
        for (int64_t s = 1; s < mesh.stages(); ++s)
          crosses |= hostOf(mesh.moved(rank, MTC_AXIS_PP, s)) !=
                     hostOf(mesh.moved(rank, MTC_AXIS_PP, s - 1));
        result.crossing += crosses;
      }
      for (const auto &[peer, part] : traffic[stage].sendsTo) {
        bool isNear =
            hostOf(mesh.moved(rank, MTC_AXIS_PP, peer)) == hostOf(rank);
        Bytes &sum = result.kinds["send"];
        (isNear ? sum.within : sum.between) += static_cast<double>(part.bytes);
      }
    }
    return result;
  }

  static Json toJson(const Kind &kind) {
    Json json = {{"groups", kind.count},
                 {"crossing", kind.crossing},
                 {"crosses_hosts", kind.crossing > 0},
                 {"kinds", Json::object()}};
    for (const auto &[name, bytes] : kind.kinds)
      json["kinds"][name] = {
          {"within_bytes", static_cast<int64_t>(bytes.within)},
          {"between_bytes", static_cast<int64_t>(bytes.between)}};
    return json;
  }

  Json warnings(const Json &groups) const {
    Json result = Json::array();
    std::string tp(axisName(MTC_AXIS_TP));
    if (!groups.contains(tp) || groups[tp]["crossing"] == 0)
      return result;
    int64_t fits = std::gcd(mesh[MTC_AXIS_TP], own);
    result.push_back(fmt::format(
        "tp groups cross hosts: each layer waits for several collectives over "
        "tp, so tp = {} should divide ranks_per_host = {}; take tp = {} and "
        "more pp or dp, or hosts of {} ranks",
        mesh[MTC_AXIS_TP], own, fits, std::lcm(mesh[MTC_AXIS_TP], own)));
    return result;
  }

  const Mesh &mesh;
  int64_t own; ///< ranks of a host
  std::vector<StepTraffic> traffic;
};

} // namespace

Json hostsReport(const BundlePlan &plan) { return Hosts(plan).run(); }

std::string hostsText(const Json &hosts) {
  std::string text = fmt::format("hosts          {} of {} ranks\n",
                                 hosts["hosts"].get<int64_t>(),
                                 hosts["ranks_per_host"].get<int64_t>());
  for (const auto &[name, group] : hosts["groups"].items()) {
    text += fmt::format("  {:<12} {} of {} groups cross hosts\n", name,
                        group["crossing"].get<int64_t>(),
                        group["groups"].get<int64_t>());
    for (const auto &[kind, bytes] : group["kinds"].items())
      text += fmt::format(
          "    {:<16} {:>10} a step inside hosts, {} between "
          "them\n",
          kind, runtime::sized(bytes["within_bytes"].get<int64_t>()),
          runtime::sized(bytes["between_bytes"].get<int64_t>()));
  }
  for (const auto &warning : hosts["warnings"])
    text += fmt::format("warning: {}\n", warning.get<std::string>());
  return text;
}

} // namespace mtc::compiler
