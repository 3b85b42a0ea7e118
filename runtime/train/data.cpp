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

int64_t TokenLoader::sampleAt(int64_t base, int64_t index) const {
  int64_t microbatch = index / batch_.microBatch;
  return base + (microbatch * dp_ + dpRank_) * batch_.microBatch +
         index % batch_.microBatch;
}

Status TokenLoader::fetch(int64_t base) {
  if (!reads_ || next_.base == base)
    return Status::okay();
  if (!source_)
    return {
        StatusCode::internal,
        fmt::format("no data were prepared for samples of {} tokens", seq_)};
  next_.base = -1;
  int64_t sample = base;
  if (Status status = read(base, sample); !status.ok())
    return {status.code(),
            fmt::format("step {}, sample {}: {}", base / batch_.globalBatch + 1,
                        sample, status.message())};
  next_.base = base;
  return Status::okay();
}

Status TokenLoader::read(int64_t base, int64_t &sample) {
  int64_t count = batch_.microbatches * batch_.microBatch;
  for (int64_t i = 0; i < count; ++i) {
    sample = sampleAt(base, i);
    MTC_RETURN_IF_ERROR(source_->read(sample, &next_.tokens[i * (seq_ + 1)]));
  }
  return next_.documents.read(*source_, base, batch_.globalBatch, sample);
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
