//===- stage_table.cpp - the ops of one stage beside their limits ---------===//

#include "runtime/profile/stage_table.h"

#include "runtime/base/part_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace mtc::runtime {
namespace {

constexpr const char *kData = "data", *kExchanges = "exchanges",
                     *kInFragments = "in fragments, beside ops",
                     *kBetween = "between rows";
constexpr const char *kFamilies[] = {"products",
                                     "attention forward",
                                     "attention backward",
                                     "packing",
                                     "kernels",
                                     "update",
                                     "gradient norm",
                                     "clearing",
                                     "collectives",
                                     "waits for collectives",
                                     kExchanges,
                                     kData,
                                     kInFragments,
                                     kBetween};

const char *familyOf(const ExplainedWork &work, bool update) {
  if (work.op == "gemm")
    return "products";
  if (work.op == "attention")
    return work.name.starts_with("backward") ? "attention backward"
                                             : "attention forward";
  if (work.op == "pack")
    return "packing";
  if (work.op == "norm")
    return "gradient norm";
  if (work.op == "zero")
    return "clearing";
  if (work.op == "collective")
    return "collectives";
  if (work.op == "wait")
    return "waits for collectives";
  return update ? "update" : "kernels";
}

/// The least time of one call. A byte that goes to another rank is read and
/// written.
double floorOf(const ExplainedWork &work, const MachineLimits &limits) {
  return std::max({work.flops / limits.flops(work.factors),
                   work.bytes / limits.copy, 2 * work.linkBytes / limits.copy});
}

double steps(const RankProfile &rank) {
  return static_cast<double>(rank.seconds.size());
}
/// A mean step's, in seconds.
double secondsOf(const TimedCalls &calls, const RankProfile &rank) {
  return 1e-9 * static_cast<double>(calls.nanoseconds) / steps(rank);
}
double besideOf(const TimedCalls &calls, const RankProfile &rank) {
  return 1e-9 * static_cast<double>(calls.beside) / steps(rank);
}
double callsOf(const TimedCalls &calls, const RankProfile &rank) {
  return static_cast<double>(calls.calls) / steps(rank);
}

/// What never ran has no times.
TimedCalls opOf(const RankProfile &rank, int64_t fragment, size_t op) {
  auto at = static_cast<size_t>(fragment);
  bool ran = at < rank.ops.size() && op < rank.ops[at].size();
  return ran ? rank.ops[at][op] : TimedCalls();
}
TimedCalls fragmentOf(const RankProfile &rank, size_t at) {
  return at < rank.fragments.size() ? rank.fragments[at] : TimedCalls();
}

Json rowJson(const ProfiledRow &row) {
  Json json = {{"family", row.family},
               {"op", row.work.op},
               {"name", row.work.name},
               {"part", row.part},
               {"row", nullptr},
               {"stream", row.work.stream},
               {"calls", row.calls},
               {"flops", row.flops},
               {"bytes", row.bytes},
               {"link_bytes", row.linkBytes},
               {"floor_seconds", row.floor},
               {"seconds", spread(row.seconds)}};
  if (row.work.row)
    json["row"] = *row.work.row;
  if (row.work.stream == MTC_STREAM_COMM)
    json["seconds_beside"] = row.beside;
  return json;
}

Json opJson(const ProfiledOp &op) {
  return {{"fragment", op.fragment}, {"op", op.index},
          {"row", op.row},           {"part", op.part},
          {"calls", op.calls},       {"seconds", spread(op.seconds)}};
}

} // namespace

std::span<const char *const> profileFamilies() { return kFamilies; }

double meanOf(const OfRanks &all) {
  return std::accumulate(all.begin(), all.end(), 0.0) /
         static_cast<double>(std::max<size_t>(all.size(), 1));
}

Json spread(const OfRanks &all) {
  return {{"least", std::ranges::min(all)},
          {"mean", meanOf(all)},
          {"largest", std::ranges::max(all)}};
}

void add(OfRanks &to, const OfRanks &more) {
  for (size_t i = 0; i < to.size(); ++i)
    to[i] += more[i];
}

StageTable::StageTable(const ProfileParts &parts, int64_t stage)
    : parts_(parts), stage_(stage),
      explained_(parts.stages[static_cast<size_t>(stage)]),
      program_(parts.bundle.stages[static_cast<size_t>(stage)].descriptor) {
  for (size_t i = 0; i < parts.ranks.size(); ++i)
    if (parts.bundle.mesh.coordinate(static_cast<int>(i), MTC_AXIS_PP) == stage)
      ranks_.push_back(&parts.ranks[i]);
}

Status StageTable::fill() {
  for (const TimedFragment &fragment : explained_.timed)
    for (size_t i = 0; i < fragment.work.size(); ++i)
      addOp(fragment, i);
  for (const RankProfile *rank : ranks_)
    MTC_RETURN_IF_ERROR(checkOps(*rank));
  addTimelineRow(kExchanges, "exchange", MTC_STEP_EXCHANGE);
  addTimelineRow(kExchanges, "post", MTC_STEP_POST);
  addTimelineRow(kExchanges, "wait", MTC_STEP_WAIT);
  addTimelineRow(kData, "load", MTC_STEP_LOAD);
  addRests();
  return Status::okay();
}

