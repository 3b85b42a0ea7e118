//===- step_documents_test.cpp - what a step knows of documents -----------===//

#include "runtime/train/step_documents.h"

#include "runtime/data/token_documents.h"

#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <sstream>

using namespace mtc;
using namespace mtc::runtime;

namespace {

/// Samples of five tokens and a label, whose documents are given.
class Given final : public SampleSource {
public:
  explicit Given(std::vector<std::vector<int32_t>> starts)
      : starts_(std::move(starts)) {}
  int64_t samples() const override { return int64_t(starts_.size()); }
  bool repeats() const override { return false; }
  Status read(int64_t, int32_t *) const override { return Status::okay(); }
  Status documentStarts(int64_t sample,
                        std::vector<int32_t> &out) const override {
    if (sample >= samples())
      return {StatusCode::inputRejected, "no such sample"};
    ++asked;
    out = starts_[size_t(sample)];
    return Status::okay();
  }
  Status check(int64_t, int64_t, const DataProgress &) const override {
    return Status::okay();
  }
  mutable int asked = 0;

private:
  std::vector<std::vector<int32_t>> starts_;
};

constexpr int64_t kSeq = 5;

/// Two microbatches of two samples on each of two replicas.
Descriptor programWith(std::initializer_list<const char *> inputs) {
  Descriptor d;
  d.batch.microBatch = d.batch.microbatches = 2;
  d.batch.globalBatch = 8;
  d.mesh[MTC_AXIS_DP] = 2;
  for (const char *name : inputs)
    d.inputs.emplace_back().name = name;
  return d;
}

/// Sample 2 is masked all over; 5 has an end at its last token, whose label is
/// the first of another document; in 6 one begins where the sample does.
Given given() {
  return Given({{}, {2}, {1, 2, 3, 4, 5}, {}, {}, {5}, {0, 3}, {}, {1}});
}

std::vector<float> weights(const StepDocuments &documents, InputKind kind,
                           int64_t microbatch,
                           std::vector<Positions> parts = {{0, kSeq}}) {
  std::vector<int32_t> bits(2 * kSeq, -1);
  documents.write(kind, microbatch, parts, bits.data());
  std::vector<float> all;
  for (int32_t each : bits)
    all.push_back(std::bit_cast<float>(each));
  return all;
}

/// One sample of tokens, whose documents nobody knows.
class Tokens final : public SampleSource {
public:
  explicit Tokens(std::vector<int32_t> tokens) : tokens_(std::move(tokens)) {}
  int64_t samples() const override { return 1; }
  bool repeats() const override { return false; }
  Status read(int64_t, int32_t *out) const override {
    std::ranges::copy(tokens_, out);
    return Status::okay();
  }
  Status documentStarts(int64_t, std::vector<int32_t> &) const override {
    return {StatusCode::internal, "asked of tokens"};
  }
  Status check(int64_t, int64_t, const DataProgress &) const override {
    return Status::okay();
  }

private:
  std::vector<int32_t> tokens_;
};

std::vector<int32_t> numbersOf(const std::string &text) {
  std::vector<int32_t> all;
  std::istringstream in(text);
  for (std::string each; std::getline(in, each, ',');)
    all.push_back(std::stoi(each));
  return all;
}

} // namespace

/// Goldens by megatron-core 0.19.2: test/golden/documents/masks.py.
TEST(StepDocuments, AreMegatrons) {
  std::ifstream in(MTC_GOLDEN_DIR "/documents/masks.txt");
  int cases = 0;
  std::string tokens, counts, positions, firstKeys;
  for (; in >> tokens >> counts >> positions >> firstKeys; ++cases) {
    std::vector<int32_t> sample = numbersOf(tokens);
    auto seq = static_cast<int64_t>(sample.size()) - 1;
    Descriptor program = programWith({"document_starts", "loss_weights"});
    program.batch.microBatch = program.batch.microbatches = 1;
    program.mesh[MTC_AXIS_DP] = 1;
    StepDocuments documents;
    documents.open(program, seq, 0);
    TokenDocuments source(std::make_unique<Tokens>(sample), seq, /*eod=*/0);
    int64_t at = 0;
    ASSERT_TRUE(documents.read(source, 0, 1, at).ok());
    std::vector<Positions> all = {{0, seq}};
    std::vector<int32_t> starts(size_t(seq), -1), weights = starts;
    documents.write(InputKind::DocumentStarts, 0, all, starts.data());
    documents.write(InputKind::LossWeights, 0, all, weights.data());
    EXPECT_EQ(starts, numbersOf(firstKeys)) << tokens;
    for (int32_t i = 0; i < seq; ++i) {
      EXPECT_EQ(i - starts[size_t(i)], numbersOf(positions)[size_t(i)])
          << tokens;
      EXPECT_EQ(weights[size_t(i)] != 0, numbersOf(counts)[size_t(i)] != 0)
          << tokens;
    }
  }
  EXPECT_EQ(cases, 48);
}

