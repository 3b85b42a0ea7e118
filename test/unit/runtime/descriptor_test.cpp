//===- descriptor_test.cpp - reading and checking descriptors -------------===//

#include "runtime/program/descriptor.h"
#include "toy_descriptor.h"

#include <gtest/gtest.h>

namespace mtc::runtime::test {
namespace {

TEST(Descriptor, ReadsAllFields) {
  Descriptor d;
  Status status = parseDescriptor(kToyDescriptor, d);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(d.planHash, "0123456789abcdef");
  EXPECT_EQ(d.mesh[MTC_AXIS_TP], 2);
  EXPECT_EQ(d.batch.globalBatch, 6);
  EXPECT_EQ(d.arenas[MTC_ARENA_ACTIVATIONS], 8192);
  ASSERT_EQ(d.params.size(), 2u);
  EXPECT_EQ(d.params[0].localElements(), 12);
  EXPECT_EQ(d.params[0].split.dim, 1);
  EXPECT_EQ(d.params[0].init.std, 0.5);
  EXPECT_EQ(d.params[1].init.kind, InitInfo::ones);
  EXPECT_EQ(d.buckets[0].gradOffset, 64);
  EXPECT_EQ(d.entry("train")->length, 2);
  EXPECT_EQ(d.entry("eval"), nullptr);
}

TEST(Descriptor, RejectsAnotherAbi) {
  Descriptor d;
  Status status = parseDescriptor(toyWith("\"abi\": 26", "\"abi\": 99"), d);
  EXPECT_EQ(status.code(), StatusCode::inputRejected);
  EXPECT_NE(status.message().find("expected abi 26, found 99"),
            std::string::npos);
}

TEST(Descriptor, ReportsAllProblemsAtOnce) {
  std::string text = toyWith("\"threads\": 1", "\"threads\": \"x\"");
  text.replace(text.find("\"stage\": 0"), 10, "\"stage\": -2");
  text.replace(text.find("\"kind\": \"ones\""), 14, "\"kind\": \"twos\"");
  Descriptor d;
  Status status = parseDescriptor(text, d);
  EXPECT_EQ(status.code(), StatusCode::inputRejected);
  for (const char *part : {"3 problems", "'threads'", "'stage'", "twos"})
    EXPECT_NE(status.message().find(part), std::string::npos)
        << part << " in " << status.message();
}

TEST(Descriptor, EveryRuleBites) {
  struct Case {
    const char *from, *to, *expected;
  };
  const Case cases[] = {
      {"0123456789abcdef", "0123456789ABCDEF", "plan_hash"},
      {"\"f32\"", "\"f64\"", "expected f32, bf16 or fp16, found 'f64'"},
      {"\"exp_avg\"", "\"main\"", "no state main in f32"},
      {"\"exp_avg\"", "\"exp_avg_sq\"", "exp_avg_sq is listed twice"},
      {"\"states\"", "\"statez\"", "'states' is missing"},
      {"\"param_offset\": 0", "\"param_offset\": 2", "16 elements of 4 bytes"},
      {"\"param_offset\": 0", "\"param_offset\": 4064", "param_offset"},
      {"\"gemms\": []",
       R"("gemms": [{"m": 1, "n": 1, "k": 1, "ta": false, "tb": false, "beta": false,
                     "ab": "f16", "c": "f32", "scratch": 0}])",
       "'ab': expected one of f32, bf16, fp16; found 'f16'"},
      {"\"gemms\": []",
       R"("gemms": [{"m": 1, "n": 1, "k": 1, "ta": false, "tb": false, "beta": false,
                     "ab": "bf16", "scratch": 0}])",
       "'c'"},
      {"\"gemms\": []",
       R"("gemms": [{"m": 1, "n": 1, "k": 1, "ta": false, "tb": false, "beta": true,
                     "ab": "bf16", "c": "f32", "scratch": 0,
                     "epilogue": {"bias": true, "gelu": true, "aux": false}}])",
       "gemms[0]: expected an epilogue with bias or gelu"},
      {"\"gemms\": []",
       R"("gemms": [{"m": 1, "n": 1, "k": 1, "ta": false, "tb": false, "beta": false,
                     "ab": "bf16", "c": "f32", "scratch": 0,
                     "epilogue": {"bias": true, "gelu": false, "aux": true}}])",
       "aux only beside gelu"},
      {"\"mesh\": {", "\"mesh\": {\"order\": \"dp-tp-cp-pp\", ",
       "'order': expected each axis of the mesh once with dashes between, tp "
       "first"},
      {"\"stage\": 0", "\"stage\": 1", "less than pp"},
      {"\"global_batch\": 6", "\"global_batch\": 12", "global_batch"},
      {"[4096, 4096,", "[4096, 4095,", "multiple of 4096"},
      {"8192, 0, 4096, 0]", "8192, 0, 4096]", "7 sizes"},
      {"8192, 0, 4096, 0]", "8192, 0, 0, 0]",
       "cannot hold the state of a step"},
      {"\"loss_offset\": 0", "\"loss_offset\": 4096", "loss"},
      {"\"local_shape\": [4, 3]", "\"local_shape\": [2, 6]", "local_shape"},
      {"\"shape\": [4, 6]", "\"shape\": [4, 7]", "divided by tp = 2"},
      {"\"split_axis\": \"tp\"", "\"split_axis\": \"xp\"", "split_axis"},
      {"\"split_dim\": 1", "\"split_dim\": 2", "split_dim"},
      {"\"mesh\": {", "\"mesh\": {\"kv\": 3, ",
       "mesh.kv: expected a divisor of tp = 2, found 3"},
      {"\"mesh\": {", "\"mesh\": {\"kv\": 0, ", "'kv'"},
      {"\"split_dim\": 1", "\"split_repeats\": 2, \"split_dim\": 1",
       "up: expected each part on one rank or on 1, as kv of the mesh says"},
      {"\"split_dim\": 1", "\"split_repeats\": 3, \"split_dim\": 1",
       "cannot be divided by tp = 2, each part on 3 in a row"},
      {"\"split_dim\": 1",
       R"("slice": {"of": "all", "shape": [4, 7], "dim": 1, "first": 2,
                    "size": 6}, "split_dim": 1)",
       "up: expected the shape and indices of a slice of 24 elements"},
      {"\"split_dim\": 1",
       R"("slice": {"of": "all", "shape": [4, 7], "dim": 1, "first": 1,
                    "size": 6}, "split_dim": 1)",
       "all: expected slices that are all of it"},
      {"\"split_dim\": 1",
       R"("slice": {"of": "scale", "shape": [4, 6], "dim": 1, "first": 0,
                    "size": 6}, "split_dim": 1)",
       "scale: expected the parameter or slices of it, found both"},
      {"\"split_dim\": 1",
       R"("slice": {"of": "all", "shape": [4, 7], "dim": 1, "first": 1},
          "split_dim": 1)",
       "'size'"},
      {"\"bucket\": 0, \"start\": 2", "\"bucket\": 1, \"start\": 2",
       "no bucket 1"},
      {"\"start\": 2", "\"start\": 3", "leave bucket"},
      {"\"start\": 2", "\"start\": 1", "overlap"},
      {"\"name\": \"scale\"", "\"name\": \"up\"", "listed twice"},
      {"\"unpadded\": 14", "\"unpadded\": 17", "unpadded"},
      {"\"zero\": false, \"shard_elements\": 16",
       "\"zero\": false, \"shard_elements\": 8", "shard_elements"},
      {"\"grad_offset\": 64", "\"grad_offset\": 4064", "grad_offset"},
      {"\"grad_offset\": 64", "\"sharded_gradients\": 8, \"grad_offset\": 64",
       "expected sharded_gradients to be shard_elements, 16, found 8"},
      {"\"offset\": 64", "\"offset\": 66", "exp_avg_sq 66 is misaligned"},
      {"\"grad_offset\": 64", "\"second_use_of\": 0, \"grad_offset\": 64",
       "second_use_of"},
      {"\"update\": []", "\"update\": [1, 1]", "ascending"},
      {"\"entry\": \"train\"", "\"entry\": \"eval\"", "no entry 'eval'"},
      {"\"name\": \"ids\"", "\"name\": \"idz\"", "expected ids, labels"},
      {"\"offset\": 0, \"stride\"", "\"offset\": 8180, \"stride\"",
       "activation arena"},
      {"\"pool\": 4", "\"pool\": 10", "expected one of 10 pools, found 10"},
  };
  for (const Case &c : cases) {
    Descriptor d;
    Status status = parseDescriptor(toyWith(c.from, c.to), d);
    EXPECT_EQ(status.code(), StatusCode::inputRejected) << c.to;
    EXPECT_NE(status.message().find(c.expected), std::string::npos)
        << c.to << ": " << status.message();
  }
}

