//===- report.h - what a command did, in rows -------------------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_REPORT_H
#define MTC_TOOLS_DATA_REPORT_H

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace mtc::data {

/// Rows that are printed for people, and as one JSON object for machines.
class Report {
public:
  /// `key` is of JSON, `label` for people; an empty one: only JSON has the row.
  void add(std::string key, std::string label, int64_t value);
  void add(std::string key, std::string label, double value);
  void add(std::string key, std::string label, std::string value);
  void add(std::string key, std::string label, std::vector<std::string> value);

  std::string text() const; ///< a line a row
  std::string json() const; ///< one line

private:
  struct Row {
    std::string key, label;
    std::variant<int64_t, double, std::string, std::vector<std::string>> value;
  };
  std::vector<Row> rows_;
};

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_REPORT_H
