//===- shards.h - the parameters that a rank holds --------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_SHARDS_H
#define MTC_RUNTIME_TRAIN_SHARDS_H

#include "runtime/pieces/pieces.h"
#include "runtime/program/rank.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

struct TensorInfo; // base/safetensors.h

/// Elements [begin, end), of a bucket if nothing else is said.
struct ElementRange {
  int64_t begin, end;
  bool operator==(const ElementRange &) const = default;
};

/// The same elements, counted in three ways.
struct ShardPart {
  ElementRange bucket; ///< in their bucket
  ElementRange local;  ///< in the shard
  ElementRange param;  ///< in the parameter, as it is on this rank
};
/// What a shard has of a parameter that lies at `param` of its bucket; none, if
/// they have no element in common.
std::optional<ShardPart> partOf(ElementRange param, ElementRange shard);

/// Those whose moments, main parameters and final gradients this dp rank holds.
ElementRange shardOf(const RankState &rank, const BucketInfo &b);

/// Where the main parameter of an element of that range is.
ArenaOffset mainOffset(const RankState &rank, const BucketInfo &b,
                       int64_t element);

/// The box of the global tensor that this rank's shard covers.
Box shardBox(const RankState &rank, const std::vector<int64_t> &shape,
             const SplitInfo &split);

/// True when this rank writes its shard to files: of the ranks of a stage that
/// hold the same, the first does. Along an axis that does not split the tensor
/// all hold the same, along one that splits it those in a row with one part,
/// but along dp not if `overDp`: each has a range (ZeRO-1),
/// or its own samples. `pieces`: another split of the tensor.
bool isFirstHolder(const RankState &rank, const SplitInfo &split, bool overDp,
                   const SplitInfo &pieces = {});

/// What this rank contributes to a file of parameters, fp32, as offsets in
/// arenas, of buckets in bf16 of the main parameters: under ZeRO its range of
/// each bucket, which is what it updates.
std::vector<Piece> paramPieces(const RankState &rank);

/// The same for gradients after `reduce`, in the type of their bucket's
/// accumulators: under ZeRO-1 only this dp rank's range of each bucket is
/// valid. They are multiplied by `factor`, which unscales them.
std::vector<Piece> gradPieces(const RankState &rank, float factor = 1);

/// The same of an optimizer state, which every bucket with parameters has.
std::vector<Piece> statePieces(const RankState &rank, std::string_view state);

/// Fills all parameters from (seed, name, global index). Where they are bf16
/// the main parameters get the fp32 values and the parameters these values
/// rounded to nearest even. Arenas are zero before, so padding and moments stay
/// zero.
Status initParams(RankState &rank, uint64_t seed);

/// What is wrong with the tensor of a file that is to be parameter `p`; empty
/// if nothing is. nullptr: there is none.
std::string tensorProblem(const ParamInfo &p, const TensorInfo *tensor);

/// The same from a safetensors file by logical name; shapes must
/// agree, dtype F32. Errors: inputRejected, all missing or wrong tensors at
/// once.
Status loadParams(RankState &rank, const std::string &path);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_SHARDS_H
