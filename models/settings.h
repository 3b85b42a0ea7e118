//===- settings.h - single keys of files, set from outside ------*- C++ -*-===//
//
// `--set model.layers=4` replaces the key `layers` of the spec, `--set
// strategy.shard.ffn='"none"'` one of a strategy's table. What is set goes
// through the reader of the file, whose messages then name `--set` in the place
// of a file and line.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_MODELS_SETTINGS_H
#define MTC_MODELS_SETTINGS_H

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Many files include this one, and few the reader of TOML.
#include <toml++/impl/forward_declarations.h>

#include "models/diagnostics.h"

namespace mtc::models {

class Settings {
public:
  /// What "model.layers=4" begins with.
  static constexpr std::string_view kModel = "model", kStrategy = "strategy";

  Settings() = default;

  /// Reads texts, each one HEAD.KEY=VALUE in TOML, with a head of `heads`. All
  /// errors, of class usage: what is no such text, and two that contradict each
  /// other. The value is empty if there are some.
  static Parsed<Settings> parse(const std::vector<std::string> &texts,
                                const std::vector<std::string_view> &heads);

  /// Puts what is set under `head` into a file's document: tables are merged,
  /// all else is replaced.
  void applyTo(toml::table &document, std::string_view head) const;

  /// The text that sets a key, by its path such as "strategy.shard.ffn"; empty
  /// if none does.
  std::string sourceOf(std::string_view path) const;

  bool empty() const { return texts.empty(); }

private:
  std::vector<std::string> texts;
  std::vector<std::pair<std::string, std::string>> sources; ///< by path
};

/// The source of a text of `Settings`: "--set model.layers=4", a long one cut.
std::string settingName(const std::string &text);

/// Whether a source of TOML is what `Settings` read, and no file.
bool isSetting(std::string_view source);

} // namespace mtc::models
#endif // MTC_MODELS_SETTINGS_H
