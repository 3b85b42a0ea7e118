//===- flight.cpp - what ranks did last -----------------------------------===//

#include "mtc/runtime/flight.h"

#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/flight/verdict.h"
#include "runtime/inspect/flight_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

namespace fs = std::filesystem;

namespace mtc::runtime {
namespace {

bool isRecord(const std::string &name) {
  return name.starts_with("rank") && name.ends_with(".json");
}

} // namespace

Status readRecords(const std::string &folder,
                   std::vector<FlightRecord> &records) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (isRecord(at->path().filename().string()))
      paths.push_back(at->path().string());
  std::ranges::sort(paths);
  if (error || paths.empty())
    return {StatusCode::inputRejected,
            fmt::format("'{}': expected a folder of records of ranks "
                        "(rank00000.json), found {}",
                        folder, error ? error.message() : "none")};
  std::set<int> ranks;
  for (const std::string &path : paths) {
    std::string text;
    records.emplace_back();
    MTC_RETURN_IF_ERROR(readWholeFile(path, text));
    MTC_RETURN_IF_ERROR(parseFlightRecord(text, path, records.back()));
    if (!ranks.insert(records.back().rank).second ||
        records.back().planHash != records.front().planHash)
      return {StatusCode::inputRejected,
              fmt::format("'{}': expected records of one run, one of each "
                          "rank, found another one of rank {} or of another "
                          "plan",
                          path, records.back().rank)};
  }
  return Status::okay();
}

namespace {

Json jsonOf(const FlightVerdict &verdict) {
  Json ranks = Json::array();
  for (const FlightRank &rank : verdict.ranks)
    ranks.push_back({{"rank", rank.rank},
                     {"doing", rank.doing},
                     {"waits_for", rank.waitsFor}});
  return {{"difference", verdict.difference},
          {"ranks", ranks},
          {"culprit", verdict.culprit ? Json(*verdict.culprit) : Json(nullptr)},
          {"why", verdict.why}};
}

} // namespace

Status describeFlight(const std::string &folder, bool json, std::string &text) {
  std::vector<FlightRecord> records;
  MTC_RETURN_IF_ERROR(readRecords(folder, records));
  std::string title =
      fmt::format("{} ranks of {}, plan {}\n", records.size(),
                  records.front().model, records.front().planHash);
  FlightVerdict verdict = explainFlight(std::move(records));
  if (json) {
    text = jsonOf(verdict).dump(1) + "\n";
    return Status::okay();
  }
  text = title;
  for (const FlightRank &rank : verdict.ranks)
    text += fmt::format("rank {:<4} {}\n", rank.rank, rank.doing);
  text += fmt::format("first difference  {}\n", verdict.difference.empty()
                                                    ? "none is known"
                                                    : verdict.difference);
  text += verdict.culprit ? fmt::format("culprit  rank {}: {}\n",
                                        *verdict.culprit, verdict.why)
                          : "culprit  none: no rank waits for another\n";
  return Status::okay();
}

} // namespace mtc::runtime
