//===- record_file.cpp - flight records as JSON ---------------------------===//

#include "runtime/base/json.h"
#include "runtime/flight/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace mtc::runtime {
namespace {

bool isRow(FlightKind kind) { return kind < FlightKind::collective; }

/// Adds to times of a host's own clock to make them those of the epoch.
int64_t epochOffset(int64_t now) {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch())
             .count() -
         now;
}

std::string rankList(const std::vector<int> &ranks) {
  return fmt::format("[{}]", fmt::join(ranks, ", "));
}

const char *stateOf(const FlightOp &op) {
  return op.completed ? "completed" : op.started ? "started" : "scheduled";
}

class Writer {
public:
  explicit Writer(const FlightRecord &record)
      : record_(record), offset_(epochOffset(record.taken)) {}

  Json json() {
    Json entries = Json::array(), rows = Json::array();
    for (const FlightOp &op : record_.operations)
      (isRow(op.kind) ? rows : entries).push_back(entry(op));
    return {{"version", "mtc 1"},
            {"rank", record_.rank},
            {"model", record_.model},
            {"plan_hash", record_.planHash},
            {"ended", record_.ended},
            {"dead", record_.dead},
            {"stopped", record_.stopped},
            {"time_taken_ns", record_.taken + offset_},
            {"pg_config", groups()},
            {"pg_status", status()},
            {"entries", std::move(entries)},
            {"rows", std::move(rows)}};
  }

private:
  Json time(int64_t ns) const {
    return ns ? Json(ns + offset_) : Json(nullptr);
  }

  Json groups() const {
    Json all = Json::object();
    for (const auto &[name, ranks] : record_.groups)
      all[name] = {{"name", name}, {"desc", name}, {"ranks", rankList(ranks)}};
    return all;
  }

  Json status() const {
    Json all = Json::object();
    for (const auto &[name, ranks] : record_.groups) {
      uint64_t started = 0, completed = 0;
      for (const FlightOp &op : record_.operations)
        if (op.kind == FlightKind::collective && op.group == name) {
          started = std::max(started, op.sequence);
          if (op.completed)
            completed = std::max(completed, op.sequence);
        }
      all[name] = {{"last_started_collective", started},
                   {"last_completed_collective", completed}};
    }
    return all;
  }

  Json entry(const FlightOp &op) const {
    bool isCollective = op.kind == FlightKind::collective;
    Json json = {{"record_id", op.number},
                 {"profiling_name", textOf(op)},
                 {"state", stateOf(op)},
                 {"time_created_ns", time(op.created)},
                 {"time_discovered_started_ns", time(op.started)},
                 {"time_discovered_completed_ns", time(op.completed)},
                 {"retired", op.completed != 0},
                 {"mtc", own(op)}};
    if (isRow(op.kind))
      return json;
    json["pg_id"] = isCollective ? op.group : "p2p";
    json["process_group"] = {isCollective ? op.group : "p2p", ""};
    json["collective_seq_id"] = isCollective ? op.sequence : 0;
    json["p2p_seq_id"] = isCollective ? 0 : op.sequence;
    json["op_id"] = op.number;
    json["is_p2p"] = !isCollective;
    Json sizes = {isCollective ? Json{op.count} : Json{op.bytes}};
    json["input_sizes"] = json["output_sizes"] = sizes;
    json["input_dtypes"] =
        json["output_dtypes"] = {isCollective ? op.dtype : "Byte"};
    return json;
  }

  static Json own(const FlightOp &op) {
    return {{"kind", kFlightKinds[size_t(op.kind)].name},
            {"group", op.group},
            {"call", op.call},
            {"dtype", op.dtype},
            {"count", op.count},
            {"sequence", op.sequence},
            {"peer", op.peer},
            {"bytes", op.bytes},
            {"step", op.step},
            {"row", op.row},
            {"index", op.index},
            {"microbatch", op.microbatch},
            {"fragment", op.fragment},
            {"part", op.part}};
  }

