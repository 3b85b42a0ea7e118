//===- counts_test.cpp - parameter counts against published ones ----------===//

#include "models/parameters.h"
#include "support.h"

using namespace mtc::models;
using test::loadSpec;

// The counts of the published GPT-2 checkpoints.
TEST(ParameterCount, PublishedModels) {
  EXPECT_EQ(parameterCount(loadSpec("gpt2-124m"), VocabCount::real), 124439808);
  EXPECT_EQ(parameterCount(loadSpec("gpt2-355m"), VocabCount::real), 354823168);
  EXPECT_EQ(parameterCount(loadSpec("gpt2-774m"), VocabCount::real), 774030080);
  EXPECT_EQ(parameterCount(loadSpec("gpt2-1558m"), VocabCount::real),
            1557611200);
}

TEST(ParameterCount, PaddingAddsRowsOfTheEmbedding) {
  EXPECT_EQ(parameterCount(loadSpec("gpt2-124m"), VocabCount::padded),
            124439808 + (50304 - 50257) * 768);
}

// The elements of the golden weights files.
TEST(ParameterCount, NanoMatchesTheGoldens) {
  EXPECT_EQ(parameterCount(loadSpec("gpt2-nano")), 218496);
  EXPECT_EQ(parameterCount(loadSpec("gpt2-nano-sepqkv")), 218496);
  EXPECT_EQ(parameterCount(loadSpec("gpt2-nano-untied")), 218496 + 64 * 256);
}

// Llama 2 7B, as published: 6,738,415,616.
TEST(ParameterCount, LlamaShape) {
  ModelSpec spec;
  spec.vocab = spec.paddedVocab = 32000;
  spec.layers = 32;
  spec.hidden = 4096;
  spec.heads = spec.kvHeads = 32;
  spec.headDim = 128;
  spec.ffn = 11008;
  spec.maxSeq = 4096;
  spec.positions = PositionKind::rope;
  spec.tied = false;
  spec.norm.kind = NormKind::rmsNorm;
  spec.mlp = {MlpKind::swiglu, false};
  spec.attention.bias = false;
  EXPECT_EQ(parameterCount(spec), 6738415616);
}
