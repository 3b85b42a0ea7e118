//===- shards.cpp - the parameters that a rank holds ----------------------===//

#include "runtime/train/shards.h"

#include "runtime/base/json.h"
#include "runtime/base/name_hash.h"
#include "runtime/base/safetensors.h"
#include "runtime/kernels/cpu/init.h"
#include "runtime/train/fill_params.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {
namespace {

/// What this rank writes of all tensors: each dp rank its range of a bucket
/// under ZeRO; otherwise all have all and the first one writes it.
/// offsetOf(bucket, element) is where an element is, of type typeOf(bucket).
template <typename OffsetOf, typename TypeOf>
std::vector<Piece> ownedPieces(const RankState &rank, OffsetOf offsetOf,
                               TypeOf typeOf) {
  std::vector<Piece> pieces;
  for (const ParamInfo &p : rank.descriptor().params) {
    const BucketInfo &b = rank.descriptor().buckets[p.bucket];
    if (!p.owner || !isFirstHolder(rank, p.split, b.zero))
      continue;
    ElementRange range =
        b.zero ? shardOf(rank, b) : ElementRange{0, b.elements};
    if (auto own = partOf({p.start, p.start + p.localElements()}, range))
      pieces.push_back({p.name, p.shape, p.slice,
                        shardBox(rank, p.shape, p.split), own->param.begin,
                        own->param.end - own->param.begin, nullptr,
                        offsetOf(b, own->bucket.begin), typeOf(b)});
  }
  return pieces;
}

/// Values of a slice are those that the tensor has there.
Status initSlice(const ParamInfo &p, uint64_t seed, const Box &box, float *out,
                 int64_t threads) {
  int64_t all = elementCount(p.slice->shape);
  Status status;
  visitRuns(p.shape, box, p.slice, 0, box.elements(),
            [&](int64_t global, int64_t local, int64_t count) {
              if (status.ok())
                status = initNormal(
                    out + local, nameHash(p.slice->of), seed, p.init.std,
                    {{&all, 1}, {&global, 1}, {&count, 1}}, threads);
            });
  return status;
}

std::string shapeText(const std::vector<int64_t> &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

} // namespace

std::optional<ShardPart> partOf(ElementRange param, ElementRange shard) {
  ElementRange common{std::max(param.begin, shard.begin),
                      std::min(param.end, shard.end)};
  if (common.begin >= common.end)
    return std::nullopt;
  auto from = [&](int64_t begin) {
    return ElementRange{common.begin - begin, common.end - begin};
  };
  return ShardPart{common, from(shard.begin), from(param.begin)};
}

ElementRange shardOf(const RankState &rank, const BucketInfo &b) {
  int64_t begin = b.zero ? rank.coord(MTC_AXIS_DP) * b.shardElements : 0;
  return {begin, begin + b.shardElements};
}

/// Where a state of an element of that range is.
static ArenaOffset stateOffset(const RankState &rank, const BucketInfo &b,
                               const StateInfo &state, int64_t element) {
  return {MTC_ARENA_OPTIMIZER,
          state.offset + 4 * (element - shardOf(rank, b).begin)};
}

ArenaOffset mainOffset(const RankState &rank, const BucketInfo &b,
                       int64_t element) {
  return stateOffset(rank, b, *b.state("main"), element);
}

Box shardBox(const RankState &rank, const std::vector<int64_t> &shape,
             const SplitInfo &split) {
  Box box{std::vector<int64_t>(shape.size(), 0), shape};
  if (split.dim) {
    int64_t dim = *split.dim, part = shape[dim] / split.parts(rank.mesh());
    box.begin[dim] = split.part(rank.coord(split.axis)) * part;
    box.size[dim] = part;
  }
  return box;
}

bool isFirstHolder(const RankState &rank, const SplitInfo &split, bool overDp,
                   const SplitInfo &pieces) {
  for (const AxisInfo &axis : kAxes) {
    bool differs = axis.id == MTC_AXIS_PP || split.along(axis.id) ||
                   pieces.along(axis.id) || (overDp && axis.id == MTC_AXIS_DP);
    if (!differs && rank.coord(axis.id) != 0)
      return false;
    if (split.along(axis.id) && rank.coord(axis.id) % split.repeats != 0)
      return false;
  }
  return true;
}

std::vector<Piece> paramPieces(const RankState &rank) {
  // Between steps a rank has what it updated: whether the rest is gathered
  // then, or before it is read, is the plan's.
  return ownedPieces(
      rank,
      [&](const BucketInfo &b, int64_t element) {
        return b.hasMains()
                   ? mainOffset(rank, b, element)
                   : ArenaOffset{MTC_ARENA_PARAMS, b.paramOffset + 4 * element};
      },
      [](const BucketInfo &) { return MTC_F32; });
}

std::vector<Piece> gradPieces(const RankState &rank, float factor) {
  std::vector<Piece> pieces = ownedPieces(
      rank,
      [&](const BucketInfo &b, int64_t element) {
        int64_t begin = b.shardedGradients ? shardOf(rank, b).begin : 0;
        return ArenaOffset{MTC_ARENA_GRADS,
                           b.gradOffset + b.gradBytes() * (element - begin)};
      },
      [](const BucketInfo &b) { return b.gradDtype; });
  for (Piece &piece : pieces)
    piece.factor = factor;
  return pieces;
}

std::vector<Piece> statePieces(const RankState &rank, std::string_view state) {
  return ownedPieces(
      rank,
      [&](const BucketInfo &b, int64_t element) {
        return stateOffset(rank, b, *b.state(state), element);
      },
      [](const BucketInfo &) { return MTC_F32; });
}

Status initParams(RankState &rank, uint64_t seed) {
  ParamFiller filler(rank);
  int64_t threads = rank.descriptor().threads;
  for (const ParamInfo &p : rank.descriptor().params)
    MTC_RETURN_IF_ERROR(filler.fill(p, [&](const Box &box, float *out) {
      if (p.init.kind == InitInfo::normal && p.slice)
        return initSlice(p, seed, box, out, threads);
      if (p.init.kind == InitInfo::normal)
        return initNormal(out, nameHash(p.name), seed, p.init.std,
                          {p.shape, box.begin, box.size}, threads);
      std::fill_n(out, box.elements(),
                  p.init.kind == InitInfo::ones ? 1.0f : 0.0f);
      return Status::okay();
    }));
  return rank.complete();
}

std::string tensorProblem(const ParamInfo &p, const TensorInfo *tensor) {
  if (!tensor)
    return fmt::format("'{}' is missing", p.modelName());
  if (tensor->dtype == "F32" && tensor->shape == p.modelShape())
    return "";
  return fmt::format("'{}': expected F32 {}, found {} {}", p.modelName(),
                     shapeText(p.modelShape()), tensor->dtype,
                     shapeText(tensor->shape));
}

Status loadParams(RankState &rank, const std::string &path) {
  SafetensorsFile file;
  MTC_RETURN_IF_ERROR(SafetensorsFile::open(path, file));
  Problems problems;
  ParamFiller filler(rank);
  for (const ParamInfo &p : rank.descriptor().params) {
    const TensorInfo *tensor = file.find(p.modelName());
    if (std::string problem = tensorProblem(p, tensor); !problem.empty()) {
      problems.add(std::move(problem));
      continue;
    }
    MTC_RETURN_IF_ERROR(filler.fill(p, [&](const Box &box, float *out) {
      Status status;
      visitRuns(p.shape, box, p.slice, 0, box.elements(),
                [&](int64_t global, int64_t local, int64_t count) {
                  if (status.ok())
                    status =
                        file.read(*tensor, 4 * global, out + local, 4 * count);
                });
      return status;
    }));
  }
  MTC_RETURN_IF_ERROR(rank.complete());
  return problems.status("'" + path + "'");
}

} // namespace mtc::runtime
