//===- logits.cpp - keeps the logits of a forward pass --------------------===//

#include "runtime/train/logits.h"

#include "runtime/base/half.h"
#include "runtime/train/positions.h"
#include "runtime/train/shards.h"

#include <algorithm>

namespace mtc::runtime {

static bool isLogits(const ExportInfo &e) { return e.name == "logits"; }

LogitsCapture::LogitsCapture(RankState &rank, const EntryInfo &entry)
    : rank_(rank), globalBatch_(rank.descriptor().globalBatchOf(entry)) {
  for (const ExportInfo &e : rank.descriptor().exports)
    if (isLogits(e) && e.entry == entry.name)
      export_ = &e;
}

LogitsCapture::~LogitsCapture() {
  if (!pieces_.empty())
    (void)rank_.stream().wait(rank_.stream().record());
}

Status LogitsCapture::check() const {
  if (export_ || !rank_.onLastStage())
    return Status::okay();
  return {StatusCode::usage,
          "the program of the last stage does not export logits"};
}

Status LogitsCapture::issued(const MtcStep &row) {
  export_ = nullptr; // of one microbatch another fragment may make them
  for (const ExportInfo &e : rank_.descriptor().exports)
    if (isLogits(e) && e.fragment == row.fragment)
      export_ = &e;
  if (!export_ || row.microbatch < 0 ||
      !isFirstHolder(rank_, export_->split, true, export_->pieces))
    return Status::okay();
  const BatchInfo &batch = rank_.descriptor().batch;
  int64_t count = elementCount(export_->localShape);
  data_.emplace_back(count);
  void *to = data_.back().data();
  if (export_->dtype != MTC_F32)
    to = narrow_.emplace_back(count).data();
  dtype_ = export_->dtype;
  int64_t width = floatBytes(dtype_);
  MTC_RETURN_IF_ERROR(rank_.stream().copyOut(
      {static_cast<MtcArena>(export_->arena), export_->offset}, to,
      width * count));
  Piece piece;
  piece.name = export_->name;
  piece.box = shardBox(rank_, export_->shape, export_->split);
  piece.box.begin[0] =
      (row.microbatch * rank_.mesh()[MTC_AXIS_DP] + rank_.coord(MTC_AXIS_DP)) *
      batch.microBatch;
  piece.shape = export_->shape;
  piece.shape[0] = globalBatch_;
  piece.count = count;
  piece.data = data_.back().data();
  if (export_->pieces.dim)
    addParts(std::move(piece));
  else
    pieces_.push_back(std::move(piece));
  return Status::okay();
}

void LogitsCapture::addParts(Piece all) {
  auto dim = static_cast<size_t>(*export_->pieces.dim);
  std::vector<Positions> parts = positionsOf(rank_, export_->shape[dim]);
  // Rows before the dimension, each with all parts, one behind the other.
  std::vector<int64_t> outer(all.box.size.begin(), all.box.size.begin() + dim);
  std::vector<int64_t> begin(all.box.begin);
  for (int64_t row = 0; row < elementCount(outer); ++row) {
    int64_t rest = row;
    for (size_t d = dim; d-- > 0; rest /= outer[d]) {
      all.box.begin[d] = begin[d] + rest % outer[d];
      all.box.size[d] = 1;
    }
    for (const Positions &part : parts) {
      all.box.begin[dim] = part.first;
      all.box.size[dim] = part.count;
      all.count = all.box.elements();
      pieces_.push_back(all);
      all.data += all.count;
    }
  }
}

std::vector<Piece> LogitsCapture::takePieces() {
  for (size_t i = 0; i < narrow_.size(); ++i)
    std::transform(narrow_[i].begin(), narrow_[i].end(), data_[i].begin(),
                   [this](uint16_t bits) { return widenHalf(dtype_, bits); });
  return std::move(pieces_);
}

} // namespace mtc::runtime
