//===- byte_pairs.cpp - any bytes as a vocabulary, and as its text --------===//

#include "tools/data/byte_pairs.h"
#include "tools/data/byte_alphabet.h"
#include "tools/data/json_object.h"
#include "tools/data/split_words.h"
#include "tools/data/unicode.h"

#include <cstdlib>
#include <set>

using namespace mtc::data;

namespace {

/// A vocabulary of all bytes and of what the lines of `merges` become.
std::string vocabularyOf(std::string_view merges) {
  std::set<std::string> symbols;
  for (int byte = 0; byte < 256; ++byte) {
    std::string symbol;
    appendCodePoint(characterOf(static_cast<uint8_t>(byte)), symbol);
    symbols.insert(symbol);
  }
  while (!merges.empty()) {
    size_t end = std::min(merges.find('\n'), merges.size());
    std::string line(merges.substr(0, end));
    merges.remove_prefix(std::min(end + 1, merges.size()));
    std::erase(line, ' ');
    if (!line.empty() && firstInvalidByte(line) == line.size())
      symbols.insert(line);
  }
  std::string text = "{";
  int id = 0;
  for (const std::string &symbol : symbols) {
    text += id ? "," : "";
    appendJsonText(symbol, text);
    text += ":" + std::to_string(id++);
  }
  return text + "}";
}

/// The two ways to merge give the same tokens, and these the word's bytes.
void check(const Vocabulary &tokens, const BytePairs &pairs,
           std::string_view word) {
  MergeScratch scratch;
  std::vector<int32_t> brief, lasting;
  pairs.mergeShort(word, scratch, brief);
  pairs.mergeLong(word, scratch, lasting);
  std::string back;
  for (int32_t id : brief)
    back += tokens.bytes(id);
  if (brief != lasting || back != word)
    std::abort();
}

} // namespace

/// Half of the inputs are a vocab.json; the others the lines of a merges.txt,
/// with a vocabulary that has their tokens, and the text that it is used on.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view input(reinterpret_cast<const char *>(data), size);
  Vocabulary tokens;
  if (size % 2 == 1) {
    (void)Vocabulary::parse(input, "vocab.json", tokens);
    return 0;
  }
  if (!Vocabulary::parse(vocabularyOf(input), "vocab.json", tokens).ok())
    return 0;
  std::vector<Merge> merges;
  // Of lines that are wrong, those in front of them are merges all the same.
  (void)parseMerges(input, "merges.txt", tokens, merges);
  BytePairs pairs(tokens, merges);
  check(tokens, pairs, input);
  for (size_t at = 0, end = 0; at < size; at = end) {
    end = wordEnd(input, at);
    if (end <= at || end > size)
      std::abort();
    check(tokens, pairs, input.substr(at, end - at));
  }
  return 0;
}
