//===- data.cpp - samples from a flat file of tokens ----------------------===//

#include "runtime/train/data.h"

#include "runtime/train/permutation.h"

#include <fmt/format.h>

#include <cstring>

namespace mtc::runtime {

Status TokenFile::open(const std::string &path, const std::string &dtype,
                       int64_t seq, int64_t vocab, uint64_t seed,
                       TokenFile &out) {
  TokenFile tokens;
  tokens.tokenBytes_ = dtype == "u8"    ? 1
                       : dtype == "u16" ? 2
                       : dtype == "i32" ? 4
                                        : 0;
  if (tokens.tokenBytes_ == 0)
    return {
        StatusCode::usage,
        fmt::format("data dtype: expected u8, u16 or i32, found '{}'", dtype)};
  if (path.empty())
    return {StatusCode::usage,
            "no token file given; set --data, or 'data' in the recipe"};
  MTC_RETURN_IF_ERROR(MappedFile::open(path, tokens.file_));
  int64_t bytes = tokens.file_.size();
  if (bytes == 0)
    return {StatusCode::inputRejected,
            fmt::format("token file '{}' is empty; expected at least {} tokens "
                        "(seq + 1)",
                        path, seq + 1)};
  if (bytes % tokens.tokenBytes_ != 0)
    return {StatusCode::inputRejected,
            fmt::format("token file '{}' has {} bytes, no multiple of the {} "
                        "bytes of a {} token; check --data-type",
                        path, bytes, tokens.tokenBytes_, dtype)};
  int64_t count = bytes / tokens.tokenBytes_;
  tokens.windows_ = (count - 1) / seq;
  if (tokens.windows_ == 0)
    return {StatusCode::inputRejected,
            fmt::format("token file '{}' has {} tokens; one sample needs {} "
                        "(seq + 1)",
                        path, count, seq + 1)};
  tokens.path_ = path;
  tokens.seq_ = seq;
  tokens.vocab_ = vocab;
  tokens.seed_ = seed;
  out = std::move(tokens);
  return Status::okay();
}

template <typename Token>
Status TokenFile::copy(int64_t first, int32_t *out) const {
  const std::byte *from = file_.data() + first * int64_t(sizeof(Token));
  for (int64_t i = 0; i < seq_; ++i) {
    Token token;
    std::memcpy(&token, from + i * sizeof(Token), sizeof(Token));
    int64_t value = token;
    if (value < 0 || value >= vocab_)
      return {
          StatusCode::inputRejected,
          fmt::format("token file '{}': token {} at position {} is not "
                      "below the vocabulary size {}; check --data-type and the "
                      "tokenizer",
                      path_, value, first + i, vocab_)};
    out[i] = static_cast<int32_t>(value);
  }
  return Status::okay();
}

Status TokenFile::read(int64_t sample, int shift, int32_t *out) const {
  int64_t window = sample % windows_;
  if (!sequential_)
    window = Permutation(seed_, static_cast<uint64_t>(sample / windows_),
                         windows_)(window);
  int64_t first = window * seq_ + shift;
  switch (tokenBytes_) {
  case 1:
    return copy<uint8_t>(first, out);
  case 2:
    return copy<uint16_t>(first, out);
  default:
    return copy<int32_t>(first, out);
  }
}

Status TokenLoader::open(const Recipe &recipe, const RankState &rank) {
  const Descriptor &d = rank.descriptor();
  batch_ = d.batch;
  dp_ = d.mesh[MTC_AXIS_DP];
  dpRank_ = rank.coord(MTC_AXIS_DP);
  if (d.inputs.empty())
    return Status::okay();
  MTC_RETURN_IF_ERROR(TokenFile::open(recipe.data, recipe.data_dtype,
                                      batch_.seq, batch_.vocab, recipe.seed,
                                      tokens_));
  tokens_.setSequential(recipe.order == "sequential");
  return Status::okay();
}

Status TokenLoader::load(const InputInfo &in, int64_t microbatch,
                         int32_t *out) {
  const InputKind *kind = inputNamed(in.name); // checked with the descriptor
  int64_t shift = kind ? kind->shift : 0;
  int64_t first = base_ + (microbatch * dp_ + dpRank_) * batch_.microBatch;
  for (int64_t i = 0; i < batch_.microBatch; ++i)
    if (Status status = tokens_.read(first + i, shift, out + i * batch_.seq);
        !status.ok())
      return {status.code(), fmt::format("step {}, sample {}: {}",
                                         base_ / batch_.globalBatch + 1,
                                         first + i, status.message())};
  return Status::okay();
}

} // namespace mtc::runtime