/// The toy in bf16, with its main parameters behind the moments.
std::string bf16With(const std::string &from, const std::string &to) {
  std::string text = toyWith("\"f32\"", "\"bf16\"");
  for (auto [a, b] : {std::pair<std::string, std::string>{
                          "\"offset\": 64}",
                          R"("offset": 64}, {"name": "main", "offset": 128})"},
                      // of the bucket
                      {"\"dtype\": \"f32\"", "\"dtype\": \"bf16\""},
                      {from, to}})
    text.replace(text.find(a), a.size(), b);
  return text;
}

TEST(Descriptor, InBf16SomeParametersAreF32) {
  // The program computes in bf16, the bucket has no main copies.
  Descriptor d;
  std::string text = toyWith("\"f32\"", "\"bf16\"");
  Status status = parseDescriptor(text, d);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(d.buckets[0].paramBytes(), 4);
  EXPECT_FALSE(d.buckets[0].hasMains());

  text = toyWith("\"param_offset\": 0, \"dtype\": \"f32\"",
                 "\"param_offset\": 0, \"dtype\": \"bf16\"");
  status = parseDescriptor(text, d);
  EXPECT_EQ(status.code(), StatusCode::inputRejected);
  EXPECT_NE(status.message().find("expected parameters of dtype f32 in a "
                                  "program of dtype f32, found bf16"),
            std::string::npos)
      << status.message();
}