double StageTable::floor() const {
  double sum = 0;
  for (const ProfiledRow &row : rows_)
    sum += row.floor;
  return sum;
}

void StageTable::addOp(const TimedFragment &fragment, size_t index) {
  const ExplainedWork &work =
      explained_.work[static_cast<size_t>(fragment.work[index])];
  ProfiledOp op;
  op.fragment = fragment.index;
  op.index = static_cast<int64_t>(index);
  op.part = explained_.parts[static_cast<size_t>(fragment.parts[index])];
  OfRanks calls, beside;
  for (const RankProfile *rank : ranks_) {
    TimedCalls found = opOf(*rank, fragment.index, index);
    op.seconds.push_back(secondsOf(found, *rank));
    calls.push_back(callsOf(found, *rank));
    beside.push_back(besideOf(found, *rank));
  }
  op.calls = meanOf(calls);
  ProfiledRow &row = rowOf(familyOf(work, fragment.update), work, op);
  row.calls += op.calls;
  row.flops += op.calls * work.flops;
  row.bytes += op.calls * work.bytes;
  row.linkBytes += op.calls * work.linkBytes;
  // What runs beside takes no time of the thread that computes but its issue.
  if (work.stream != MTC_STREAM_COMM)
    row.floor += op.calls * floorOf(work, parts_.limits);
  row.beside += meanOf(beside);
  add(row.seconds, op.seconds);
  ops_.push_back(std::move(op));
}

ProfiledRow &StageTable::rowOf(const char *family, const ExplainedWork &work,
                               ProfiledOp &op) {
  auto key = std::tuple(std::string(family), work.op, work.name, work.stream,
                        work.row.value_or(-1));
  auto [at, isNew] = known_.try_emplace(key, rows_.size());
  op.row = at->second;
  if (isNew) {
    ProfiledRow &made = rows_.emplace_back();
    made.family = family;
    made.work = work;
    made.part = op.part;
    made.seconds.resize(ranks_.size());
  }
  ProfiledRow &row = rows_[op.row];
  row.part = commonPart(row.part, op.part);
  return row;
}

Status StageTable::checkOps(const RankProfile &rank) const {
  for (size_t i = 0; i < rank.ops.size(); ++i) {
    size_t planned = 0;
    for (const TimedFragment &fragment : explained_.timed)
      if (fragment.index == static_cast<int64_t>(i))
        planned = fragment.work.size();
    if (!rank.ops[i].empty() && rank.ops[i].size() != planned)
      return {StatusCode::inputRejected,
              fmt::format("stage {}: fragment {} ran {} ops that take time, "
                          "expected {} by explain.json; compile the bundle "
                          "again",
                          stage_, i, rank.ops[i].size(), planned)};
  }
  return Status::okay();
}

void StageTable::addTimelineRow(const char *family, const char *op,
                                MtcStepKind kind) {
  ProfiledRow row;
  row.family = family;
  row.work.op = op;
  OfRanks calls;
  for (const RankProfile *rank : ranks_) {
    calls.push_back(callsOf(rank->rows[kind], *rank));
    row.seconds.push_back(secondsOf(rank->rows[kind], *rank));
  }
  row.calls = meanOf(calls);
  if (row.calls > 0)
    rows_.push_back(std::move(row));
}

void StageTable::addRests() {
  ProfiledRow inFragments, between;
  inFragments.family = kInFragments;
  between.family = kBetween;
  for (const RankProfile *rank : ranks_) {
    double inside = secondsOf(rank->rows[MTC_STEP_RUN], *rank);
    for (const std::vector<TimedCalls> &fragment : rank->ops)
      for (const TimedCalls &op : fragment)
        inside -= secondsOf(op, *rank);
    double outside = meanOf(rank->seconds);
    for (const TimedCalls &row : rank->rows)
      outside -= secondsOf(row, *rank);
    inFragments.seconds.push_back(inside);
    between.seconds.push_back(outside);
  }
  rows_.push_back(std::move(inFragments));
  rows_.push_back(std::move(between));
}

Json StageTable::fragmentJson(size_t index) const {
  OfRanks seconds, calls;
  for (const RankProfile *rank : ranks_) {
    TimedCalls found = fragmentOf(*rank, index);
    seconds.push_back(secondsOf(found, *rank));
    calls.push_back(callsOf(found, *rank));
  }
  return {{"index", index},
          {"name", program_.fragments[index]},
          {"calls", meanOf(calls)},
          {"seconds", spread(seconds)}};
}

Json StageTable::toJson() const {
  Json json = {{"stage", stage_},          {"ranks", ranks_.size()},
               {"floor_seconds", floor()}, {"fragments", Json::array()},
               {"rows", Json::array()},    {"ops", Json::array()}};
  for (size_t i = 0; i < program_.fragments.size(); ++i)
    json["fragments"].push_back(fragmentJson(i));
  for (const ProfiledRow &row : rows_)
    json["rows"].push_back(rowJson(row));
  for (const ProfiledOp &op : ops_)
    json["ops"].push_back(opJson(op));
  return json;
}

} // namespace mtc::runtime
