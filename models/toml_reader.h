//===- toml_reader.h - typed reading of TOML tables -------------*- C++ -*-===//
//
// Reads one table key by key. Each wrong value gives one diagnostic with the
// file and line, what was expected and what is nearest to what was found.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_MODELS_TOML_READER_H
#define MTC_MODELS_TOML_READER_H

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <toml++/toml.h>

#include "models/diagnostics.h"

namespace mtc::models {

/// A name of an enumerator, as written in files.
template <typename E> struct Choice {
  std::string_view name;
  E value;
};

/// The integers [min, max].
struct IntegerRange {
  int64_t min, max;
};

/// The numbers [min, max), or (min, max) if `open`.
struct NumberRange {
  double min, max;
  bool open = false;
};

enum class Need { optional, required };

/// Parses a TOML document. A syntax error is one diagnostic of class usage, and
/// so is nesting deeper than runtime::kMostTomlLevels.
Parsed<toml::table> parseToml(std::string_view text, const std::string &file);

/// A reader of one table. Every function leaves its output alone if the key is
/// absent or wrong. Call `finish` at the end.
class TomlReader {
public:
  /// `path` is the table's name in messages, "" for the document. The table,
  /// and the diagnostics, must outlive the reader.
  TomlReader(const toml::table &table, std::string path, std::string file,
             Diagnostics &diagnostics)
      : table(table), path(std::move(path)), file(std::move(file)),
        diagnostics(diagnostics) {}

  void integer(std::string_view key, int64_t &out, IntegerRange range,
               Need need = Need::optional);
  void number(std::string_view key, double &out, NumberRange range,
              Need need = Need::optional);
  void boolean(std::string_view key, bool &out, Need need = Need::optional);
  void string(std::string_view key, std::string &out,
              Need need = Need::optional);
  /// The string of a key; none if there is no such key, or no string.
  std::optional<std::string> text(std::string_view key,
                                  Need need = Need::optional);
  /// A list of integers, each in `range`.
  void integers(std::string_view key, std::vector<int64_t> &out,
                IntegerRange range);
  template <typename E>
  void choice(std::string_view key, E &out,
              std::span<const Choice<std::type_identity_t<E>>> choices,
              Need need = Need::optional) {
    std::vector<std::string_view> names;
    for (const Choice<E> &choice : choices)
      names.push_back(choice.name);
    if (int index = choiceIndex(key, names, need); index >= 0)
      out = choices[index].value;
  }

  /// The node of a key that has a form of its own, or null. Marks it known.
  const toml::node *node(std::string_view key);
  /// The sub-table of `key`, or null (with a diagnostic if it is no table).
  const toml::table *subtable(std::string_view key);
  /// A reader of a table inside this one.
  TomlReader inner(std::string_view key, const toml::table &sub) const;

  bool has(std::string_view key) const { return table.contains(key); }
  /// False if a diagnostic was given for the key, also if it was missing.
  bool good(std::string_view key) const { return !bad.contains(key); }
  /// "norm.eps".
  std::string qualified(std::string_view key) const;
  /// Reports an error of `key`: "key 'norm.eps': " and the message.
  void error(std::string_view key, const std::string &message);
  /// "expected E, found F", with the value as it stands in the file.
  void wrong(std::string_view key, const std::string &expected,
             const std::string &advice = "");
  /// Names that an unknown key may have been meant to be, beside those that are
  /// asked for.
  void suggestAlso(std::vector<std::string> names) {
    others = std::move(names);
  }
  /// Reports keys that are unknown or missing. A missing key that an unknown
  /// one was probably meant to be is not reported twice.
  void finish();

private:
  struct Place {
    std::string where;
    int line; ///< 0: it is no place of a file
  };
  /// The file, or who set the key in its place.
  Place placeOf(const toml::source_region &source) const;
  /// Where a key stands; where it would stand, if it is not there.
  Place placeOf(std::string_view key) const;
  int choiceIndex(std::string_view key,
                  const std::vector<std::string_view> &names, Need need);
  const toml::node *find(std::string_view key, Need need);

  const toml::table &table;
  std::string path, file;
  Diagnostics &diagnostics;
  std::vector<std::string> known, missing, others;
  std::set<std::string, std::less<>> bad;
};

/// A value for messages: "a string \"4\"", "an integer 0", "a table".
std::string describe(const toml::node &node);

/// "an integer in [1, 8]".
std::string describe(IntegerRange range);

/// "a number in [0, 1)".
std::string describe(NumberRange range);

} // namespace mtc::models
#endif // MTC_MODELS_TOML_READER_H
