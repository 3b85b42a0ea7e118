//===- ngrams.cpp - runs of words that two corpora share ------------------===//

#include "tools/data/ngrams.h"

#include "tools/data/unicode.h"

#include <algorithm>

namespace mtc::data {
namespace {

/// Calls `use` with each run of n words, the words with a space between.
template <typename Use>
void forEachNgram(const std::vector<std::string> &words, int64_t n, Use use) {
  auto count = static_cast<int64_t>(words.size());
  std::string run;
  for (int64_t first = 0; first + n <= count; ++first) {
    if (first == 0)
      for (int64_t i = 0; i < n; ++i)
        run += words[i] + " ";
    else {
      run.erase(0, words[first - 1].size() + 1);
      run += words[first + n - 1] + " ";
    }
    use(run);
  }
}

} // namespace

std::vector<std::string> wordsOf(std::string_view text) {
  std::vector<std::string> words;
  bool open = false;
  for (size_t at = 0; at < text.size();) {
    CodePoint point = codePointAt(text, at);
    CharKind kind = point.valid ? kindOf(point.value) : CharKind::other;
    bool isPart = kind == CharKind::letter || kind == CharKind::number ||
                  (point.valid && point.value == '_');
    if (isPart && !open)
      words.emplace_back();
    if (isPart && point.value >= 'A' && point.value <= 'Z')
      words.back() += static_cast<char>(point.value - 'A' + 'a');
    else if (isPart)
      words.back() += text.substr(at, point.bytes);
    open = isPart;
    at += point.bytes;
  }
  return words;
}

bool NgramSet::add(std::string_view text) {
  std::vector<std::string> words = wordsOf(text);
  forEachNgram(words, n_, [&](const std::string &run) {
    places_.emplace(run, places_.size());
  });
  return static_cast<int64_t>(words.size()) >= n_;
}

void NgramSet::seal() {
  found_ = std::make_unique<std::atomic<bool>[]>(places_.size());
}

bool NgramSet::look(std::string_view text) const {
  bool any = false;
  forEachNgram(wordsOf(text), n_, [&](const std::string &run) {
    auto at = places_.find(run);
    if (at == places_.end())
      return;
    any = true;
    found_[at->second].store(true, std::memory_order_relaxed);
  });
  return any;
}

int64_t NgramSet::found() const {
  return std::count_if(found_.get(), found_.get() + places_.size(),
                       [](const std::atomic<bool> &one) { return one.load(); });
}

} // namespace mtc::data
