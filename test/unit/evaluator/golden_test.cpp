//===- golden_test.cpp - importer, gradients, evaluator against PyTorch ---===//
//
// Step 1 of the goldens in test/golden/gpt2: what the compiler says the model
// is, evaluated in double, gives the losses and gradients that PyTorch computed
// in float64.
//
//===----------------------------------------------------------------------===//
#include "test/unit/evaluator/model.h"

#include "dialects/tfm/Tfm.h"
#include "runtime/base/safetensors.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

constexpr int64_t kSamples = 16, kSeq = 32;

struct Golden {
  const char *folder, *spec;
};
void PrintTo(const Golden &golden, std::ostream *out) { *out << golden.folder; }

std::string pathOf(const Golden &golden, const std::string &file) {
  return std::string(MTC_GOLDEN_DIR) + "/gpt2/" + golden.folder + "/" + file;
}

eval::Tensor floats(const runtime::SafetensorsFile &file,
                    const std::string &name) {
  const runtime::TensorInfo *info = file.find(name);
  if (!info)
    return {};
  std::vector<float> data(info->bytes / sizeof(float));
  auto status = file.read(*info, 0, data.data(), info->bytes);
  EXPECT_TRUE(status.ok()) << status.message();
  eval::Tensor x;
  x.shape = info->shape;
  x.reals.assign(data.begin(), data.end());
  return x;
}

/// Ids, or labels one token later, of samples 0..15.
eval::Tensor tokens(const Golden &golden, int64_t shift) {
  std::ifstream file(pathOf(golden, "data.bin"), std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  eval::Tensor x;
  x.shape = {kSamples, kSeq};
  for (int64_t i = 0; i < kSamples * kSeq; ++i)
    x.ints.push_back(static_cast<unsigned char>(bytes.at(i + shift)));
  return x;
}

double norm(const eval::Tensor &x) {
  double sum = 0;
  for (double v : x.reals)
    sum += v * v;
  return std::sqrt(sum);
}

class GoldenStep : public testing::TestWithParam<Golden> {
protected:
  void SetUp() override {
    const Golden &golden = GetParam();
    auto open = [&](const char *name, runtime::SafetensorsFile &file) {
      auto status = runtime::SafetensorsFile::open(pathOf(golden, name), file);
      ASSERT_TRUE(status.ok());
    };
    open("weights.safetensors", weights);
    open("expected.safetensors", expected);
    auto parsed = models::loadModelSpec(std::string(MTC_MODELS_DIR) +
                                        "/specs/" + golden.spec + ".toml");
    ASSERT_TRUE(parsed.ok()) << models::render(parsed.diagnostics);
    models::Strategy strategy;
    strategy.microBatchSize = strategy.globalBatchSize = kSamples;
    module = import({golden.spec, parsed.value}, strategy);
    ASSERT_TRUE(differentiate(*module));
  }

  std::vector<eval::Tensor> inputs(func::FuncOp fn) {
    std::vector<eval::Tensor> all;
    for (unsigned i = 0; i < fn.getNumArguments(); ++i) {
      if (auto input = fn.getArgAttrOfType<tfm::InputAttr>(i, "tfm.input"))
        all.push_back(
            tokens(GetParam(), input.getName().getValue() == "labels"));
      else if (std::string name = parameterName(fn, i); !name.empty())
        all.push_back(floats(weights, name));
      else
        all.push_back(eval::Tensor::scalar(0));
    }
    return all;
  }

  runtime::SafetensorsFile weights, expected;
  OwningOpRef<ModuleOp> module;
};

TEST_P(GoldenStep, LossAndEveryGradient) {
  func::FuncOp fn = microbatch(*module);
  auto results = eval::evaluateUnsharded(fn, inputs(fn));
  ASSERT_TRUE(succeeded(results));
  std::ifstream file(pathOf(GetParam(), "expected.json"));
  auto json = nlohmann::json::parse(file);
  // Two double computations of a sum of 512 terms of order 6.
  EXPECT_NEAR((*results)[0].reals[0], json["losses"][0].get<double>(), 1e-12);
  auto gradients = gradientsByName(fn, *results);
  int64_t checked = 0;
  for (auto &[name, gradient] : gradients) {
    eval::Tensor golden = floats(expected, "grad." + name);
    ASSERT_EQ(golden.shape, gradient.shape) << name;
    eval::Tensor off = gradient;
    for (size_t i = 0; i < off.reals.size(); ++i)
      off.reals[i] -= golden.reals[i];
    // The goldens are rounded to fp32: 2^-24 = 6e-8 of each element.
    EXPECT_LE(norm(off), 6e-8 * norm(golden)) << name;
    ++checked;
  }
  int64_t stored = 0;
  for (const runtime::TensorInfo &info : expected.tensors())
    stored += info.name.rfind("grad.", 0) == 0;
  EXPECT_EQ(checked, stored);
}

INSTANTIATE_TEST_SUITE_P(
    PyTorch, GoldenStep,
    testing::Values(Golden{"tied-1", "gpt2-nano-nodrop"},
                    Golden{"untied-2", "gpt2-nano-untied-nodrop"},
                    Golden{"rms-1", "gpt2-nano-rms-nodrop"}),
    [](auto &info) {
      std::string name = info.param.folder;
      name[name.find('-')] = '_';
      return name;
    });

} // namespace
