//===- records.cpp - the texts of a line of JSON --------------------------===//

#include "tools/data/records.h"

#include "tools/data/json_object.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::data {
namespace {

/// Which of the keys a member has; npos: none.
size_t placeOf(const JsonMember &member, std::span<const std::string> keys) {
  std::string decoded;
  std::string_view key = member.key;
  if (key.find('\\') != key.npos) {
    (void)decodeJsonText(key, decoded, /*replaces=*/true);
    key = decoded;
  }
  auto found = std::ranges::find(keys, key);
  return found == keys.end() ? std::string_view::npos : found - keys.begin();
}

std::string readText(const JsonMember &member, std::string_view line,
                     const std::string &key, bool anyBytes, RecordText &out) {
  if (!member.isText())
    return fmt::format("\"{}\": expected a string, found {}", key,
                       member.value.substr(0, 40));
  std::string_view quoted = member.value.substr(1, member.value.size() - 2);
  if (!decodeJsonText(quoted, out.text, anyBytes))
    return fmt::format("\"{}\": expected characters, found an escape that is "
                       "half of a surrogate pair",
                       key);
  out.begin = member.value.data() - line.data();
  out.end = out.begin + member.value.size();
  return "";
}

} // namespace

std::string readRecord(std::string_view line, std::span<const std::string> keys,
                       std::vector<RecordText> &out, bool anyBytes) {
  out.resize(keys.size());
  for (RecordText &text : out)
    text.end = 0; // not seen
  JsonObject object(line, anyBytes);
  JsonMember member;
  std::string problem;
  while (object.next(member)) {
    size_t place = placeOf(member, keys);
    if (place == std::string_view::npos || !problem.empty())
      continue;
    problem = out[place].end != 0
                  ? fmt::format("\"{}\": is there twice", keys[place])
                  : readText(member, line, keys[place], anyBytes, out[place]);
  }
  if (!object.error().empty())
    return "expected a JSON object on a line, " + object.error();
  if (!problem.empty())
    return problem;
  for (size_t i = 0; i < keys.size(); ++i)
    if (out[i].end == 0)
      return fmt::format("expected a member \"{}\", found none", keys[i]);
  return "";
}

} // namespace mtc::data
