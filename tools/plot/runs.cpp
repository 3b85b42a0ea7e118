//===- runs.cpp - what logs say of runs -----------------------------------===//

#include "tools/plot/runs.h"

#include "runtime/base/json.h"

#include <fmt/format.h>

#include <algorithm>

using mtc::runtime::Json;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::plot {
namespace {

class Reader {
public:
  Reader(const std::string &name, std::vector<Run> &runs)
      : name_(name), runs_(runs), first_(runs.size()) {}

  Status read(std::string_view text) {
    for (int64_t number = 1; !text.empty(); ++number) {
      size_t end = text.find('\n');
      bool isWhole = end != std::string_view::npos;
      std::string_view line = text.substr(0, end);
      text.remove_prefix(isWhole ? end + 1 : text.size());
      if (!line.empty())
        MTC_RETURN_IF_ERROR(readLine(line, number, isWhole));
    }
    if (runs_.size() == first_)
      return {StatusCode::inputRejected,
              fmt::format("'{}': expected a log of mtc run, a line for each "
                          "step, found no line with 'step'",
                          name_)};
    return Status::okay();
  }

private:
  Status readLine(std::string_view line, int64_t number, bool isWhole) {
    Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (json.is_object()) {
      take(json);
      return Status::okay();
    }
    if (!isWhole)
      return Status::okay();
    return {StatusCode::inputRejected,
            fmt::format("'{}', line {}: expected a JSON object, as mtc run "
                        "--log writes, found something else",
                        name_, number)};
  }

  void take(const Json &json) {
    if (json.contains("header")) {
      begin(numberOf(json, "start_step"));
      return;
    }
    Sample sample;
    for (const auto &[key, value] : json.items())
      if (value.is_number())
        sample.values[key] = value.get<double>();
    auto step = sample.values.find("step");
    if (step == sample.values.end())
      return; // an evaluation without training
    sample.step = step->second;
    if (isNew_ || runs_.size() == first_)
      open();
    runs_.back().samples.push_back(std::move(sample));
  }

  static double numberOf(const Json &json, const char *key) {
    return json.contains(key) && json[key].is_number() ? json[key].get<double>()
                                                       : 0;
  }

  /// A header: the steps behind `start` come again.
  void begin(double start) {
    isNew_ = start <= 0;
    if (isNew_ || runs_.size() == first_)
      return;
    std::vector<Sample> &samples = runs_.back().samples;
    std::erase_if(samples, [&](const Sample &s) { return s.step > start; });
  }

  void open() {
    size_t count = runs_.size() - first_;
    runs_.push_back(
        {count ? fmt::format("{} ({})", name_, count + 1) : name_, {}, true});
    isNew_ = false;
  }

  const std::string &name_;
  std::vector<Run> &runs_;
  size_t first_;
  bool isNew_ = false; ///< the next step is of another run
};

} // namespace

Status readRuns(std::string_view text, const std::string &name,
                std::vector<Run> &runs) {
  return Reader(name, runs).read(text);
}

} // namespace mtc::plot
