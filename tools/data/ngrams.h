//===- ngrams.h - runs of words that two corpora share ----------*- C++ -*-===//
#ifndef MTC_TOOLS_DATA_NGRAMS_H
#define MTC_TOOLS_DATA_NGRAMS_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mtc::data {

/// The words of a text: longest runs of letters, numbers and "_", the letters A
/// to Z as small ones.
std::vector<std::string> wordsOf(std::string_view text);

/// The runs of n words of some texts, compared as text.
class NgramSet {
public:
  explicit NgramSet(int64_t n) : n_(n) {}

  /// Adds the runs of a text; false if it has fewer than n words.
  bool add(std::string_view text);
  /// Ends adding: from here on several threads may look.
  void seal();

  /// Whether a text has one of them; marks all that it has as found.
  bool look(std::string_view text) const;

  int64_t size() const { return static_cast<int64_t>(places_.size()); }
  int64_t found() const; ///< different ones that texts had

private:
  int64_t n_;
  std::unordered_map<std::string, size_t> places_;
  std::unique_ptr<std::atomic<bool>[]> found_;
};

} // namespace mtc::data
#endif // MTC_TOOLS_DATA_NGRAMS_H
