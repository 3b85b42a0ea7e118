//===- shards.cpp - the parameters that a rank holds ----------------------===//

#include "runtime/train/shards.h"

#include "runtime/base/json.h"
#include "runtime/base/name_hash.h"
#include "runtime/base/safetensors.h"
#include "runtime/kernels/cpu/init.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mtc::runtime {
namespace {

float *paramData(RankState &rank, const ParamInfo &p) {
  const BucketInfo &b = rank.descriptor().buckets[p.bucket];
  return rank.at<float>(MTC_ARENA_PARAMS, b.paramOffset + 4 * p.start);
}

Status initOne(RankState &rank, const ParamInfo &p, uint64_t seed) {
  float *out = paramData(rank, p);
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
  if (split.dim >= 0) {
    int64_t part = shape[split.dim] / rank.mesh().tp;
    box.begin[split.dim] = rank.tp() * part;
    box.size[split.dim] = part;
  }
  return box;
}

bool firstOfTp(const RankState &rank, const SplitInfo &split) {
  return split.dim >= 0 || rank.tp() == 0;
}

std::vector<Piece> paramPieces(RankState &rank) {
  std::vector<Piece> pieces;
  for (const ParamInfo &p : rank.descriptor().params)
    if (p.owner && rank.dp() == 0 && firstOfTp(rank, p.split))
      pieces.push_back({p.name, p.shape, shardBox(rank, p.shape, p.split), 0,
                        p.localElements(), paramData(rank, p)});
  return pieces;
}

std::vector<Piece> gradPieces(RankState &rank) {
  std::vector<Piece> pieces;
  for (const ParamInfo &p : rank.descriptor().params) {
    const BucketInfo &b = rank.descriptor().buckets[p.bucket];
    if (!p.owner || !firstOfTp(rank, p.split) || (!b.zero && rank.dp() != 0))
      continue;
    int64_t first = p.start, end = p.start + p.localElements();
    if (b.zero) {
      first = std::max(first, rank.dp() * b.shardElements);
      end = std::min(end, (rank.dp() + 1) * b.shardElements);
    }
    if (first < end)
      pieces.push_back(
          {p.name, p.shape, shardBox(rank, p.shape, p.split), first - p.start,
           end - first,
           rank.at<float>(MTC_ARENA_GRADS, b.gradOffset + 4 * first)});
  }
  return pieces;
}

Status initParams(RankState &rank, uint64_t seed) {
  for (const ParamInfo &p : rank.descriptor().params)
    MTC_RETURN_IF_ERROR(initOne(rank, p, seed));
  return Status::okay();
}

Status loadParams(RankState &rank, const std::string &path) {
  SafetensorsFile file;
  MTC_RETURN_IF_ERROR(SafetensorsFile::open(path, file));
  Problems problems;
  for (const ParamInfo &p : rank.descriptor().params) {
    const TensorInfo *tensor = file.find(p.name);
    if (!tensor) {
      problems.add(fmt::format("'{}' is missing", p.name));
    } else if (tensor->dtype != "F32" || tensor->shape != p.shape) {
      problems.add(fmt::format("'{}': expected F32 {}, found {} {}", p.name,
                               shapeText(p.shape), tensor->dtype,
                               shapeText(tensor->shape)));
    } else {
      float *out = paramData(rank, p);
      const std::byte *from = file.data(*tensor);
      visitRuns(p.shape, shardBox(rank, p.shape, p.split), 0, p.localElements(),
                [&](int64_t global, int64_t local, int64_t count) {
                  std::memcpy(out + local, from + 4 * global, 4 * count);
                });
    }
  }
  return problems.status("'" + path + "'");
}

} // namespace mtc::runtime
