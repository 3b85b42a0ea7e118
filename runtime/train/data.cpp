//===- data.cpp - feeds a rank with its samples ---------------------------===//

#include "runtime/train/data.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {

Status TokenLoader::open(const SourceFiles *files, const RankState &rank,
                         int64_t seq) {
  const Descriptor &d = rank.descriptor();
  batch_ = d.batch;
  seq_ = seq;
  dp_ = d.mesh[MTC_AXIS_DP];
  dpRank_ = rank.coord(MTC_AXIS_DP);
  parts_ = positionsOf(rank, seq);
  reads_ = !d.inputs.empty();
  if (!reads_ || !files)
    return Status::okay();
  MTC_RETURN_IF_ERROR(openSource(*files, batch_.vocab, source_));
  for (Samples *samples : {&now_, &next_}) {
    samples->tokens.resize(static_cast<size_t>(batch_.microbatches *
                                               batch_.microBatch * (seq + 1)));
    samples->documents.open(d, seq, dpRank_);
  }
  return Status::okay();
}

int64_t TokenLoader::sampleAt(int64_t first, int64_t index) const {
  int64_t microbatch = index / batch_.microBatch;
  return first + (microbatch * dp_ + dpRank_) * batch_.microBatch +
         index % batch_.microBatch;
}

Status TokenLoader::fetch(const GlobalBatch &batch) {
  if (!reads_ || next_.batch == batch)
    return Status::okay();
  if (!source_)
    return {
        StatusCode::internal,
        fmt::format("no data were prepared for samples of {} tokens", seq_)};
  next_.batch = {};
  int64_t sample = batch.first;
  if (Status status = read(batch, sample); !status.ok())
    return {status.code(), fmt::format("step {}, sample {}: {}", batch.number,
                                       sample, status.message())};
  next_.batch = batch;
  return Status::okay();
}

Status TokenLoader::read(const GlobalBatch &batch, int64_t &sample) {
  for (int64_t i = 0; i < batch.samples / dp_; ++i) {
    sample = sampleAt(batch.first, i);
    MTC_RETURN_IF_ERROR(source_->read(sample, &next_.tokens[i * (seq_ + 1)]));
  }
  return next_.documents.read(*source_, batch.first, batch.samples, sample);
}

Status TokenLoader::turnTo(const GlobalBatch &batch) {
  if (!reads_ || now_.batch == batch)
    return Status::okay();
  MTC_RETURN_IF_ERROR(fetch(batch));
  std::swap(now_, next_);
  return Status::okay();
}

Status TokenLoader::load(const InputInfo &in, int64_t microbatch,
                         int32_t *out) {
  InputKind kind = inputNamed(in.name)->id; // checked with the descriptor
  if (kind != InputKind::Ids && kind != InputKind::Labels) {
    now_.documents.write(kind, microbatch, parts_, out);
    return Status::okay();
  }
  int64_t shift = kind == InputKind::Labels ? 1 : 0;
  int64_t first = microbatch * batch_.microBatch;
  for (int64_t i = 0; i < batch_.microBatch; ++i)
    for (const Positions &part : parts_)
      out = std::copy_n(
          &now_.tokens[(first + i) * (seq_ + 1) + part.first + shift],
          part.count, out);
  return Status::okay();
}

} // namespace mtc::runtime
