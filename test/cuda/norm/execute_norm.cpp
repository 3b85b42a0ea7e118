//===- execute_norm.cpp - kernels of the norm on the PTX executor ---------===//
//
//   execute_norm FOLDER SEED [OPTION OF GTEST...]
//
// runs FOLDER/norm.ptx, blocks and warps in an order that SEED chooses, and
// compares with the host's norm to the bit.
//
//===----------------------------------------------------------------------===//
#include "norm_values.h"

#include "test/cuda/common/module_files.h"

#include <gtest/gtest.h>

using namespace mtc;
using namespace mtc::test;

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3) {
    std::cerr << "usage: execute_norm FOLDER SEED\n";
    return 2;
  }
  // Every sum of floats says how it is rounded.
  ptx::Rules rules{true, true, true};
  ModuleFiles modules(argv[1], rules);
  normModule = modules.find("norm.ptx");
  normSeed = std::stoull(argv[2]);
  return normModule ? RUN_ALL_TESTS() : 1;
}
