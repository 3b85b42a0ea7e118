//===- named_test.cpp - hand-written kernels: values, code, determinism ---===//
//
// kernels/named.mlir holds shapes that models have. Here: what they compute
// (dropout to the bit), what instructions they become, and that compiling twice
// gives the same bytes.
//
//===----------------------------------------------------------------------===//
#include "harness.h"
#include "runtime/base/philox.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <sstream>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

class Named : public testing::Test {
protected:
  void SetUp() override {
    std::ifstream file(MTC_CODEGEN_KERNELS "/named.mlir");
    std::stringstream text;
    text << file.rdbuf();
    context = makeContext();
    module = parse(*context, text.str());
    ASSERT_TRUE(module);
  }

  std::string assembly(const std::string &isaName) {
    auto isa = *codegen::isaByName(isaName);
    auto low = lowered(*module, isa.lanes);
    auto text = codegen::emitAssembly(*low, isa);
    EXPECT_TRUE(bool(text));
    return text ? *text : "";
  }

  /// The instructions of one function.
  static std::string function(const std::string &text,
                              const std::string &name) {
    size_t begin = text.find("\n" + name + ":"),
           end = text.find(".size\t" + name, begin);
    EXPECT_NE(end, std::string::npos) << name;
    return text.substr(begin, end - begin);
  }

  /// Runs a kernel on the host and compares with the evaluator; `fill` gives
  /// the start value of (operand, element).
  void check(const std::string &name, int64_t cols, std::vector<int64_t> args,
             const std::function<Number(size_t, size_t)> &fill,
             llvm::Expected<codegen::TargetIsa> isa = codegen::hostIsa()) {
    if (!isa) {
      llvm::consumeError(isa.takeError());
      GTEST_SKIP() << "this machine has no supported instruction set";
    }
    Library library(*module, *isa);
    ASSERT_TRUE(library.loaded());
    auto kernel = module->lookupSymbol<rt::KernelOp>(name);
    ASSERT_TRUE(kernel);
    size_t rows = kernel.getRows();
    bool dynamic = int64_t(kernel.getCols()) < 0;
    std::vector<Buffer> buffers;
    std::vector<Memory> memory;
    std::vector<void *> pointers;
    for (auto [i, attr] : llvm::enumerate(kernel.getOperandsInfo())) {
      auto info = cast<rt::OperandAttr>(attr);
      size_t count = info.getMode() == rt::Mode::Full  ? rows * cols
                     : info.getMode() == rt::Mode::Row ? rows
                     : info.getMode() == rt::Mode::Col ? cols
                                                       : 1;
      Buffer b;
      for (size_t e = 0; e < count; ++e)
        b.elements.push_back(fill(i, e));
      buffers.push_back(b);
      memory.emplace_back(info.getElement(), b);
    }
    for (Memory &m : memory)
      pointers.push_back(m.data());
    ASSERT_EQ(evaluate(kernel, buffers, args, cols), "");
    if (dynamic)
      args.push_back(cols);
    call(library.find(name), pointers, args);
    for (size_t i = 0; i < memory.size(); ++i) {
      EXPECT_TRUE(memory[i].guardsIntact());
      Buffer found = memory[i].read();
      for (size_t e = 0; e < found.elements.size(); ++e) {
        Number n = buffers[i].elements[e];
        // Twice the first-order bound: see evaluator.h.
        ASSERT_LE(std::fabs(found.elements[e].f - n.f), 2 * n.error)
            << name << " operand " << i << " element " << e << ": expected "
            << n.f << ", found " << found.elements[e].f;
      }
      results.push_back(found);
    }
  }

  /// x·scale, rounded, then + r, rounded: no choice is left, so to the bit.
  void checkDropout(llvm::Expected<codegen::TargetIsa> isa);

  static double wave(size_t i, size_t e) {
    return std::sin(double(e) * 0.37 + double(i)) * 2;
  }

  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  std::vector<Buffer> results;
};

} // namespace

TEST_F(Named, BiasGelu) {
  check("bias_gelu", 1024, {},
        [](size_t i, size_t e) { return asFloat(i == 2 ? NAN : wave(i, e)); });
}

TEST_F(Named, ResidualNorm) {
  check("residual_norm", 1024, {},
        [](size_t i, size_t e) { return asFloat(i >= 4 ? NAN : wave(i, e)); });
}

