//===- records.h - the texts of a line of JSON ------------------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_RECORDS_H
#define MTC_TOOLS_DATA_RECORDS_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::data {

/// A text of a record and where its string stands in the line, with quotes.
struct RecordText {
  std::string text;
  size_t begin = 0, end = 0;
};

/// Reads the texts of `keys` out of a line of JSON, in their order. Returns
/// what is wrong with the line, empty if nothing is: it is no JSON object, a
/// key is not there or twice, a value is no string, or an escape in it is half
/// of a surrogate pair. With `anyBytes` strings may hold bytes that are not
/// UTF-8, and such an escape is read as U+FFFD.
std::string readRecord(std::string_view line, std::span<const std::string> keys,
                       std::vector<RecordText> &out, bool anyBytes = false);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_RECORDS_H
