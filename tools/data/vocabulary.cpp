//===- vocabulary.cpp - the tokens of a byte-level BPE --------------------===//

#include "tools/data/vocabulary.h"

#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "tools/data/byte_alphabet.h"
#include "tools/data/json_object.h"
#include "tools/data/unicode.h"

#include <fmt/format.h>

#include <charconv>

using mtc::runtime::Problems;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::data {
namespace {

/// An id as the file writes it; -1: no integer from 0 to 2^20 - 1.
int64_t idFrom(std::string_view value) {
  int64_t id = -1;
  auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), id);
  bool whole = error == std::errc() && end == value.data() + value.size();
  return whole && id >= 0 && id < kMostTokens ? id : -1;
}

/// What is wrong with a token apart from its id; empty: nothing.
std::string problemOf(std::string_view symbol) {
  if (symbol.empty())
    return "an empty token";
  if (static_cast<int64_t>(symbol.size()) > 2 * kLongestToken)
    return fmt::format("a token of {} bytes, more than {}", symbol.size(),
                       kLongestToken);
  return "";
}

using Ids = std::unordered_map<std::string, int32_t>;

void readMember(const JsonMember &member, Ids &ids, Problems &problems) {
  std::string symbol;
  if (!decodeJsonText(member.key, symbol)) {
    problems.add(fmt::format("\"{}\": half of a surrogate pair", member.key));
    return;
  }
  if (std::string problem = problemOf(symbol); !problem.empty()) {
    problems.add(problem);
    return;
  }
  int64_t id = idFrom(member.value);
  if (id < 0)
    problems.add(fmt::format("\"{}\": expected an id from 0 to {}, found {}",
                             member.key, kMostTokens - 1,
                             member.value.substr(0, 40)));
  else if (!ids.emplace(symbol, static_cast<int32_t>(id)).second)
    problems.add(fmt::format("\"{}\": is there twice", member.key));
}

/// Tokens by id, where ids are 0 to n - 1.
void orderById(const Ids &ids, std::vector<std::string> &symbols,
               Problems &problems) {
  std::vector<const std::string *> byId(ids.size());
  for (const auto &[symbol, id] : ids)
    if (static_cast<size_t>(id) >= ids.size())
      continue; // then one below is lacking
    else if (!byId[id] || symbol < *byId[id])
      byId[id] = &symbol; // of two, always the same one
  for (size_t id = 0; id < ids.size(); ++id) {
    if (!byId[id]) {
      problems.add(fmt::format("expected ids 0 to {}, each once, found none "
                               "that is {}",
                               ids.size() - 1, id));
      return;
    }
    symbols.push_back(*byId[id]);
  }
}

void checkBytes(const Vocabulary &tokens, Problems &problems) {
  std::string lacking;
  for (int byte = 0; byte < 256; ++byte) {
    std::string symbol;
    appendCodePoint(characterOf(static_cast<uint8_t>(byte)), symbol);
    if (tokens.idOf(symbol) < 0)
      lacking += fmt::format(" 0x{:02X}", byte);
  }
  if (!lacking.empty())
    problems.add("expected a token for each byte, found none for" + lacking);
}

} // namespace

Status Vocabulary::parse(std::string_view text, const std::string &path,
                         Vocabulary &out) {
  out = Vocabulary();
  Problems problems;
  JsonObject object(text);
  JsonMember member;
  int64_t members = 0;
  while (object.next(member) && ++members <= kMostTokens)
    readMember(member, out.ids_, problems);
  if (!object.error().empty())
    problems.add(object.error());
  else if (members > kMostTokens)
    problems.add(fmt::format("more than {} tokens", kMostTokens));
  if (problems.empty())
    orderById(out.ids_, out.symbols_, problems);
  if (problems.empty())
    checkBytes(out, problems);
  return problems.status(path);
}

Status Vocabulary::read(const std::string &path, Vocabulary &out) {
  std::string text;
  MTC_RETURN_IF_ERROR(runtime::readWholeFile(path, text));
  return parse(text, path, out);
}

int32_t Vocabulary::idOf(std::string_view symbol) const {
  auto found = ids_.find(std::string(symbol));
  return found == ids_.end() ? -1 : found->second;
}

std::string Vocabulary::bytes(int32_t id) const {
  std::string out;
  return bytesOf(symbols_[id], out) ? out : symbols_[id];
}

} // namespace mtc::data
