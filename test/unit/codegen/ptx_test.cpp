//===- ptx_test.cpp - kernels as PTX, assembled where ptxas is there ------===//
#include "harness.h"
#include "passes/codegen/emit_ptx.h"
#include "passes/codegen/gpu_lower.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

namespace {

std::string findPtxas() {
  std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
  std::stringstream folders(path + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::filesystem::exists(folder + "/ptxas"))
      return folder + "/ptxas";
  return "";
}

std::string namedPtx() {
  std::ifstream file(MTC_CODEGEN_KERNELS "/named.mlir");
  std::stringstream text;
  text << file.rdbuf();
  auto context = makeContext();
  auto module = parse(*context, text.str());
  codegen::loadGpuDialects(*module->getContext());
  auto program = codegen::emitPtx(*module, {"sm_90"});
  if (!program)
    ADD_FAILURE() << llvm::toString(program.takeError());
  return program ? program->code.front().ptx : "";
}

} // namespace

TEST(Ptx, HasEveryKernelAndNeedsNoLibrary) {
  std::string ptx = namedPtx();
  for (const char *name : {"bias_gelu", "residual_norm", "cross_entropy",
                           "dropout_residual", "adamw"})
    EXPECT_NE(ptx.find(std::string(".entry ") + name + "("), std::string::npos)
        << name;
  EXPECT_EQ(ptx.find(".extern .func"), std::string::npos);
  EXPECT_EQ(ptx.find("__nv_"), std::string::npos);
  // Reductions by warp shuffles, totals in shared memory.
  EXPECT_NE(ptx.find("shfl.sync.bfly"), std::string::npos);
  EXPECT_NE(ptx.find("ld.shared"), std::string::npos);
  // Contract: correctly rounded roots and quotients, nothing approximate.
  for (const char *approximate : {".approx", "div.full", ".ftz"})
    EXPECT_EQ(ptx.find(approximate), std::string::npos) << approximate;
}

TEST(Ptx, HasWideAccesses) {
  std::string ptx = namedPtx();
  for (const char *access : {"ld.global.v4.b32", "st.global.v4.b32"})
    EXPECT_NE(ptx.find(access), std::string::npos) << access;
  // Blocks have the size that they were planned with.
  EXPECT_NE(ptx.find(".reqntid"), std::string::npos);
  EXPECT_EQ(ptx.find("ld.local"), std::string::npos);
}

// Of two programs that differ in what the text is made of, each has its own.
TEST(Ptx, IsSharedByAlikePrograms) {
  auto context = makeContext();
  codegen::loadGpuDialects(*context);
  auto program = [&](const std::string &name, const std::string &op,
                     int64_t offset) {
    return parse(*context,
                 "rt.program @p stage 0 {rt.kernel @" + name +
                     " rows 4 cols 64 args 0 [#rt.operand<mode = full, element "
                     "= f32, extent = 0>, #rt.operand<mode = full, element = "
                     "f32, extent = 0>] {%x = rt.load 0 : f32 %y = " +
                     op +
                     " %x, %x : f32 rt.store 1, %y : f32}\n"
                     "func.func @f() {%a = rt.view workspace at " +
                     std::to_string(offset) +
                     " : memref<4x64xf32> %b = rt.view workspace at 4096 : "
                     "memref<4x64xf32> rt.launch @" +
                     name +
                     "(%a, %b) args() writes [1] : (memref<4x64xf32>, "
                     "memref<4x64xf32>) -> () return}}");
  };
  auto textOf = [&](Operation *of) {
    auto made = codegen::emitPtx(of, {"sm_80", "sm_90"});
    return made ? made->code.back().ptx : llvm::toString(made.takeError());
  };
  auto first = program("k", "arith.addf", 0);
  auto alike = program("k", "arith.addf", 2048);
  EXPECT_TRUE(codegen::haveSameGpuCode(*first, *alike));
  EXPECT_EQ(textOf(*first), textOf(*alike));
  for (auto &other :
       {program("other", "arith.addf", 0), program("k", "arith.mulf", 0),
        program("k", "arith.addf", 4)}) {
    EXPECT_FALSE(codegen::haveSameGpuCode(*first, *other));
    EXPECT_NE(textOf(*first), textOf(*other));
  }
}

