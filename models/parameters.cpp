//===- parameters.cpp - how many parameters a model has -------------------===//

#include "models/parameters.h"

namespace mtc::models {

static int64_t normParameters(const ModelSpec &spec) {
  return spec.norm.kind == NormKind::layerNorm ? 2 * spec.hidden : spec.hidden;
}

static int64_t attentionParameters(const ModelSpec &spec) {
  int64_t qkv = (spec.heads + 2 * spec.kvHeads) * spec.headDim;
  int64_t out = spec.heads * spec.headDim;
  int64_t biases = spec.attention.bias ? qkv + spec.hidden : 0;
  return (qkv + out) * spec.hidden + biases;
}

static int64_t mlpParameters(const ModelSpec &spec) {
  bool gated =
      spec.mlp.kind == MlpKind::swiglu || spec.mlp.kind == MlpKind::geglu;
  int64_t up = gated ? 2 * spec.ffn : spec.ffn;
  int64_t biases = spec.mlp.bias ? up + spec.hidden : 0;
  return (up + spec.ffn) * spec.hidden + biases;
}

int64_t parameterCount(const ModelSpec &spec, VocabCount vocab) {
  int64_t entries = vocab == VocabCount::padded ? spec.paddedVocab : spec.vocab;
  int64_t tables = entries * (spec.tied ? 1 : 2);
  if (spec.positions == PositionKind::learned)
    tables += spec.maxSeq;
  int64_t layer = 2 * normParameters(spec) + attentionParameters(spec) +
                  mlpParameters(spec);
  return tables * spec.hidden + spec.layers * layer + normParameters(spec);
}

} // namespace mtc::models
