//===- flight_files.cpp - records of the ranks of a run -------------------===//

#include "runtime/control/flight_files.h"

#include "runtime/base/file.h"
#include "runtime/inspect/explain_file.h"
#include "runtime/inspect/flight_folder.h"

#include <fmt/format.h>

#include <numeric>

namespace mtc::runtime {
namespace {

/// Parts of the model by fragment, of its collectives in order.
using Parts = std::map<std::string, std::vector<const ExplainedCollective *>>;

Parts partsOf(const ExplainedStage &stage) {
  Parts parts;
  for (const ExplainedCollective &each : stage.collectives)
    parts[each.fragment].push_back(&each);
  return parts;
}

std::string partOf(const FlightOp &op, const Parts &parts) {
  auto found = parts.find(op.fragment);
  if (op.kind != FlightKind::collective || op.index < 0 ||
      found == parts.end() ||
      op.index >= static_cast<int64_t>(found->second.size()))
    return "";
  const ExplainedCollective &each =
      *found->second[static_cast<size_t>(op.index)];
  if (each.group != op.group)
    return "";
  if (each.bucket)
    return fmt::format("bucket {}", *each.bucket);
  return each.part.empty() ? each.serves : each.part;
}

} // namespace

std::vector<FlightRecord> takeRecords(const FlightMemory &memory,
                                      const Bundle &bundle) {
  std::vector<int> ranks(static_cast<size_t>(bundle.mesh.worldSize()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return takeRecords(memory, bundle, ranks);
}

std::vector<FlightRecord> takeRecords(const FlightMemory &memory,
                                      const Bundle &bundle,
                                      std::span<const int> ranks) {
  std::vector<FlightRecord> records;
  for (int rank : ranks)
    if (const FlightRing *ring = memory.ring(rank))
      records.push_back(recordOf(*ring, bundle.descriptor(rank), rank));
  // They are worth something without the names of parts, too.
  std::vector<ExplainedStage> stages;
  if (Status status = readExplanation(bundle.folder, bundle, stages);
      !status.ok())
    return records;
  for (FlightRecord &record : records) {
    int64_t stage = bundle.mesh.coordinate(record.rank, MTC_AXIS_PP);
    Parts parts = partsOf(stages[static_cast<size_t>(stage)]);
    for (FlightOp &op : record.operations)
      op.part = partOf(op, parts);
  }
  return records;
}

std::string flightFolder(const RunOptions &options) {
  return options.flight.empty() && !options.checkpoints.empty()
             ? options.checkpoints + "/flight"
             : options.flight;
}

Status whereRecordsAre(const Status &status, const std::string &folder) {
  return {status.code(),
          folder.empty()
              ? status.message() +
                    "; --flight DIR keeps what each rank did last"
              : fmt::format("{}; `mtc flight {}` has what each rank did last",
                            status.message(), folder)};
}

bool isForRecords(const Status &status) {
  return status.code() == StatusCode::peerDied ||
         status.code() == StatusCode::hang ||
         status.code() == StatusCode::communication ||
         status.code() == StatusCode::gpuFailed;
}

Status withRecords(Status status, std::vector<FlightRecord> records,
                   const std::vector<RankOutcome> &outcomes,
                   const std::string &folder) {
  for (const RankOutcome &outcome : outcomes)
    for (FlightRecord &record : records)
      if (record.rank == outcome.rank) {
        record.ended = outcome.status.message();
        record.dead = outcome.killed;
      }
  if (folder.empty())
    return whereRecordsAre(status, folder);
  Status written = makeFolders(folder);
  for (const FlightRecord &record : records)
    if (written.ok())
      written =
          writeTextFile(fmt::format("{}/rank{:05}.json", folder, record.rank),
                        textOf(record));
  if (written.ok())
    return whereRecordsAre(status, folder);
  return {status.code(), status.message() + "; " + written.message()};
}

std::string verdictText(const std::vector<FlightRecord> &records) {
  FlightVerdict verdict = explainFlight(records);
  std::string text;
  if (verdict.culprit)
    text += fmt::format("; rank {} is waited for: {}", *verdict.culprit,
                        verdict.why);
  if (!verdict.difference.empty())
    text += "; ranks differ first in " + verdict.difference;
  return text;
}

Status withVerdict(Status status, const std::string &folder) {
  std::vector<FlightRecord> records;
  if (status.code() != StatusCode::hang || folder.empty() ||
      !readRecords(folder, records).ok())
    return status;
  return {status.code(), status.message() + verdictText(records)};
}

} // namespace mtc::runtime
