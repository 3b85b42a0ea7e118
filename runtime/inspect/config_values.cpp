//===- config_values.cpp - what a bundle was compiled for -----------------===//

#include "runtime/inspect/config_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace mtc::runtime {
namespace {

constexpr int kDeepest = 16; ///< lists in lists

class Reader {
public:
  Reader(std::string_view text, std::vector<ConfigValue> &out)
      : whole_(text), rest_(text), out_(out) {}

  Status read() {
    if (takes("#mtc.config") && readList("", 0)) {
      skipBlanks();
      if (rest_.empty())
        return Status::okay();
    }
    return {StatusCode::inputRejected,
            fmt::format("config: expected #mtc.config<key = value, ...>, found "
                        "something else at character {}; compile the bundle "
                        "again",
                        whole_.size() - rest_.size())};
  }

private:
  void skipBlanks() {
    while (!rest_.empty() && rest_.front() == ' ')
      rest_.remove_prefix(1);
  }

  bool takes(std::string_view word) {
    skipBlanks();
    if (!rest_.starts_with(word))
      return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  /// `<key = value, ...>`.
  bool readList(const std::string &path, int depth) {
    if (depth > kDeepest || !takes("<"))
      return false;
    do {
      if (!readPair(path, depth))
        return false;
    } while (takes(","));
    return takes(">");
  }

  bool readPair(const std::string &path, int depth) {
    skipBlanks();
    auto isOfKey = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
             c == '.';
    };
    size_t size =
        std::find_if_not(rest_.begin(), rest_.end(), isOfKey) - rest_.begin();
    std::string key =
        path + (path.empty() ? "" : ".") + std::string(rest_.substr(0, size));
    rest_.remove_prefix(size);
    if (size == 0)
      return false;
    if (!takes("=")) { // a word that is there or not
      out_.emplace_back(std::move(key), "true");
      return true;
    }
    skipBlanks();
    return rest_.starts_with("<") ? readList(key, depth + 1)
                                  : readValue(std::move(key));
  }

  /// A string, or all up to the end of the pair; brackets belong together.
  bool readValue(std::string key) {
    size_t size = 0;
    int open = 0;
    bool quoted = false;
    for (; size < rest_.size(); ++size) {
      char c = rest_[size];
      if (quoted && c == '\\')
        ++size;
      else if (c == '"')
        quoted = !quoted;
      else if (!quoted && open == 0 && (c == ',' || c == '>'))
        break;
      else if (!quoted)
        open += (c == '[' || c == '{' || c == '(') -
                (c == ']' || c == '}' || c == ')');
    }
    if (quoted || open != 0 || size == 0 || size >= rest_.size())
      return false;
    std::string_view value = rest_.substr(0, size);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    out_.emplace_back(std::move(key), std::string(value));
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view whole_, rest_;
  std::vector<ConfigValue> &out_;
};

} // namespace

Status readConfigValues(std::string_view text, std::vector<ConfigValue> &out) {
  return Reader(text, out).read();
}

} // namespace mtc::runtime
