//===- ptx_test.cpp - kernels as PTX, assembled where ptxas is there ------===//
#include "harness.h"
#include "passes/codegen/emit_ptx.h"

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
  auto program = codegen::emitPtx(*module, "sm_90");
  if (!program)
    ADD_FAILURE() << llvm::toString(program.takeError());
  return program ? program->ptx : "";
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