// A block that adds up rows and reduces each works on one round of columns at a
// time, if each of its threads has a vector in all of them; neither LLVM nor
// ptxas makes copies of it.
TEST(Ptx, KeepsRoundsOfSumsInLoops) {
  auto countOf = [](int64_t cols, const std::string &sink) {
    auto context = makeContext();
    codegen::loadGpuDialects(*context);
    std::string operands;
    for (const char *mode : {"full", "full", "col"})
      operands += std::string(operands.empty() ? "" : ", ") +
                  "#rt.operand<mode = " + mode + ", element = f32, extent = 0>";
    auto module =
        parse(*context, "rt.kernel @k rows 64 cols " + std::to_string(cols) +
                            " args 0 [" + operands +
                            "] {%x = rt.load 0 : f32 %s = "
                            "rt.row_reduce sum %x : f32 %y = "
                            "arith.subf %x, %s : f32 rt.store 1, %y "
                            ": f32 " +
                            sink + "}");
    auto program = codegen::emitPtx(*module, {"sm_90"});
    EXPECT_TRUE(bool(program)) << llvm::toString(program.takeError());
    return llvm::StringRef(program->code.front().ptx)
        .count(".pragma \"nounroll\"");
  };
  const std::string sum = "rt.accumulate 2, %y : f32";
  EXPECT_EQ(countOf(8192, sum), 2u); // passes
  EXPECT_EQ(countOf(4096, sum), 2u);
  EXPECT_EQ(countOf(4096, ""), 0u);  // no sum over rows
  EXPECT_EQ(countOf(2048, sum), 0u); // one round
  EXPECT_EQ(countOf(5120, sum), 0u); // two and a half
}

// What a GPU cannot do as a CPU does is rejected at its place, before any text.
TEST(Ptx, RejectsWhatHasAnOrderOnCpusOnly) {
  auto rejected = [](const std::string &operands, const std::string &body,
                     const std::string &rows = "9") {
    auto context = makeContext();
    std::string said;
    ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &d) {
      said += d.str() + "\n";
      return success();
    });
    auto module =
        parse(*context, "rt.kernel @k rows " + rows + " cols 64 args 0 [" +
                            operands + "] {" + body + "}");
    codegen::loadGpuDialects(*module->getContext());
    auto program = codegen::emitPtx(*module, {"sm_90"});
    EXPECT_FALSE(bool(program)) << body;
    llvm::consumeError(program.takeError());
    return said;
  };
  auto operand = [](const std::string &mode, const std::string &element) {
    return "#rt.operand<mode = " + mode + ", element = " + element +
           ", extent = 0>";
  };
  EXPECT_NE(rejected(operand("full", "f32") + ", " + operand("col", "f32"),
                     "%x = rt.load 0 : f32 %c = rt.load 1 : f32 "
                     "%y = arith.addf %x, %c : f32 rt.accumulate 1, %y : f32")
                .find("expected no load of operand 1 in a kernel that adds up "
                      "its rows"),
            std::string::npos);
  EXPECT_NE(rejected(operand("full", "i32") + ", " + operand("col", "i32"),
                     "%x = rt.load 0 : i32 rt.accumulate 1, %x : i32")
                .find("expected a sum over rows of floats on a GPU, found one "
                      "of 'i32'"),
            std::string::npos);
  EXPECT_NE(rejected(operand("full", "f32") + ", " + operand("row", "f32"),
                     "%x = rt.load 0 : f32 %m = rt.row_reduce sum %x : f32 "
                     "rt.store 1, %m : f32",
                     "17179869184")
                .find("expected at most 2147483647 blocks on a GPU"),
            std::string::npos);
}

TEST(Ptx, Assembles) {
  std::string ptxas = findPtxas();
  if (ptxas.empty())
    GTEST_SKIP() << "no ptxas on this machine";
  std::string folder =
      (std::filesystem::temp_directory_path() / "mtc_ptx_XXXXXX").string();
  ASSERT_TRUE(mkdtemp(folder.data()));
  std::ofstream(folder + "/k.ptx") << namedPtx();
  std::string command = "'" + ptxas + "' -arch=sm_90 -o " + folder +
                        "/k.cubin " + folder + "/k.ptx";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_GT(std::filesystem::file_size(folder + "/k.cubin"), 1000u);
  std::filesystem::remove_all(folder);
}
