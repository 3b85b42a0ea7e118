//===- fields.h - keys of files as rows of a table --------------*- C++ -*-===//
//
// A row is all that is known of a key: its reader, the options of `mtc
// compile`, `mtc help` and the reference pages have it from there.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_MODELS_FIELDS_H
#define MTC_MODELS_FIELDS_H

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/nearest.h"
#include "models/toml_reader.h"

namespace mtc::models {

struct ModelSpec;

/// What a value of a T may be. `part` of the functions that make one is what
/// std::invoke takes: a pointer to a member, or `inside` of one.
template <typename T> struct Kind {
  std::string type; ///< "an integer in [1, 8]", as messages have it
  /// Reads a key of a table into a T, as the functions of TomlReader do.
  std::function<void(TomlReader &, std::string_view, T &, Need)> read;
  std::function<nlohmann::ordered_json(const T &)> valueOf;
  /// All values as in a file, of lists their single ones; empty: many.
  std::vector<std::string> choices = {};
  bool isList = false;
  /// Of a key that is no number: values beside `choices` that a search for
  /// another T tries, for the model and beside the other keys; empty: none.
  std::function<std::vector<nlohmann::ordered_json>(const ModelSpec &,
                                                    const T &)>
      tries = {};
  /// Of an integer where 0 is "not given": what that stands for.
  std::function<int64_t(const ModelSpec &)> unset = {};

  template <typename Part> static Kind integer(IntegerRange range, Part part) {
    return {describe(range),
            [=](TomlReader &in, std::string_view key, T &out, Need need) {
              in.integer(key, std::invoke(part, out), range, need);
            },
            valueAt(part)};
  }
  template <typename Part> static Kind number(NumberRange range, Part part) {
    return {describe(range),
            [=](TomlReader &in, std::string_view key, T &out, Need need) {
              in.number(key, std::invoke(part, out), range, need);
            },
            valueAt(part)};
  }
  template <typename Part> static Kind boolean(Part part) {
    return {"true or false",
            [=](TomlReader &in, std::string_view key, T &out, Need need) {
              in.boolean(key, std::invoke(part, out), need);
            },
            valueAt(part),
            {"true", "false"}};
  }
  template <typename Part> static Kind text(Part part) {
    return {"a string",
            [=](TomlReader &in, std::string_view key, T &out, Need need) {
              in.string(key, std::invoke(part, out), need);
            },
            valueAt(part)};
  }
  template <typename Part> static Kind integers(IntegerRange range, Part part) {
    return {"a list of integers, each " + describe(range),
            [=](TomlReader &in, std::string_view key, T &out, Need) {
              in.integers(key, std::invoke(part, out), range);
            },
            valueAt(part),
            {},
            /*isList=*/true};
  }
  /// `choices` live as long as the program.
  template <typename E, size_t N, typename Part>
  static Kind choice(const Choice<E> (&choices)[N], Part part) {
    std::vector<std::string_view> names;
    for (const Choice<E> &choice : choices)
      names.push_back(choice.name);
    return {
        "one of " + join(names),
        [=, &choices](TomlReader &in, std::string_view key, T &out, Need need) {
          in.choice(key, std::invoke(part, out),
                    std::span<const Choice<E>>(choices), need);
        },
        [=, &choices](const T &value) -> nlohmann::ordered_json {
          for (const Choice<E> &choice : choices)
            if (choice.value == std::invoke(part, value))
              return choice.name;
          return nullptr;
        },
        quoted(names)};
  }

  /// As strings stand in a file.
  static std::vector<std::string>
  quoted(const std::vector<std::string_view> &names) {
    std::vector<std::string> result;
    for (std::string_view name : names)
      result.push_back('"' + std::string(name) + '"');
    return result;
  }

private:
  template <typename Part> static auto valueAt(Part part) {
    return [=](const T &value) -> nlohmann::ordered_json {
      return std::invoke(part, value);
    };
  }
};

/// A member of a member: `inside(&ModelSpec::norm, &NormSpec::eps)`.
template <typename Outer, typename Inner>
auto inside(Outer outer, Inner inner) {
  return [=](auto &whole) -> auto & {
    return std::invoke(inner, std::invoke(outer, whole));
  };
}

/// A key that is read into a T. Texts are one plain line.
template <typename T> struct Field {
  std::string_view table; ///< that it stands in; empty: none
  std::string_view key;
  Kind<T> kind;
  std::string_view meaning;
  std::string_view example; ///< a value as in a file
  Need need = Need::optional;
  /// The default in words, where it is not the value of a T{}.
  std::string_view defaultText = "";
  /// Other names of the option that replaces it, without dashes in front and
  /// with blanks between; "name=value" is a flag that stands for one value, and
  /// "name+=value" one that adds it to a list: to the default's, or to what
  /// other such flags added.
  std::string_view aliases = "";

  void read(TomlReader &reader, T &out) const {
    kind.read(reader, key, out, need);
  }
};

/// The default as in a file, or in words.
template <typename T>
std::string defaultOf(const Field<T> &field, const T &defaults) {
  return field.defaultText.empty() ? field.kind.valueOf(defaults).dump()
                                   : std::string(field.defaultText);
}

/// Reads the fields of one table; its other keys are the caller's.
template <typename T>
void readTable(TomlReader &reader, const std::vector<Field<T>> &fields,
               std::string_view table, T &out) {
  for (const Field<T> &field : fields)
    if (field.table == table)
      field.read(reader, out);
}

/// The names of the tables that fields stand in, in order, without "".
template <typename T>
std::vector<std::string_view> tablesOf(const std::vector<Field<T>> &fields) {
  std::vector<std::string_view> tables;
  for (const Field<T> &field : fields)
    if (!field.table.empty() &&
        (tables.empty() || tables.back() != field.table))
      tables.push_back(field.table);
  return tables;
}

/// With the names and nesting of a file.
template <typename T>
nlohmann::ordered_json toJson(const std::vector<Field<T>> &fields,
                              const T &value) {
  nlohmann::ordered_json json;
  for (const Field<T> &field : fields) {
    nlohmann::ordered_json &table =
        field.table.empty() ? json : json[std::string(field.table)];
    table[std::string(field.key)] = field.kind.valueOf(value);
  }
  return json;
}

} // namespace mtc::models
#endif // MTC_MODELS_FIELDS_H
