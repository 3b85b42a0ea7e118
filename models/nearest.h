//===- nearest.h - what the user may have meant -----------------*- C++ -*-===//
#ifndef MTC_MODELS_NEAREST_H
#define MTC_MODELS_NEAREST_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::models {

/// The candidate closest to `word`, counting insertions, deletions,
/// replacements and swaps of neighbours (optimal string alignment distance);
/// the first of equals; "" if none is within a third of the word (at least 2).
std::string nearestName(std::string_view word,
                        const std::vector<std::string_view> &candidates);

/// ", did you mean 'x'?" or ", expected one of: a, b", for the end of a
/// message about a name that is not known.
std::string suggestion(std::string_view word,
                       const std::vector<std::string_view> &candidates);

/// The divisors of `n` next to `value`: the largest below and the smallest
/// above, or `value` alone if it divides. n >= 1.
std::vector<int64_t> nearestDivisors(int64_t n, int64_t value);

/// The positive multiples of `unit` next to `value`, as above. unit >= 1.
std::vector<int64_t> nearestMultiples(int64_t unit, int64_t value);

/// "2 or 4", "3", "2, 3 or 4".
std::string joinOr(const std::vector<int64_t> &values);

/// "a, b, c".
std::string join(const std::vector<std::string_view> &words);

/// Whether a text was read; else what is wrong in it or near to it, for the end
/// of a message, where there is more to say: ", did you mean 'full'?".
struct ReadText {
  bool ok = false;
  std::string advice;
};

/// Names with commas between them, each once, or what is wrong with them, for
/// the end of a message: ", where 'x' is no family" with `what` "no family".
struct NameList {
  std::vector<std::string> names;
  std::string wrong;
};
NameList parseNames(std::string_view text,
                    const std::vector<std::string_view> &known,
                    std::string_view what);

/// A key that is "none" or names of `known`: what it says of itself in
/// messages; reading it into `out`, in the order of `known`, which stays as it
/// is where the text is wrong (`what` as above); and writing it.
std::string describeSome(const std::vector<std::string_view> &known);
ReadText parseSome(std::string_view text,
                   const std::vector<std::string_view> &known,
                   std::string_view what, std::vector<std::string> &out);
std::string textOfSome(const std::vector<std::string> &names);

} // namespace mtc::models
#endif // MTC_MODELS_NEAREST_H