TEST(Descriptor, InBf16ParametersHaveTwoBytesAndMainCopies) {
  Descriptor d;
  for (const char *fine : {"\"param_offset\": 2", "\"param_offset\": 4064"}) {
    Status status = parseDescriptor(bf16With("\"param_offset\": 0", fine), d);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_EQ(d.buckets[0].state("main")->offset, 128);
  EXPECT_EQ(d.buckets[0].paramBytes(), 2);
  struct Case {
    const char *from, *to, *expected;
  };
  const Case cases[] = {
      {"\"param_offset\": 0", "\"param_offset\": 4066",
       "param_offset 4066 is misaligned or its 16 elements of 2 bytes"},
      {"\"param_offset\": 0", "\"param_offset\": 3", "param_offset 3"},
      {"\"main\"", "\"primary\"", "the state main, the fp32 main parameters"},
      {"\"offset\": 128", "\"offset\": 130", "main 130"},
      {"\"offset\": 128", "\"offset\": 4036", "main 4036"},
      {"\"grad_offset\": 64", "\"grad_offset\": 4064", "grad_offset"},
      {"\"exp_avg\", \"offset\": 0", "\"exp_avg\", \"offset\": 4064",
       "exp_avg 4064"},
  };
  for (const Case &c : cases) {
    Status status = parseDescriptor(bf16With(c.from, c.to), d);
    EXPECT_EQ(status.code(), StatusCode::inputRejected) << c.to;
    EXPECT_NE(status.message().find(c.expected), std::string::npos)
        << c.to << ": " << status.message();
  }
}

TEST(Descriptor, GradientsInBf16HaveTwoBytes) {
  const std::string f32 = "\"grad_offset\": 64, \"grad_dtype\": \"f32\"";
  auto narrow = [](int offset) {
    return "\"grad_offset\": " + std::to_string(offset) +
           ", \"grad_dtype\": \"bf16\"";
  };
  Descriptor d;
  Status status = parseDescriptor(bf16With(f32, narrow(4064)), d);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(d.buckets[0].gradBytes(), 2);
  status = parseDescriptor(bf16With(f32, narrow(4066)), d);
  EXPECT_NE(status.message().find("grad_offset 4066 is misaligned or its 16 "
                                  "elements of 2 bytes"),
            std::string::npos)
      << status.message();
  status = parseDescriptor(toyWith(f32, narrow(64)), d);
  EXPECT_EQ(status.code(), StatusCode::inputRejected);
  EXPECT_NE(status.message().find("expected gradients of grad_dtype f32 in a "
                                  "program of dtype f32, found bf16"),
            std::string::npos)
      << status.message();
}

TEST(Descriptor, MainParametersAreThoseOfTheShard) {
  std::string text = bf16With("\"dp\": 1", "\"dp\": 2");
  for (auto [from, to] : {std::pair<std::string, std::string>{
                              "\"global_batch\": 6", "\"global_batch\": 12"},
                          {"\"zero\": false, \"shard_elements\": 16",
                           "\"zero\": true, \"shard_elements\": 8"},
                          {"\"offset\": 128", "\"offset\": 4064"}})
    text.replace(text.find(from), from.size(), to);
  Descriptor d;
  Status status = parseDescriptor(text, d);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Descriptor, ASecondUseHasNoMainParameters) {
  std::string second = R"("buckets": [
    {"second_use_of": 1, "elements": 16, "unpadded": 14, "zero": false,
     "shard_elements": 16, "grad_offset": 128, "grad_dtype": "f32"},)";
  std::string text = bf16With("\"buckets\": [", second);
  for (const char *first :
       {"\"bucket\": 0, \"start\": 2", "\"bucket\": 0, \"start\": 0"}) {
    std::string moved = first;
    moved[10] = '1';
    text.replace(text.find(first), moved.size(), moved);
  }
  Descriptor d;
  Status status = parseDescriptor(text, d);
  EXPECT_TRUE(status.ok()) << status.message();
}

} // namespace
} // namespace mtc::runtime::test
