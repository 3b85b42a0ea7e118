//===- step_documents.cpp - documents of a step's samples -----------------===//

#include "runtime/train/step_documents.h"

#include <algorithm>
#include <bit>

namespace mtc::runtime {

void StepDocuments::open(const Descriptor &program, int64_t seq,
                         int64_t replica) {
  for (const InputInfo &in : program.inputs) {
    const InputRow *row = inputNamed(in.name); // checked with the descriptor
    wanted_ |= row && row->asksForDocuments();
    weighs_ |= row && row->isWeight;
  }
  seq_ = seq;
  microBatch_ = program.batch.microBatch;
  replicas_ = program.mesh[MTC_AXIS_DP];
  replica_ = replica;
  if (!wanted_)
    return;
  int64_t microbatches = program.batch.microbatches;
  starts_.resize(static_cast<size_t>(microbatches * microBatch_ * (seq + 1)));
  inLoss_.resize(static_cast<size_t>(microbatches));
  found_.reserve(static_cast<size_t>(seq + 1));
}

Status StepDocuments::read(const SampleSource &source, int64_t first,
                           int64_t count, int64_t &sample) {
  if (!wanted_)
    return Status::okay();
  allInLoss_ = 0;
  blocks_ = count / microBatch_;
  std::ranges::fill(inLoss_, 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t block = i / microBatch_;
    bool isOwn = block % replicas_ == replica_;
    if (!isOwn && !weighs_)
      continue;
    sample = first + i;
    MTC_RETURN_IF_ERROR(source.documentStarts(sample, found_));
    int64_t inLoss =
        seq_ - std::ranges::count_if(found_, [](int32_t at) { return at > 0; });
    allInLoss_ += inLoss;
    if (!isOwn)
      continue;
    inLoss_[block / replicas_] += inLoss;
    place(block / replicas_ * microBatch_ + i % microBatch_);
  }
  return Status::okay();
}

void StepDocuments::place(int64_t own) {
  int32_t *starts = &starts_[own * (seq_ + 1)];
  int32_t start = 0;
  auto next = found_.begin();
  for (int32_t at = 0; at <= seq_; ++at) {
    if (next != found_.end() && *next == at)
      start = *next++;
    starts[at] = start;
  }
}

float StepDocuments::weightOf(InputKind kind, int64_t microbatch) const {
  auto all = static_cast<double>(std::max<int64_t>(allInLoss_, 1));
  if (kind == InputKind::LossWeights)
    return static_cast<float>(1 / all);
  auto own = static_cast<double>(std::max<int64_t>(inLoss_[microbatch], 1));
  return static_cast<float>(all / (static_cast<double>(blocks_) * own));
}

void StepDocuments::write(InputKind kind, int64_t microbatch,
                          std::span<const Positions> parts,
                          int32_t *out) const {
  if (kind == InputKind::DocumentStarts) {
    for (int64_t i = 0; i < microBatch_; ++i)
      for (const Positions &part : parts)
        out = std::copy_n(
            &starts_[(microbatch * microBatch_ + i) * (seq_ + 1) + part.first],
            part.count, out);
    return;
  }
  float weight = weightOf(kind, microbatch);
  for (int64_t i = 0; i < microBatch_; ++i)
    for (const Positions &part : parts)
      for (int64_t p = part.first; p < part.first + part.count; ++p) {
        bool isLeftOut = kind == InputKind::LossWeights &&
                         endsDocument(microbatch * microBatch_ + i, p);
        *out++ = std::bit_cast<int32_t>(isLeftOut ? 0.0f : weight);
      }
}

} // namespace mtc::runtime
