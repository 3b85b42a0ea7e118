//===- kv_heads.h - ranks that share heads of keys and values ---*- C++ -*-===//
#ifndef MTC_MODELS_KV_HEADS_H
#define MTC_MODELS_KV_HEADS_H

#include "models/spec.h"
#include "models/strategy.h"

namespace mtc::models {

/// How many times each head of keys and values is there in all ranks that split
/// the heads: the smallest number with which each rank has as many of them as
/// the others, and all that its queries read. 1 where nothing is repeated. The
/// heads can be split (`validate`).
int64_t kvCopies(const ModelSpec &spec, const Strategy &strategy);

/// How many ranks in a row share one head of keys and values so that each needs
/// to store no other: `kvCopies` where it makes a head for each rank and these
/// are split like heads, otherwise 1.
int64_t kvRanks(const ModelSpec &spec, const Strategy &strategy);

/// The same for one parameter with these logical axes, which an override may
/// have laid out in another way.
int64_t kvRanksOf(std::string_view parameter,
                  const std::vector<LogicalAxis> &axes, const ModelSpec &spec,
                  const Strategy &strategy);

/// Whether the fused projection `name` ("layers.0.attn.qkv") is stored in
/// slices, one each of queries, keys and values: ranks share heads, and weight
/// and bias are split along these alone. What else a strategy says of one of
/// them it says of a tensor that ranks have whole.
bool slicesFused(const std::string &name, const ModelSpec &spec,
                 const Strategy &strategy);

} // namespace mtc::models
#endif // MTC_MODELS_KV_HEADS_H