// Replica 1 has samples 2, 3, 6 and 7. Of 40 tokens 1 + 5 + 1 + 1 are left out.
TEST(StepDocuments, WeighsTheTokensOfAllReplicas) {
  StepDocuments documents;
  documents.open(
      programWith({"ids", "labels", "loss_weights", "gradient_weights"}), kSeq,
      /*replica=*/1);
  Given source = given();
  int64_t sample = -1;
  ASSERT_TRUE(documents.read(source, 0, 8, sample).ok());
  EXPECT_EQ(source.asked, 8);
  float one = 1.0f / 32;
  EXPECT_EQ(weights(documents, InputKind::LossWeights, 0),
            (std::vector<float>{0, 0, 0, 0, 0, one, one, one, one, one}));
  EXPECT_EQ(
      weights(documents, InputKind::LossWeights, 1),
      (std::vector<float>{one, one, 0, one, one, one, one, one, one, one}));
  // 32 tokens in four microbatches of all replicas; of this one's 5 and 9.
  EXPECT_EQ(weights(documents, InputKind::GradientWeights, 0)[0],
            float(32 / (4.0 * 5)));
  EXPECT_EQ(weights(documents, InputKind::GradientWeights, 1)[9],
            float(32 / (4.0 * 9)));
}

// A step that is not the largest has fewer microbatches.
TEST(StepDocuments, CountsTheSamplesOfTheStep) {
  StepDocuments documents;
  documents.open(programWith({"loss_weights", "gradient_weights"}), kSeq, 0);
  Given source = given();
  int64_t sample = -1;
  ASSERT_TRUE(documents.read(source, 0, 8, sample).ok());
  ASSERT_TRUE(documents.read(source, 4, 4, sample).ok());
  EXPECT_EQ(weights(documents, InputKind::LossWeights, 0)[0], 1.0f / 18);
  EXPECT_EQ(weights(documents, InputKind::GradientWeights, 0)[0],
            float(18 / (2.0 * 9)));
}

// A rank that has a head and a tail of a sample weighs their tokens only.
TEST(StepDocuments, WritesThePositionsOfARank) {
  StepDocuments documents;
  documents.open(programWith({"loss_weights", "document_starts"}), kSeq, 1);
  Given source = given();
  int64_t sample = -1;
  ASSERT_TRUE(documents.read(source, 0, 8, sample).ok());
  std::vector<int32_t> starts(4, -1);
  std::vector<Positions> parts = {{0, 1}, {4, 1}};
  documents.write(InputKind::DocumentStarts, 1, parts, starts.data());
  EXPECT_EQ(starts, (std::vector<int32_t>{0, 3, 0, 0}));
  documents.write(InputKind::DocumentStarts, 0, parts, starts.data());
  EXPECT_EQ(starts, (std::vector<int32_t>{0, 4, 0, 0}));
}

// Where nobody weighs tokens, only those of the replica are looked at, and
// where nobody asks for documents, none.
TEST(StepDocuments, AsksForWhatItNeeds) {
  for (auto [name, asked] : {std::pair{"document_starts", 4}, {"ids", 0}}) {
    StepDocuments documents;
    documents.open(programWith({name}), kSeq, 0);
    Given source = given();
    int64_t sample = -1;
    ASSERT_TRUE(documents.read(source, 0, 8, sample).ok());
    EXPECT_EQ(source.asked, asked) << name;
  }
}

TEST(StepDocuments, NamesTheSampleThatFails) {
  StepDocuments documents;
  documents.open(programWith({"loss_weights"}), kSeq, 0);
  Given source = given();
  int64_t sample = -1;
  EXPECT_FALSE(documents.read(source, 4, 8, sample).ok());
  EXPECT_EQ(sample, 9);
}

// All tokens are left out: no weight, and nothing is divided by 0.
TEST(StepDocuments, StepsWithoutATokenHaveNoWeights) {
  StepDocuments documents;
  Descriptor d = programWith({"loss_weights", "gradient_weights"});
  d.batch.microbatches = 1;
  d.batch.globalBatch = 2;
  d.mesh[MTC_AXIS_DP] = 1;
  documents.open(d, kSeq, 0);
  std::vector<int32_t> all = {1, 2, 3, 4, 5};
  Given source({all, all});
  int64_t sample = -1;
  ASSERT_TRUE(documents.read(source, 0, 2, sample).ok());
  EXPECT_EQ(weights(documents, InputKind::LossWeights, 0),
            std::vector<float>(10, 0));
  EXPECT_EQ(weights(documents, InputKind::GradientWeights, 0),
            std::vector<float>(10, 1));
}