  const FlightRecord &record_;
  int64_t offset_;
};

FlightKind readKind(FieldReader &in) {
  std::string name = in.line("kind");
  for (const FlightKindInfo &kind : kFlightKinds)
    if (kind.name == name)
      return kind.id;
  in.problem(
      fmt::format("'kind': expected one of operations, found '{}'", name));
  return FlightKind::fragment;
}

FlightOp readOp(FieldReader &entry) {
  auto time = [&](const char *key) {
    return entry.integerOrNull(key, 0, INT64_MAX).value_or(0);
  };
  FieldReader in = entry.object("mtc");
  FlightOp op;
  op.number = static_cast<uint64_t>(entry.integer("record_id", 1, INT64_MAX));
  op.created = time("time_created_ns");
  op.started = time("time_discovered_started_ns");
  op.completed = time("time_discovered_completed_ns");
  op.kind = readKind(in);
  op.group = in.line("group");
  op.call = in.line("call");
  op.dtype = in.line("dtype");
  op.count = in.integer("count", 0, INT64_MAX);
  op.sequence = static_cast<uint64_t>(in.integer("sequence", 0, INT64_MAX));
  op.peer = static_cast<int>(in.integer("peer", -1, INT32_MAX));
  op.bytes = in.integer("bytes", 0, INT64_MAX);
  op.step = in.integer("step", 0, INT64_MAX);
  op.row = in.integer("row", -1, INT64_MAX);
  op.index = in.integer("index", -1, INT64_MAX);
  op.microbatch = in.integer("microbatch", -1, INT64_MAX);
  op.fragment = in.line("fragment");
  op.part = in.line("part");
  return op;
}

/// "[0, 2]".
std::vector<int> readRanks(FieldReader &in) {
  std::string text = in.line("ranks");
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::vector<int> ranks;
  bool isList = json.is_array();
  for (size_t i = 0; isList && i < json.size(); ++i) {
    isList =
        json[i].is_number_unsigned() && json[i].get<uint64_t>() < (1 << 24);
    ranks.push_back(isList ? json[i].get<int>() : 0);
  }
  if (!isList)
    in.problem(
        fmt::format("'ranks': expected a list of ranks, found '{}'", text));
  return ranks;
}

} // namespace

std::string textOf(const FlightRecord &record) {
  return Writer(record).json().dump(1, ' ', false,
                                    Json::error_handler_t::replace) +
         "\n";
}

Status parseFlightRecord(std::string_view text, const std::string &path,
                         FlightRecord &out) {
  Json json;
  MTC_RETURN_IF_ERROR(parseJson(text, "'" + path + "'", json));
  Problems problems;
  FieldReader reader(json, "", problems);
  FlightRecord record;
  if (std::string version = reader.line("version"); version != "mtc 1")
    reader.problem(
        fmt::format("'version': expected 'mtc 1', found '{}'", version));
  record.rank = static_cast<int>(reader.integer("rank", 0, (1 << 24) - 1));
  record.model = reader.line("model");
  record.planHash = reader.line("plan_hash");
  record.ended = reader.line("ended");
  record.dead = reader.boolean("dead");
  record.stopped = reader.boolean("stopped");
  record.taken = reader.integer("time_taken_ns", 0, INT64_MAX);
  FieldReader groups = reader.object("pg_config");
  for (const std::string &name : groups.keys()) {
    FieldReader group = groups.object(name.c_str());
    record.groups[name] = readRanks(group);
  }
  for (const char *key : {"entries", "rows"})
    for (FieldReader &entry : reader.objects(key))
      record.operations.push_back(readOp(entry));
  MTC_RETURN_IF_ERROR(problems.status("'" + path + "'"));
  std::ranges::sort(record.operations, {}, &FlightOp::number);
  out = std::move(record);
  return Status::okay();
}

} // namespace mtc::runtime
