//===- profile_file.cpp - a rank's profile as a file ----------------------===//
//
// Lists of integers: of each row three of them, as TimedCalls has them.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/profile_file.h"

#include "runtime/base/file.h"
#include "runtime/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace mtc::runtime {
namespace {

constexpr size_t kNumbers = 3;

Json toJson(std::span<const TimedCalls> all) {
  Json list = Json::array();
  for (const TimedCalls &each : all)
    for (int64_t number : {each.calls, each.nanoseconds, each.beside})
      list.push_back(number);
  return list;
}

std::vector<TimedCalls> readTimes(FieldReader &in, const char *key) {
  std::vector<int64_t> numbers = in.integers(key, 0);
  if (numbers.size() % kNumbers != 0)
    in.problem(fmt::format("'{}': expected three numbers of each, found {}",
                           key, numbers.size()));
  std::vector<TimedCalls> all;
  for (size_t i = 0; i + kNumbers <= numbers.size(); i += kNumbers)
    all.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
  return all;
}

} // namespace

std::string profilePath(const std::string &folder, int64_t rank) {
  return fmt::format("{}/rank{}.json", folder, rank);
}

Status writeProfile(const std::string &path, const RankProfile &profile) {
  Json json = {{"steps", Json::array()},
               {"rows", toJson(profile.rows)},
               {"fragments", toJson(profile.fragments)},
               {"ops", Json::array()}};
  for (double seconds : profile.seconds)
    json["steps"].push_back(Json{{"seconds", seconds}});
  for (const std::vector<TimedCalls> &fragment : profile.ops)
    json["ops"].push_back(Json{{"times", toJson(fragment)}});
  return writeTextFile(path, json.dump() + "\n");
}

Status readProfile(const std::string &path, RankProfile &out) {
  std::string text;
  MTC_RETURN_IF_ERROR(readWholeFile(path, text));
  Json json;
  MTC_RETURN_IF_ERROR(parseJson(text, "'" + path + "'", json));
  Problems problems;
  FieldReader in(json, "", problems);
  for (FieldReader &step : in.objects("steps"))
    out.seconds.push_back(step.number("seconds"));
  std::vector<TimedCalls> rows = readTimes(in, "rows");
  if (rows.size() == out.rows.size())
    std::ranges::copy(rows, out.rows.begin());
  else
    in.problem(fmt::format("'rows': expected {} kinds, found {}",
                           out.rows.size(), rows.size()));
  out.fragments = readTimes(in, "fragments");
  for (FieldReader &fragment : in.objects("ops"))
    out.ops.push_back(readTimes(fragment, "times"));
  return problems.status("'" + path + "'");
}

} // namespace mtc::runtime
