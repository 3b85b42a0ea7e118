//===- spec_test.cpp - specs that are right -------------------------------===//

#include "support.h"
#include "test/unit/runtime/temporary_folder.h"

using namespace mtc::models;
using mtc::runtime::test::TemporaryFolder;
using mtc::runtime::test::writeFile;
using test::loadSpec;

TEST(Spec, Nano) {
  ModelSpec spec = loadSpec("gpt2-nano");
  EXPECT_EQ(spec.name, "gpt2-nano");
  EXPECT_EQ(spec.vocab, 250);
  EXPECT_EQ(spec.paddedVocab, 256);
  EXPECT_EQ(spec.layers, 4);
  EXPECT_EQ(spec.hidden, 64);
  EXPECT_EQ(spec.heads, 4);
  EXPECT_EQ(spec.kvHeads, 4);
  EXPECT_EQ(spec.headDim, 16);
  EXPECT_EQ(spec.ffn, 256);
  EXPECT_EQ(spec.maxSeq, 32);
  EXPECT_TRUE(spec.tied);
  EXPECT_EQ(spec.norm.eps, 1e-5);
  EXPECT_EQ(spec.dropout.embedding, 0.1);
  EXPECT_EQ(spec.dropout.attention, 0.1);
  EXPECT_EQ(spec.dropout.hidden, 0.1);
  EXPECT_EQ(spec.init.std, 0.02);
  EXPECT_FALSE(loadSpec("gpt2-nano-untied").tied);
  EXPECT_EQ(loadSpec("gpt2-nano-sepqkv").attention.qkv, QkvKind::separate);
  EXPECT_EQ(loadSpec("gpt2-tiny").dropout.hidden, 0.0);
}

TEST(Spec, EveryFileLoadsIsNamedAfterItselfAndIsSupported) {
  int count = 0;
  for (auto &entry :
       std::filesystem::directory_iterator(MTC_MODELS_DIR "/specs")) {
    ModelSpec spec = loadSpec(entry.path().stem().string());
    EXPECT_EQ(spec.name, entry.path().stem().string());
    if (spec.name.starts_with("gpt2")) {
      EXPECT_TRUE(unsupported(spec).empty()) << spec.name;
      ++count;
    }
  }
  EXPECT_GE(count, 8);
}

static const char *const everything = R"(name = "all"
vocab = 100
vocab_multiple = 64
layers = 2
hidden = 48
heads = 4
kv_heads = 2
head_dim = 10
ffn = 96
max_seq = 16
positions = "rope"
tied = false
norm = { kind = "rms_norm", placement = "post", eps = 1e-6 }
mlp = { kind = "swiglu", bias = false }
attention = { qkv = "separate", bias = false, causal = false }
dropout = { embedding = 0, attention = 0.25, hidden = 0.5 }
init = { std = 0.5, scaled_output = false }
)";

TEST(Spec, EveryKeyIsRead) {
  auto parsed = parseModelSpec(everything, "all.toml");
  ASSERT_TRUE(parsed.ok()) << render(parsed.diagnostics);
  EXPECT_EQ(
      toJson(parsed.value).dump(),
      R"({"name":"all","vocab":100,"padded_vocab":128,)"
      R"("vocab_multiple":64,"layers":2,"hidden":48,"heads":4,"kv_heads":2,"head_dim":10,"ffn":96,)"
      R"("max_seq":16,"positions":"rope","tied":false,)"
      R"("norm":{"kind":"rms_norm","placement":"post","eps":1e-06},)"
      R"("mlp":{"kind":"swiglu","bias":false},)"
      R"("attention":{"qkv":"separate","bias":false,"causal":false},)"
      R"("dropout":{"embedding":0.0,"attention":0.25,"hidden":0.5},)"
      R"("init":{"std":0.5,"scaled_output":false}})");
  EXPECT_EQ(parsed.value.queriesPerKvHead(), 2);
}

TEST(Spec, EveryUnbuiltChoiceIsNamed) {
  auto parsed = parseModelSpec(everything, "all.toml");
  EXPECT_EQ(
      test::sentences(unsupported(parsed.value)),
      (std::vector<std::string>{
          "norm.placement = \"post\" cannot be compiled yet; use \"pre\"",
          "mlp.kind = \"swiglu\" cannot be compiled yet; use \"gelu\"",
          "mlp.bias = false cannot be compiled yet; use true",
          "attention.bias = false cannot be compiled yet; use true",
          "attention.causal = false cannot be compiled yet; use true",
          "positions = \"rope\" cannot be compiled yet; use \"learned\""}));
}

TEST(Spec, UnreadableFilesAreRejected) {
  auto absent = loadModelSpec("no/such/file.toml");
  EXPECT_EQ(render(absent.diagnostics),
            "no/such/file.toml: cannot read the file: No such file or "
            "directory\n");
  EXPECT_EQ(exitCode(absent.diagnostics), 3);
  auto folder = loadModelSpec(MTC_MODELS_DIR);
  EXPECT_EQ(render(folder.diagnostics),
            MTC_MODELS_DIR ": expected a regular file, found a folder\n");
  TemporaryFolder own;
  writeFile(own.path("long.toml"), std::string((1 << 20) + 1, '#'));
  auto tooLong = loadModelSpec(own.path("long.toml"));
  EXPECT_EQ(exitCode(tooLong.diagnostics), 3);
}
