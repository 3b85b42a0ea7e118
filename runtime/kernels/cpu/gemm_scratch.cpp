//===- gemm_scratch.cpp - what the planner asks about GEMMs ---------------===//
#include "mtc/runtime/gemm_scratch.h"

#include "mtc/runtime/isa.h"
#include "runtime/kernels/cpu/gemm_check.h"
#include "runtime/kernels/cpu/gemm_own.h"

#include <string>

namespace mtc::runtime {

/// Another machine may run the plan, so the processor here need not have `isa`.
static int64_t ownScratch(std::string_view isa, const GemmDesc &desc,
                          int threads) {
  if (!isKnownIsa(isa) || !checkGemm(desc, threads).ok())
    return -1;
  return OwnGemm(desc, threads, isa).scratchBytes();
}

static int64_t oneDnnScratch(std::string_view isa, const GemmDesc &desc,
                             int threads) {
  int64_t bytes = 0;
  bool known =
      gemmSelectIsa(isa).ok() && gemmScratchBytes(desc, threads, &bytes).ok();
  return known ? bytes : -1;
}

int64_t gemmScratch(std::string_view isa, const GemmInfo &row, int threads) {
  GemmDesc desc{row.m,    row.n,  row.k, row.ta,     row.tb,
                row.beta, row.ab, row.c, row.kernel, row.counts};
  return isOwn(row.kernel) ? ownScratch(isa, desc, threads)
                           : oneDnnScratch(isa, desc, threads);
}

int64_t packedBytes(std::string_view isa, int64_t n, int64_t k, MtcDtype type) {
  int64_t bytes = 0;
  return gemmPackedBytes({.n = n, .k = k, .type = type}, isa, &bytes).ok()
             ? bytes
             : -1;
}

} // namespace mtc::runtime

extern "C" int64_t mtc_gemm_scratch(const char *isa, int64_t m, int64_t n,
                                    int64_t k, int32_t ta, int32_t tb,
                                    int32_t beta, int32_t ab, int32_t c,
                                    int32_t threads) {
  using namespace mtc::runtime;
  return oneDnnScratch(
      isa, {m, n, k, ta != 0, tb != 0, beta, MtcDtype(ab), MtcDtype(c)},
      threads);
}

extern "C" const char *mtc_gemm_library(void) {
  static const std::string version = mtc::runtime::gemmLibraryVersion();
  return version.c_str();
}
