//===- gemm_scratch.cpp - what the planner asks about GEMMs ---------------===//
#include "mtc/runtime/abi.h"
#include "runtime/kernels/cpu/gemm.h"

#include <string>

using namespace mtc::runtime;

extern "C" int64_t mtc_gemm_scratch(const char *isa, int64_t m, int64_t n,
                                    int64_t k, int32_t ta, int32_t tb,
                                    int32_t beta, int32_t ab, int32_t c,
                                    int32_t threads) {
  if (!gemmSelectIsa(isa).ok())
    return -1;
  GemmDesc desc{m, n, k, ta != 0, tb != 0, beta, MtcDtype(ab), MtcDtype(c)};
  int64_t bytes = 0;
  return gemmScratchBytes(desc, threads, &bytes).ok() ? bytes : -1;
}

extern "C" const char *mtc_gemm_library(void) {
  static const std::string version = gemmLibraryVersion();
  return version.c_str();
}
