//===- spec_fields.cpp - every key of a spec ------------------------------===//

#include "models/spec_fields.h"

namespace mtc::models {

static constexpr Choice<NormKind> normKinds[] = {
    {"layer_norm", NormKind::layerNorm}, {"rms_norm", NormKind::rmsNorm}};
static constexpr Choice<NormPlacement> placements[] = {
    {"pre", NormPlacement::pre}, {"post", NormPlacement::post}};
static constexpr Choice<MlpKind> mlpKinds[] = {{"gelu", MlpKind::gelu},
                                               {"gelu_erf", MlpKind::geluErf},
                                               {"relu", MlpKind::relu},
                                               {"swiglu", MlpKind::swiglu},
                                               {"geglu", MlpKind::geglu}};
static constexpr Choice<QkvKind> qkvKinds[] = {{"fused", QkvKind::fused},
                                               {"separate", QkvKind::separate}};
static constexpr Choice<PositionKind> positionKinds[] = {
    {"learned", PositionKind::learned},
    {"rope", PositionKind::rope},
    {"none", PositionKind::none}};

// That sizes of 2^20 leave each element a random word of its own is checked
// where they are known together: of parameters with the spec, of activations
// with the strategy.
static constexpr IntegerRange layerRange{1, kMostLayers};
static constexpr IntegerRange sizeRange{1, 1 << 20};
static constexpr NumberRange rateRange{0, 1};

using SpecRows = std::vector<Field<ModelSpec>>;
using OfSpec = Kind<ModelSpec>;

static SpecRows sizes() {
  return {
      {"", "name", OfSpec::text(&ModelSpec::name),
       "what reports, bundles and logs call the model: letters, digits, '-', "
       "'_' and '.', not starting with '.'",
       "\"gpt2-124m\"", Need::required},
      {"", "vocab", OfSpec::integer(sizeRange, &ModelSpec::vocab),
       "tokens of the vocabulary; all tokens of the data are smaller", "50257",
       Need::required},
      {"", "padded_vocab", OfSpec::integer(sizeRange, &ModelSpec::paddedVocab),
       "rows of the token embedding, at least vocab; those from vocab on "
       "take no probability, and are there so that tp can divide the table",
       "50304", Need::optional, "the next multiple of vocab_multiple"},
      {"", "vocab_multiple",
       OfSpec::integer(sizeRange, &ModelSpec::vocabMultiple),
       "what padded_vocab is a multiple of; give one of the two", "128"},
      {"", "layers", OfSpec::integer(layerRange, &ModelSpec::layers),
       "transformer blocks", "12", Need::required},
      {"", "hidden", OfSpec::integer(sizeRange, &ModelSpec::hidden),
       "width of the residual stream", "768", Need::required},
      {"", "heads", OfSpec::integer(sizeRange, &ModelSpec::heads),
       "attention heads; a divisor of hidden unless head_dim is given", "12",
       Need::required},
      {"", "kv_heads", OfSpec::integer(sizeRange, &ModelSpec::kvHeads),
       "heads of keys and values, a divisor of heads: so many queries in a row "
       "as there are heads for each of them read one (1: all of them). Where "
       "tp is larger, ranks share them",
       "4", Need::optional, "heads"},
      {"", "head_dim", OfSpec::integer(sizeRange, &ModelSpec::headDim),
       "width of a head; with rope it must be an even number", "64",
       Need::optional, "hidden / heads"},
      {"", "ffn", OfSpec::integer(sizeRange, &ModelSpec::ffn),
       "width of the MLP between its two projections", "3072", Need::required},
      {"", "max_seq", OfSpec::integer(sizeRange, &ModelSpec::maxSeq),
       "the longest sequence in tokens; a strategy's seq_length is at most "
       "this",
       "1024", Need::required},
      {"", "positions", OfSpec::choice(positionKinds, &ModelSpec::positions),
       "how positions enter: a learned table, rotations of queries and keys, "
       "not at all",
       "\"learned\""},
      {"", "tied", OfSpec::boolean(&ModelSpec::tied),
       "whether the head is the token embedding, transposed, or a weight of "
       "its own",
       "true"},
  };
}

static SpecRows normAndMlp() {
  return {
      {"norm", "kind",
       OfSpec::choice(normKinds, inside(&ModelSpec::norm, &NormSpec::kind)),
       "a layer norm has scale and bias, an RMS norm a scale only",
       "\"rms_norm\""},
      {"norm", "placement",
       OfSpec::choice(placements,
                      inside(&ModelSpec::norm, &NormSpec::placement)),
       "before attention and MLP, or after them", "\"pre\""},
      {"norm", "eps",
       OfSpec::number({0, 1, /*open=*/true},
                      inside(&ModelSpec::norm, &NormSpec::eps)),
       "added to the variance, or to the mean square", "1e-5"},
      {"mlp", "kind",
       OfSpec::choice(mlpKinds, inside(&ModelSpec::mlp, &MlpSpec::kind)),
       "the activation; gelu is the tanh form of GPT-2 (gelu_new), "
       "gelu_erf the exact one; swiglu and geglu have a gate",
       "\"gelu\""},
      {"mlp", "bias", OfSpec::boolean(inside(&ModelSpec::mlp, &MlpSpec::bias)),
       "whether both projections have biases", "true"},
  };
}

static SpecRows attention() {
  return {
      {"attention", "qkv",
       OfSpec::choice(qkvKinds,
                      inside(&ModelSpec::attention, &AttentionSpec::qkv)),
       "queries, keys and values by one projection or by three; weights "
       "have other names and shapes",
       "\"fused\""},
      {"attention", "bias",
       OfSpec::boolean(inside(&ModelSpec::attention, &AttentionSpec::bias)),
       "whether its projections have biases", "true"},
      {"attention", "causal",
       OfSpec::boolean(inside(&ModelSpec::attention, &AttentionSpec::causal)),
       "whether a position sees itself and earlier ones only", "true"},
  };
}

static SpecRows dropoutAndInit() {
  return {
      {"dropout", "embedding",
       OfSpec::number(rateRange,
                      inside(&ModelSpec::dropout, &DropoutSpec::embedding)),
       "probability of dropping an element of the sum of token and position "
       "embeddings",
       "0.1"},
      {"dropout", "attention",
       OfSpec::number(rateRange,
                      inside(&ModelSpec::dropout, &DropoutSpec::attention)),
       "the same of attention probabilities", "0.1"},
      {"dropout", "hidden",
       OfSpec::number(rateRange,
                      inside(&ModelSpec::dropout, &DropoutSpec::hidden)),
       "the same after attention and after the MLP", "0.1"},
      {"init", "std",
       OfSpec::number({0, 100, /*open=*/true},
                      inside(&ModelSpec::init, &InitSpec::std)),
       "standard deviation of initial weights; biases begin at 0, scales at 1",
       "0.02"},
      {"init", "scaled_output",
       OfSpec::boolean(inside(&ModelSpec::init, &InitSpec::scaledOutput)),
       "whether the output projections of attention and MLP begin with std / "
       "sqrt(2 layers), as GPT-2's do",
       "true"},
  };
}

const std::vector<Field<ModelSpec>> &specFields() {
  static const SpecRows fields = [] {
    SpecRows rows;
    for (const SpecRows &part :
         {sizes(), normAndMlp(), attention(), dropoutAndInit()})
      rows.insert(rows.end(), part.begin(), part.end());
    return rows;
  }();
  return fields;
}

} // namespace mtc::models