TEST_F(Named, CrossEntropy) {
  check("cross_entropy", 256, {}, [](size_t i, size_t e) {
    if (i == 1)
      return Number{0, e * 7 % 256, 0};
    return asFloat(i == 4 ? 0 : i >= 2 ? NAN : 4 * wave(i, e));
  });
}

TEST_F(Named, AdamWOnOddRanges) {
  for (int64_t cols : {1, 3, 16, 100, 1003})
    check("adamw", cols, {}, [](size_t i, size_t e) {
      return asFloat(i == 3   ? std::fabs(wave(i, e))
                     : i == 4 ? 3e-4
                     : i == 5 ? 0.5
                              : wave(i, e));
    });
}

void Named::checkDropout(llvm::Expected<codegen::TargetIsa> isa) {
  auto start = [](size_t i, size_t e) {
    return asFloat(i == 2 ? NAN : wave(i, e));
  };
  const int64_t seed = 0x9e3779b97f4a7c15, base = 1ll << 33, layer = 3;
  check("dropout_residual", 1024, {seed, base, layer}, start, std::move(isa));
  if (results.empty())
    GTEST_SKIP();
  for (size_t e = 0; e < 64 * 1024; ++e) {
    size_t row = e / 1024;
    uint32_t word =
        runtime::philoxWord({uint64_t(seed), uint64_t(base) + row / 16, 3, 2},
                            row % 16 * 1024 + e % 1024);
    float x = float(start(0, e).f), r = float(start(1, e).f);
    float scaled = x * 1.1111112f;
    float expected = (word >= 429496729u ? scaled : 0.0f) + r;
    ASSERT_EQ(float(results[2].elements[e].f), expected) << "element " << e;
  }
}

TEST_F(Named, DropoutIsExact) { checkDropout(codegen::hostIsa()); }

// Its random words are written in another way than those of AVX-512.
TEST_F(Named, DropoutIsExactWithAvx2) {
  checkDropout(codegen::isaByName("x86-64-v3"));
}

TEST_F(Named, AreVectorsWithoutCalls) {
  for (auto [isa, registers, others] : {std::tuple{"x86-64-v4", "%zmm", "%zmm"},
                                        {"x86-64-v3", "%ymm", "%zmm"}}) {
    std::string text = assembly(isa);
    EXPECT_EQ(text.find("call"), std::string::npos) << isa;
    EXPECT_EQ(text.find("@PLT"), std::string::npos) << isa;
    for (const char *name : {"bias_gelu", "residual_norm", "cross_entropy",
                             "dropout_residual", "adamw"})
      EXPECT_NE(function(text, name).find(registers), std::string::npos)
          << isa << " " << name;
    if (std::string(isa) == "x86-64-v3") {
      EXPECT_EQ(text.find(others), std::string::npos);
    }
    // Contract: real roots and divisions, no estimates.
    std::string adamw = function(text, "adamw");
    EXPECT_NE(adamw.find("vsqrtps"), std::string::npos) << isa;
    EXPECT_NE(adamw.find("vdivps"), std::string::npos) << isa;
    for (const char *estimate : {"vrsqrt", "vrcp"})
      EXPECT_EQ(text.find(estimate), std::string::npos)
          << isa << " " << estimate;
  }
}

// Each body says how many fused multiply-adds it means: this one none, although
// it multiplies and adds.
TEST_F(Named, NothingIsContracted) {
  EXPECT_EQ(function(assembly("x86-64-v4"), "dropout_residual").find("vfm"),
            std::string::npos);
}

TEST_F(Named, TheSameBytesTwice) {
  auto isa = *codegen::isaByName("x86-64-v4");
  auto once = [&] {
    auto own = makeContext();
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    auto again = parse(*own, text);
    auto low = lowered(*again, isa.lanes);
    return llvm::cantFail(codegen::emitObjectBytes(*low, isa));
  };
  std::string first = once();
  EXPECT_GT(first.size(), 1000u);
  EXPECT_EQ(first, once());
}

TEST(Isa, KnowsItsNames) {
  EXPECT_EQ(codegen::isaByName("x86-64-v3")->lanes, 8);
  auto wrong = codegen::isaByName("x86-64-v9");
  ASSERT_FALSE(bool(wrong));
  EXPECT_EQ(llvm::toString(wrong.takeError()),
            "expected instruction set x86-64-v4-amx, x86-64-v4-bf16, x86-64-v4 "
            "or x86-64-v3, "
            "found x86-64-v9");
}
