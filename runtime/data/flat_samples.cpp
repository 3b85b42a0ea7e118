//===- flat_samples.cpp - samples from a flat file of tokens --------------===//

#include "runtime/data/flat_samples.h"

#include "runtime/data/permutation.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {

Status FlatSamples::open(const FlatTokens &tokens, int64_t seq, int64_t vocab,
                         uint64_t seed, bool sequential, FlatSamples &out) {
  FlatSamples samples;
  samples.tokens_ = tokens;
  samples.seq_ = seq;
  samples.vocab_ = vocab;
  samples.seed_ = seed;
  samples.sequential_ = sequential;
  samples.windows_ = (tokens.count - 1) / seq;
  if (tokens.count == 0)
    return {StatusCode::inputRejected,
            fmt::format("token file '{}' is empty; expected at least {} tokens "
                        "(seq + 1)",
                        tokens.path, seq + 1)};
  if (samples.windows_ < 1)
    return {StatusCode::inputRejected,
            fmt::format("token file '{}' has {} tokens; one sample needs {} "
                        "(seq + 1)",
                        tokens.path, tokens.count, seq + 1)};
  MTC_RETURN_IF_ERROR(MappedFile::open(tokens.path, samples.file_));
  int64_t expected = tokens.firstByte + tokens.count * tokens.tokenBytes();
  if (samples.file_.size() != expected)
    return {StatusCode::inputRejected,
            fmt::format("token file '{}': expected {} bytes, as many as when "
                        "it was checked, found {}; what writes it must end "
                        "before the run begins",
                        tokens.path, expected, samples.file_.size())};
  out = std::move(samples);
  return Status::okay();
}

int64_t FlatSamples::firstToken(int64_t sample) const {
  int64_t window = sample % windows_;
  if (!sequential_)
    window = Permutation(seed_, static_cast<uint64_t>(sample / windows_),
                         windows_)(window);
  return window * seq_;
}

Status FlatSamples::readTokens(int64_t first, int64_t count,
                               std::byte *out) const {
  int64_t bytes = tokens_.tokenBytes();
  return file_.read(tokens_.firstByte + first * bytes, out, count * bytes);
}

Status FlatSamples::read(int64_t sample, int32_t *out) const {
  int64_t first = firstToken(sample), count = seq_ + 1;
  read_.resize(static_cast<size_t>(count * tokens_.tokenBytes()));
  MTC_RETURN_IF_ERROR(readTokens(first, count, read_.data()));
  BadTokens bad;
  findBadTokens(tokens_.type, read_.data(), count, vocab_, first, bad);
  widenTokens(tokens_.type, read_.data(), count, out);
  return rejection(bad);
}

Status FlatSamples::scan(int64_t first, int64_t count, BadTokens &bad) const {
  constexpr int64_t most = int64_t{1} << 18; // tokens in memory at a time
  read_.resize(
      static_cast<size_t>(std::min(most, count) * tokens_.tokenBytes()));
  for (int64_t end = first + count; first < end; first += most) {
    int64_t part = std::min(most, end - first);
    MTC_RETURN_IF_ERROR(readTokens(first, part, read_.data()));
    findBadTokens(tokens_.type, read_.data(), part, vocab_, first, bad);
  }
  return Status::okay();
}

Status FlatSamples::check(int64_t first, int64_t count,
                          const DataProgress &progress) const {
  BadTokens bad;
  auto step = [&](int64_t token, int64_t tokens, double done) -> Status {
    if (progress && !progress(done))
      return {StatusCode::interrupted, "stopped while tokens were checked"};
    return scan(token, tokens, bad);
  };
  // Samples in the order of the file, or all of them, are read as one row.
  bool all = count >= windows_;
  bool row = all || (sequential_ && first % windows_ + count <= windows_);
  int64_t from = all ? 0 : firstToken(first);
  int64_t end = from + (all ? windows_ : count) * seq_ + 1;
  constexpr int64_t part = int64_t{1} << 22;
  for (int64_t at = from; row && at < end; at += part)
    MTC_RETURN_IF_ERROR(
        step(at, std::min(part, end - at),
             static_cast<double>(at - from) / static_cast<double>(end - from)));
  for (int64_t k = 0; !row && k < count; ++k)
    MTC_RETURN_IF_ERROR(
        step(firstToken(first + k), seq_ + 1,
             static_cast<double>(k) / static_cast<double>(count)));
  return rejection(bad);
}

Status FlatSamples::rejection(const BadTokens &bad) const {
  return rejectionOf(bad, tokens_.path, vocab_,
                     tokens_.firstByte > 0 ? "the tokenizer"
                                           : "--data-type and the tokenizer");
}

} // namespace mtc::runtime
