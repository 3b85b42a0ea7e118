//===- data.cpp - samples from a flat file of tokens ----------------------===//

#include "runtime/train/data.h"

#include "runtime/data/permutation.h"

#include <fmt/format.h>

#include <algorithm>
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
  MTC_RETURN_IF_ERROR(InputFile::open(path, tokens.file_));
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
  tokens.seq_ = seq;
  tokens.vocab_ = vocab;
  tokens.seed_ = seed;
  out = std::move(tokens);
  return Status::okay();
}

Status TokenFile::open(const Job &job, const BatchInfo &batch, int64_t seq,
                       TokenFile &out) {
  MTC_RETURN_IF_ERROR(open(job.tokenFile(), job.recipe.data_dtype, seq,
                           batch.vocab, job.recipe.seed, out));
  if (job.tokenBytes >= 0 && out.bytes() != job.tokenBytes)
    return {StatusCode::inputRejected,
            fmt::format("token file '{}': expected {} bytes, as many as when "
                        "it was checked, found {}; what writes it must end "
                        "before the run begins",
                        job.tokenFile(), job.tokenBytes, out.bytes())};
  out.setSequential(job.readsInOrder());
  return Status::okay();
}

int64_t TokenFile::firstToken(int64_t sample) const {
  int64_t window = sample % windows_;
  if (!sequential_)
    window = Permutation(seed_, static_cast<uint64_t>(sample / windows_),
                         windows_)(window);
  return window * seq_;
}

/// Calls visit(index, value) for `count` tokens as they are in a file.
template <typename Token, typename Visit>
static void forTokens(const std::byte *tokens, int64_t count, Visit visit) {
  for (int64_t i = 0; i < count; ++i) {
    Token token;
    std::memcpy(&token, tokens + i * int64_t(sizeof(Token)), sizeof(Token));
    visit(i, static_cast<int64_t>(token));
  }
}

template <typename Visit>
static void forTokens(int tokenBytes, const std::byte *tokens, int64_t count,
                      Visit visit) {
  switch (tokenBytes) {
  case 1:
    return forTokens<uint8_t>(tokens, count, visit);
  case 2:
    return forTokens<uint16_t>(tokens, count, visit);
  default:
    return forTokens<int32_t>(tokens, count, visit);
  }
}

void TokenFile::look(const std::byte *tokens, int64_t first, int64_t count,
                     BadTokens &bad) const {
  forTokens(tokenBytes_, tokens, count, [&](int64_t i, int64_t value) {
    if (value >= 0 && value < vocab_)
      return;
    if (bad.count++ == 0) {
      bad.position = first + i;
      bad.value = value;
    }
  });
}

Status TokenFile::read(int64_t sample, std::byte *out) const {
  int64_t first = firstToken(sample);
  MTC_RETURN_IF_ERROR(file_.read(first * tokenBytes_, out, windowBytes()));
  BadTokens bad;
  look(out, first, windowTokens(), bad);
  return rejection(bad);
}

void TokenFile::widen(const std::byte *window, int64_t first, int64_t count,
                      int32_t *out) const {
  forTokens(
      tokenBytes_, window + first * tokenBytes_, count,
      [&](int64_t i, int64_t value) { out[i] = static_cast<int32_t>(value); });
}

Status TokenFile::scan(int64_t first, int64_t count, BadTokens &bad) {
  constexpr int64_t most = int64_t{1} << 18; // tokens in memory at a time
  for (int64_t end = first + count; first < end; first += most) {
    int64_t part = std::min(most, end - first);
    block_.resize(static_cast<size_t>(part * tokenBytes_));
    MTC_RETURN_IF_ERROR(
        file_.read(first * tokenBytes_, block_.data(), part * tokenBytes_));
    look(block_.data(), first, part, bad);
  }
  return Status::okay();
}

Status TokenFile::rejection(const BadTokens &bad) const {
  if (bad.count == 0)
    return Status::okay();
  std::string more =
      bad.count > 1 ? fmt::format(" and {} more", bad.count - 1) : "";
  return {StatusCode::inputRejected,
          fmt::format("token file '{}': expected tokens from 0 to {} "
                      "(vocabulary size {}), found {} at position {}{}; check "
                      "--data-type and the tokenizer",
                      file_.path(), vocab_ - 1, vocab_, bad.value, bad.position,
                      more)};
}

Status TokenLoader::open(const Job &job, const RankState &rank, int64_t seq) {
  const Descriptor &d = rank.descriptor();
  batch_ = d.batch;
  dp_ = d.mesh[MTC_AXIS_DP];
  dpRank_ = rank.coord(MTC_AXIS_DP);
  parts_ = positionsOf(rank, seq);
  reads_ = !d.inputs.empty();
  if (!reads_)
    return Status::okay();
  MTC_RETURN_IF_ERROR(TokenFile::open(job, batch_, seq, tokens_));
  for (Samples *samples : {&now_, &next_})
    samples->windows.resize(static_cast<size_t>(
        batch_.microbatches * batch_.microBatch * tokens_.windowBytes()));
  return Status::okay();
}

int64_t TokenLoader::sampleAt(int64_t base, int64_t index) const {
  int64_t microbatch = index / batch_.microBatch;
  return base + (microbatch * dp_ + dpRank_) * batch_.microBatch +
         index % batch_.microBatch;
}

Status TokenLoader::fetch(int64_t base) {
  if (!reads_ || next_.base == base)
    return Status::okay();
  next_.base = -1;
  int64_t count = batch_.microbatches * batch_.microBatch;
  int64_t bytes = tokens_.windowBytes();
  for (int64_t i = 0; i < count; ++i) {
    int64_t sample = sampleAt(base, i);
    if (Status status = tokens_.read(sample, &next_.windows[i * bytes]);
        !status.ok())
      return {status.code(), fmt::format("step {}, sample {}: {}",
                                         base / batch_.globalBatch + 1, sample,
                                         status.message())};
  }
  next_.base = base;
  return Status::okay();
}

Status TokenLoader::turnTo(int64_t base) {
  if (!reads_ || now_.base == base)
    return Status::okay();
  MTC_RETURN_IF_ERROR(fetch(base));
  std::swap(now_, next_);
  return Status::okay();
}

Status TokenLoader::load(const InputInfo &in, int64_t microbatch,
                         int32_t *out) {
  const InputKind *kind = inputNamed(in.name); // checked with the descriptor
  int64_t shift = kind ? kind->shift : 0;
  int64_t first = microbatch * batch_.microBatch;
  for (int64_t i = 0; i < batch_.microBatch; ++i)
    for (const Positions &part : parts_) {
      tokens_.widen(&now_.windows[(first + i) * tokens_.windowBytes()],
                    part.first + shift, part.count, out);
      out += part.count;
    }
  return Status::okay();
}

} // namespace mtc::runtime
