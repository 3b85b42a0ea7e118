//===- json.h - strict JSON for files that others wrote ---------*- C++ -*-===//
//
// A thin layer over nlohmann/json: a parse that rejects duplicate keys, and a
// reader of fields that collects every problem instead of stopping at the
// first. Nothing here throws.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_BASE_JSON_H
#define MTC_RUNTIME_BASE_JSON_H

#include "runtime/base/status.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

using Json = nlohmann::ordered_json;

/// Parses `text`. Errors: inputRejected, naming `what`: not JSON, or a
/// duplicate key (two readers would disagree about which value counts).
Status parseJson(std::string_view text, const std::string &what, Json &out);

/// The problems found in one document, in order of discovery.
class Problems {
public:
  void add(std::string text) { list_.push_back(std::move(text)); }
  bool empty() const { return list_.empty(); }
  const std::vector<std::string> &list() const { return list_; }
  /// ok, or inputRejected with `what` and all problems, one per line.
  Status status(const std::string &what) const;

private:
  std::vector<std::string> list_;
};

/// Reads the fields of one JSON object. A missing or ill-typed field is added
/// to the problems under its path, and a harmless value is returned.
class FieldReader {
public:
  FieldReader(const Json &object, std::string path, Problems &problems);

  bool has(const char *key) const;
  std::vector<std::string> keys() const; ///< as they stand
  /// A key that is none of `known` is a problem: misspelt, or of a later
  /// version, which means something by it.
  void rejectOthers(std::span<const std::string> known);
  /// The same of those that nobody has read until now.
  void rejectUnread() { rejectOthers(read_); }
  /// Which of `names` the text under `key` is; empty, and a problem, if none.
  std::optional<size_t> oneOf(const char *key,
                              std::span<const std::string_view> names);
  int64_t integer(const char *key, int64_t least, int64_t most);
  /// The same, or empty for null.
  std::optional<int64_t> integerOrNull(const char *key, int64_t least,
                                       int64_t most);
  double number(const char *key);
  /// A finite one of at least 0.
  double amount(const char *key);
  /// The same, or empty for null.
  std::optional<double> amountOrNull(const char *key);
  bool boolean(const char *key);
  std::string text(const char *key);
  /// A string of one line without control characters, which a terminal would
  /// obey.
  std::string line(const char *key);
  /// Integers, each at least `least`.
  std::vector<int64_t> integers(const char *key, int64_t least);
  std::vector<std::string> texts(const char *key);
  /// The object under `key`, or an empty one.
  FieldReader object(const char *key);
  /// The array of objects under `key`.
  std::vector<FieldReader> objects(const char *key);
  /// Adds "path: text".
  void problem(const std::string &text);
  const std::string &path() const { return path_; }

private:
  const Json *find(const char *key, const char *expected,
                   bool (Json::*is)() const noexcept);
  void noteRead(const char *key);
  bool isNull(const char *key);
  const Json *object_;
  std::vector<std::string> read_; ///< keys, in order of their first reading
  std::string path_;
  Problems *problems_;
};

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_JSON_H
