//===- json_object.h - the members of one JSON object -----------*- C++ -*-===//
//
// Lines of a corpus are read once and written back but for one value, and a
// vocabulary has fifty thousand members: both want the place of each value in
// the text, and no tree.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_TOOLS_DATA_JSON_OBJECT_H
#define MTC_TOOLS_DATA_JSON_OBJECT_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mtc::data {

struct JsonMember {
  std::string_view key;   ///< as it stands, between its quotes
  std::string_view value; ///< as it stands: a string has its quotes
  bool isText() const { return value.front() == '"'; }
};

/// Goes through the text of one JSON object (RFC 8259), all of it checked:
/// values inside of values as well, which may be nested 64 deep, and that
/// strings are UTF-8.
class JsonObject {
public:
  /// `anyBytes`: strings may hold bytes that are not UTF-8.
  explicit JsonObject(std::string_view text, bool anyBytes = false)
      : text_(text), anyBytes_(anyBytes) {}

  /// The next member; false at the end of the text and at the first error.
  bool next(JsonMember &out);
  /// Empty, or what was expected and found, and at which byte (from 1).
  const std::string &error() const { return error_; }

private:
  enum class State { begin, first, more, end };
  bool fail(const std::string &expected);
  bool failAt(size_t at, const std::string &problem);
  void skipSpace();
  bool take(char wanted);
  bool scanString();
  bool scanEscape();
  bool scanNumber();
  bool scanDigits();
  bool scanWord(std::string_view word);
  bool scanValue();
  bool scanScalar();

  std::string_view text_;
  bool anyBytes_;
  size_t at_ = 0;
  State state_ = State::begin;
  std::string error_;
};

/// The text of a string that JsonObject went through, between its quotes. False
/// if an escape is half of a surrogate pair, which stands for no character;
/// with `replaces` it is U+FFFD.
bool decodeJsonText(std::string_view quoted, std::string &out,
                    bool replaces = false);

/// Adds `text` as a JSON string, with its quotes: escapes for what must have
/// one, all else as it is.
void appendJsonText(std::string_view text, std::string &out);

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_JSON_OBJECT_H
