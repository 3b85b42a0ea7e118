//===- trace_file.cpp - a trace as Chrome trace events --------------------===//
//
// Each rank writes its events into a file of the order's folder; when all have
// done so, rank 0 puts them together.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/trace_file.h"

#include "runtime/base/file.h"
#include "runtime/base/json.h"

#include <fmt/format.h>

#include <optional>
#include <unistd.h>

namespace mtc::runtime {
namespace {

constexpr const char *kStreamNames[] = {"compute", "collectives"};
static_assert(std::size(kStreamNames) == MTC_STREAM_COUNT);

constexpr const char *kCategories[] = {
    "load",           "fragment",   "exchange",        "post",
    "wait-transfers", "collective", "wait-collective", "gemm"};
static_assert(std::size(kCategories) == size_t(TraceKind::gemm) + 1);

constexpr const char *kCollectives[] = {"all-reduce", "reduce-scatter",
                                        "all-gather", "barrier"};
static_assert(std::size(kCollectives) == size_t(CollectiveKind::barrier) + 1);

/// The events of one rank.
class RankEvents {
public:
  RankEvents(RankState &rank, const TraceOrder &order)
      : rank_(rank), order_(order) {}

  /// One event a line, with a comma behind each.
  std::string text(std::span<const std::unique_ptr<RankTrace>> traces) {
    nameRank();
    step_ = order_.first;
    for (const std::unique_ptr<RankTrace> &trace : traces) {
      addStep(*trace);
      ++step_;
    }
    return std::move(text_);
  }

private:
  void addStep(const RankTrace &trace) {
    for (const TraceSpan &span : trace.compute)
      add(span, MTC_STREAM_COMPUTE);
    for (size_t i = 0; i < trace.commTimes.size(); ++i) {
      TraceSpan span = trace.issued[i];
      span.time = trace.commTimes[i];
      add(span, MTC_STREAM_COMM);
    }
  }

  void line(const Json &event) {
    text_ += event.dump();
    text_ += ",\n";
  }

  void name(const char *what, int64_t stream, const std::string &name) {
    line({{"ph", "M"},
          {"name", what},
          {"pid", rank_.rank()},
          {"tid", stream},
          {"args", {{"name", name}}}});
  }

  void nameRank() {
    std::string at;
    for (const AxisInfo &axis : kAxes)
      at += fmt::format(" {} {}", axis.name, rank_.coord(axis.id));
    name("process_name", 0, fmt::format("rank {}:{}", rank_.rank(), at));
    for (int64_t stream = 0; stream < rank_.descriptor().streams; ++stream)
      name("thread_name", stream,
           fmt::format("stream {}: {}", stream, kStreamNames[stream]));
  }

  void add(const TraceSpan &span, int64_t stream) {
    auto microseconds = [](int64_t ns) {
      return static_cast<double>(ns) / 1000;
    };
    Json args = Json::object();
    std::string title = describe(span, args);
    line({{"ph", "X"},
          {"name", title},
          {"cat", kCategories[size_t(span.kind)]},
          {"pid", rank_.rank()},
          {"tid", stream},
          {"ts", microseconds(span.time.begin - order_.origin)},
          {"dur", microseconds(span.time.end - span.time.begin)},
          {"args", args}});
  }

  std::string describe(const TraceSpan &span, Json &args) {
    args["step"] = step_;
    if (span.row)
      describeRow(*span.row, args);
    switch (span.kind) {
    case TraceKind::fragment:
      return rank_.descriptor().fragments[span.row->fragment];
    case TraceKind::exchange:
    case TraceKind::post:
    case TraceKind::waitTransfers:
      describeTransfers(*span.row, args);
      break;
    case TraceKind::collective:
      return describeCollective(span, args);
    case TraceKind::load:
    case TraceKind::waitEvent:
    case TraceKind::gemm:
      break;
    }
    return kCategories[size_t(span.kind)];
  }

  void describeRow(const MtcStep &row, Json &args) {
    if (std::optional<RowOfEntry> at = rank_.place(row)) {
      args["entry"] = at->entry->name;
      args["row"] = at->row;
    }
    bool isOfMicrobatch = row.kind == MTC_STEP_LOAD || row.kind == MTC_STEP_RUN;
    if (isOfMicrobatch && row.microbatch >= 0)
      args["microbatch"] = row.microbatch;
    if (row.kind != MTC_STEP_RUN)
      return;
    args["chunk"] = row.chunk;
    args["fragment"] = rank_.descriptor().fragments[row.fragment];
  }

