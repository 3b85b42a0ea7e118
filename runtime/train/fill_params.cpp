//===- fill_params.cpp - parameters on their way to a device --------------===//

#include "runtime/train/fill_params.h"

#include "runtime/base/half.h"
#include "runtime/train/shards.h"

#include <algorithm>

namespace mtc::runtime {

/// Elements of a part, or those of one index of dimension 0 if they are more.
static constexpr int64_t kPart = int64_t{1} << 20;

Status ParamFiller::fill(const ParamInfo &p, const Values &values) {
  Box shard = shardBox(rank_, p.shape, p.split);
  int64_t rows = shard.size.empty() ? 1 : shard.size[0];
  int64_t perRow = rows > 0 ? shard.elements() / rows : 0;
  int64_t step = std::max<int64_t>(1, kPart / std::max<int64_t>(1, perRow));
  for (int64_t row = 0; row < rows; row += step) {
    Box part = shard;
    if (!part.size.empty()) {
      part.begin[0] += row;
      part.size[0] = std::min(step, rows - row);
    }
    int64_t count = part.elements();
    std::byte *out = nullptr;
    MTC_RETURN_IF_ERROR(values_.next(4 * count, out));
    auto *made = reinterpret_cast<float *>(out);
    MTC_RETURN_IF_ERROR(values(part, made));
    const BucketInfo &b = rank_.descriptor().buckets[p.bucket];
    MTC_RETURN_IF_ERROR(send(b, p.start + row * perRow, made, count));
  }
  return Status::okay();
}

Status ParamFiller::fillState(const ParamInfo &p, const StateInfo &state,
                              const Elements &values) {
  const BucketInfo &b = rank_.descriptor().buckets[p.bucket];
  auto own = partOf({p.start, p.start + p.localElements()}, shardOf(rank_, b));
  if (!own)
    return Status::okay();
  int64_t all = own->local.end - own->local.begin;
  for (int64_t at = 0; at < all; at += kPart) {
    int64_t count = std::min(kPart, all - at);
    std::byte *out = nullptr;
    MTC_RETURN_IF_ERROR(values_.next(4 * count, out));
    MTC_RETURN_IF_ERROR(
        values(own->param.begin + at, count, reinterpret_cast<float *>(out)));
    MTC_RETURN_IF_ERROR(values_.send(
        {MTC_ARENA_OPTIMIZER, state.offset + 4 * (own->local.begin + at)}, 0,
        4 * count));
  }
  return Status::okay();
}

Status ParamFiller::send(const BucketInfo &b, int64_t first,
                         const float *values, int64_t count) {
  if (!b.hasMains())
    return values_.send({MTC_ARENA_PARAMS, b.paramOffset + 4 * first}, 0,
                        4 * count);
  MTC_RETURN_IF_ERROR(sendRounded(b, first, values, count));
  ElementRange shard = shardOf(rank_, b);
  int64_t begin = std::max(first, shard.begin);
  int64_t end = std::min(first + count, shard.end);
  if (begin >= end)
    return Status::okay();
  return values_.send(mainOffset(rank_, b, begin), 4 * (begin - first),
                      4 * (end - begin));
}

Status ParamFiller::sendRounded(const BucketInfo &b, int64_t first,
                                const float *values, int64_t count) {
  std::byte *out = nullptr;
  MTC_RETURN_IF_ERROR(rounded_.next(2 * count, out));
  std::transform(values, values + count, reinterpret_cast<uint16_t *>(out),
                 [&b](float value) { return roundToHalf(b.dtype, value); });
  return rounded_.send({MTC_ARENA_PARAMS, b.paramOffset + 2 * first}, 0,
                       2 * count);
}

} // namespace mtc::runtime
