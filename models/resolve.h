//===- resolve.h - a strategy with every default filled in ------*- C++ -*-===//
#ifndef MTC_MODELS_RESOLVE_H
#define MTC_MODELS_RESOLVE_H

#include "models/spec.h"
#include "models/strategy.h"

namespace mtc::models {

/// Elements at which a bucket of gradients is full, if nobody says otherwise:
/// those of Megatron-LM's, whose collectives over many replicas need more of
/// them to be worth their latency. 40,000,000, or 1,000,000 for each replica.
int64_t defaultBucketSize(const Mesh &mesh);

/// Fills seqLength (the model's max_seq), bucketSize (defaultBucketSize) and
/// layersPerStage (even), and says how many ranks share heads of keys and
/// values (kv_heads.h), or leaves these whole where no head is for one rank
/// alone. The pair must be valid (`validate` gave nothing); afterwards
/// layersPerStage has pp entries whose sum is the model's number of layers.
Strategy resolve(const ModelSpec &spec, Strategy strategy);

} // namespace mtc::models
#endif // MTC_MODELS_RESOLVE_H
