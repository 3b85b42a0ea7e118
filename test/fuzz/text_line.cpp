//===- text_line.cpp - any bytes as a line of a corpus --------------------===//

#include "runtime/base/json.h"
#include "tools/data/clean_text.h"
#include "tools/data/minhash.h"
#include "tools/data/ngrams.h"
#include "tools/data/records.h"

#include <cstdlib>

using namespace mtc::data;

namespace {

/// A text that is read is that of another parser of JSON.
void checkRecord(std::string_view line) {
  std::vector<std::string> keys = {"text"};
  std::vector<RecordText> texts;
  if (!readRecord(line, keys, texts).empty())
    return;
  auto parsed = nlohmann::json::parse(line, nullptr, false);
  bool same = parsed.is_object() && parsed.contains("text") &&
              parsed["text"].is_string() &&
              parsed["text"].get<std::string>() == texts[0].text;
  // Half of a surrogate pair in another member is no error here.
  if (!same && !(parsed.is_discarded() && line.find("\\u") != line.npos))
    std::abort();
}

/// What is clean stays.
void checkClean(std::string_view text) {
  Repairs first, second;
  std::string clean = cleanText(text, first);
  if (cleanText(clean, second) != clean || second.spaces != 0 ||
      second.controls != 0 || second.invalidBytes != 0)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view line(reinterpret_cast<const char *>(data), size);
  checkRecord(line);
  std::vector<std::string> keys = {"text"};
  std::vector<RecordText> texts;
  if (readRecord(line, keys, texts, /*anyBytes=*/true).empty())
    checkClean(texts[0].text);
  checkClean(line);
  (void)wordsOf(line);
  std::vector<uint64_t> shingles = shinglesOf(line, 1 + size % 7);
  if (jaccard(shingles, shingles) != 1)
    std::abort();
  (void)MinHash(1).bands(shingles);
  return 0;
}