  void describeTransfers(const MtcStep &row, Json &args) {
    int64_t bytes = 0;
    Json to = Json::array(), from = Json::array();
    for (const MtcTransfer &t : rank_.transfers(row)) {
      (t.is_send ? to : from)
          .push_back(
              rank_.mesh().moved(rank_.rank(), MTC_AXIS_PP, t.peer_stage));
      bytes += t.bytes;
    }
    args["sends_to"] = to;
    args["receives_from"] = from;
    args["bytes"] = bytes;
  }

  std::string describeCollective(const TraceSpan &span, Json &args) {
    const CollectiveCall &call = span.call;
    args["group"] = groupName(call.group);
    args["count"] = call.count;
    std::string title = fmt::format("{} {}", kCollectives[size_t(call.kind)],
                                    groupName(call.group));
    std::optional<int64_t> bucket = bucketOf(span.buffer);
    if (!bucket)
      return title;
    args["bucket"] = *bucket;
    return title + fmt::format(" bucket {}", *bucket);
  }

  /// The bucket whose gradients or parameters lie at an address; none where
  /// neither do, as in a workspace.
  std::optional<int64_t> bucketOf(const void *buffer) {
    const Descriptor &d = rank_.descriptor();
    for (size_t i = 0; i < d.buckets.size(); ++i) {
      const BucketInfo &b = d.buckets[i];
      bool isOfGradients = contains({MTC_ARENA_GRADS, b.gradOffset},
                                    b.gradBytes() * b.gradElements(), buffer);
      bool isOfParameters =
          !b.secondUseOf && contains({MTC_ARENA_PARAMS, b.paramOffset},
                                     b.paramBytes() * b.elements, buffer);
      if (isOfGradients || isOfParameters)
        return i;
    }
    return std::nullopt;
  }

  bool contains(ArenaOffset at, int64_t bytes, const void *buffer) {
    auto begin = reinterpret_cast<uintptr_t>(rank_.address(at));
    auto address = reinterpret_cast<uintptr_t>(buffer);
    return address >= begin && address < begin + static_cast<uint64_t>(bytes);
  }

  RankState &rank_;
  const TraceOrder &order_;
  int64_t step_ = 0;
  std::string text_;
};

std::string partPath(const TraceOrder &order, int64_t rank) {
  return fmt::format("{}/rank{}.json", order.parts, rank);
}

std::string hostPath(const TraceOrder &order, int64_t rank) {
  return fmt::format("{}/rank{}.host.json", order.parts, rank);
}

/// What the hosts of all ranks had; the files are gone.
Status takeHosts(const TraceOrder &order, const RankState &rank, Json &hosts) {
  hosts = Json::array();
  for (int64_t i = 0; i < rank.mesh().worldSize(); ++i) {
    std::string text;
    MTC_RETURN_IF_ERROR(readWholeFile(hostPath(order, i), text));
    unlink(hostPath(order, i).c_str());
    Json host;
    MTC_RETURN_IF_ERROR(parseJson(text, "'" + hostPath(order, i) + "'", host));
    hosts.push_back(std::move(host));
  }
  return Status::okay();
}

/// The parts become one file, and are gone.
Status merge(const TraceOrder &order, const RankState &rank, bool hasHosts) {
  std::string all = "{\"traceEvents\": [\n";
  for (int64_t i = 0; i < rank.mesh().worldSize(); ++i) {
    std::string part;
    MTC_RETURN_IF_ERROR(readWholeFile(partPath(order, i), part));
    unlink(partPath(order, i).c_str());
    all += part;
  }
  all.resize(all.size() - 2); // the last comma
  Json about = {{"model", rank.descriptor().model},
                {"plan_hash", rank.descriptor().planHash},
                {"step", order.first},
                {"last_step", order.last}};
  if (hasHosts)
    MTC_RETURN_IF_ERROR(takeHosts(order, rank, about["host"]));
  all += fmt::format("\n], \"displayTimeUnit\": \"ms\", \"otherData\": {}}}\n",
                     about.dump());
  AtomicFile file;
  MTC_RETURN_IF_ERROR(AtomicFile::create(order.file, file, order.parts));
  MTC_RETURN_IF_ERROR(
      file.write(0, all.data(), static_cast<int64_t>(all.size())));
  return file.commit();
}

} // namespace

Status writeTrace(const TraceOrder &order, RankState &rank,
                  std::span<const std::unique_ptr<RankTrace>> traces,
                  const Json &host, const std::function<Status()> &meet) {
  Status part = writeTextFile(partPath(order, rank.rank()),
                              RankEvents(rank, order).text(traces));
  if (part.ok() && !host.is_null())
    part = writeTextFile(hostPath(order, rank.rank()), host.dump());
  // The others meet whether or not this rank could write.
  MTC_RETURN_IF_ERROR(meet());
  return rank.rank() == 0 && part.ok() ? merge(order, rank, !host.is_null())
                                       : part;
}

} // namespace mtc::runtime
