//===- shards.cpp - the parameters that a rank holds ----------------------===//

#include "runtime/train/shards.h"

#include "runtime/base/bf16.h"
#include "runtime/base/json.h"
#include "runtime/base/name_hash.h"
#include "runtime/base/safetensors.h"
#include "runtime/kernels/cpu/init.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mtc::runtime {
namespace {

/// Elements [begin, end) of a bucket.
struct Range {
  int64_t begin, end;
};

/// Those whose moments, main parameters and final gradients this dp rank holds.
Range shardOf(const RankState &rank, const BucketInfo &b) {
  int64_t begin = b.zero ? rank.coord(MTC_AXIS_DP) * b.shardElements : 0;
  return {begin, begin + b.shardElements};
}

float *gradAt(RankState &rank, const BucketInfo &b, int64_t element) {
  return rank.at<float>(MTC_ARENA_GRADS, b.gradOffset + 4 * element);
}

float *mainAt(RankState &rank, const BucketInfo &b, int64_t element) {
  int64_t begin = shardOf(rank, b).begin;
  return rank.at<float>(MTC_ARENA_OPTIMIZER,
                        b.state("main")->offset + 4 * (element - begin));
}

/// Where the fp32 values of a parameter are put before the first step. In bf16
/// no rank holds all of them for long: the gradient accumulators have their
/// layout and are not yet in use.
float *fillData(RankState &rank, const ParamInfo &p) {
  const Descriptor &d = rank.descriptor();
  const BucketInfo &b = d.buckets[p.bucket];
  if (d.hasMains())
    return gradAt(rank, b, p.start);
  return rank.at<float>(MTC_ARENA_PARAMS, b.paramOffset + 4 * p.start);
}

/// From the gradient accumulators to the parameters and main parameters of a
/// bucket; the accumulators are zero afterwards.
void settleBucket(RankState &rank, const BucketInfo &b) {
  float *values = gradAt(rank, b, 0);
  auto *rounded = rank.at<uint16_t>(MTC_ARENA_PARAMS, b.paramOffset);
  // Called by name: a pointer to a function that must be inlined needs -O2.
  std::transform(values, values + b.elements, rounded,
                 [](float value) { return roundToBf16(value); });
  Range shard = shardOf(rank, b);
  std::copy(values + shard.begin, values + shard.end,
            mainAt(rank, b, shard.begin));
  std::fill_n(values, b.elements, 0.0f);
}

void settleParams(RankState &rank) {
  if (!rank.descriptor().hasMains())
    return;
  for (const BucketInfo &b : rank.descriptor().buckets)
    if (!b.secondUseOf)
      settleBucket(rank, b);
}

/// What this rank writes of all tensors. `ranged`: each dp rank has its range
/// of a bucket under ZeRO-1; otherwise all have all and the first one writes
/// it. dataAt(bucket, element) is the address of an element's fp32 value.
template <typename DataAt>
std::vector<Piece> ownedPieces(RankState &rank, bool ranged, DataAt dataAt) {
  std::vector<Piece> pieces;
  for (const ParamInfo &p : rank.descriptor().params) {
    const BucketInfo &b = rank.descriptor().buckets[p.bucket];
    bool part = ranged && b.zero;
    if (!p.owner || !isFirstHolder(rank, p.split, part))
      continue;
    Range range = part ? shardOf(rank, b) : Range{0, b.elements};
    int64_t first = std::max(p.start, range.begin);
    int64_t end = std::min(p.start + p.localElements(), range.end);
    if (first < end)
      pieces.push_back({p.name, p.shape, shardBox(rank, p.shape, p.split),
                        first - p.start, end - first, dataAt(b, first)});
  }
  return pieces;
}

Status initOne(RankState &rank, const ParamInfo &p, uint64_t seed) {
  float *out = fillData(rank, p);
  if (p.init.kind != InitInfo::normal) {
    std::fill_n(out, p.localElements(),
                p.init.kind == InitInfo::ones ? 1.0f : 0.0f);
    return Status::okay();
  }
  Box box = shardBox(rank, p.shape, p.split);
  return initNormal(out, nameHash(p.name), seed, p.init.std,
                    {p.shape, box.begin, box.size});
}

std::string shapeText(const std::vector<int64_t> &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

} // namespace

Box shardBox(const RankState &rank, const std::vector<int64_t> &shape,
             const SplitInfo &split) {
  Box box{std::vector<int64_t>(shape.size(), 0), shape};
  if (split.dim) {
    int64_t dim = *split.dim, part = shape[dim] / rank.mesh()[split.axis];
    box.begin[dim] = rank.coord(split.axis) * part;
    box.size[dim] = part;
  }
  return box;
}

bool isFirstHolder(const RankState &rank, const SplitInfo &split, bool overDp) {
  for (const AxisInfo &axis : kAxes) {
    bool differs = axis.id == MTC_AXIS_PP || split.along(axis.id) ||
                   (overDp && axis.id == MTC_AXIS_DP);
    if (!differs && rank.coord(axis.id) != 0)
      return false;
  }
  return true;
}

std::vector<Piece> paramPieces(RankState &rank) {
  if (rank.descriptor().hasMains())
    return ownedPieces(rank, true, [&](const BucketInfo &b, int64_t element) {
      return mainAt(rank, b, element);
    });
  return ownedPieces(rank, false, [&](const BucketInfo &b, int64_t element) {
    return rank.at<float>(MTC_ARENA_PARAMS, b.paramOffset + 4 * element);
  });
}

std::vector<Piece> gradPieces(RankState &rank) {
  return ownedPieces(rank, true, [&](const BucketInfo &b, int64_t element) {
    return gradAt(rank, b, element);
  });
}

Status initParams(RankState &rank, uint64_t seed) {
  for (const ParamInfo &p : rank.descriptor().params)
    MTC_RETURN_IF_ERROR(initOne(rank, p, seed));
  settleParams(rank);
  return Status::okay();
}

std::string tensorProblem(const ParamInfo &p, const TensorInfo *tensor) {
  if (!tensor)
    return fmt::format("'{}' is missing", p.name);
  if (tensor->dtype == "F32" && tensor->shape == p.shape)
    return "";
  return fmt::format("'{}': expected F32 {}, found {} {}", p.name,
                     shapeText(p.shape), tensor->dtype,
                     shapeText(tensor->shape));
}

Status loadParams(RankState &rank, const std::string &path) {
  SafetensorsFile file;
  MTC_RETURN_IF_ERROR(SafetensorsFile::open(path, file));
  Problems problems;
  for (const ParamInfo &p : rank.descriptor().params) {
    const TensorInfo *tensor = file.find(p.name);
    if (std::string problem = tensorProblem(p, tensor); !problem.empty()) {
      problems.add(std::move(problem));
    } else {
      float *out = fillData(rank, p);
      const std::byte *from = file.data(*tensor);
      visitRuns(p.shape, shardBox(rank, p.shape, p.split), 0, p.localElements(),
                [&](int64_t global, int64_t local, int64_t count) {
                  std::memcpy(out + local, from + 4 * global, 4 * count);
                });
    }
  }
  settleParams(rank);
  return problems.status("'" + path + "'");
}

} // namespace mtc::runtime
