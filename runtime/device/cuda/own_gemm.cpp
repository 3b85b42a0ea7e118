//===- own_gemm.cpp - products on a GPU without cuBLASLt ------------------===//

#include "runtime/device/cuda/own_gemm.h"

#include "mtc/runtime/gpu_texts.h"
#include "runtime/cuda/gemm/gemm_params.h"

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

using mtc::runtime::GemmInfo;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

Status asksForOwnGemms(bool &out) {
  const char *asked = std::getenv(kGemmVariable);
  std::string_view name = asked ? asked : "cublaslt";
  out = name == "own";
  if (out || name == "cublaslt")
    return Status::okay();
  return {StatusCode::usage, fmt::format("{}: expected cublaslt or own, found "
                                         "'{}'",
                                         kGemmVariable, name)};
}

Status OwnGemms::find(const GemmInfo &row, Function &out) {
  OfType &of = types_[row.ab];
  if (!of.code) {
    auto code = std::make_unique<CudaCode>(driver_);
    MTC_RETURN_IF_ERROR(code->loadText(gemmText(row.ab)));
    of.code = std::move(code);
  }
  Function &function = of.functions[row.ta][row.tb];
  if (!function)
    MTC_RETURN_IF_ERROR(of.code->find(
        gemmEntry(std::string(gpuElement(row.ab)), row.ta, row.tb), 0,
        function));
  out = function;
  return Status::okay();
}

static GemmParams paramsOf(const GemmInfo &row, const GemmOperands &x) {
  GemmParams p{};
  p.a = x.a, p.b = x.b, p.c = x.c;
  p.lda = row.ta ? row.m : row.k;
  p.ldb = row.tb ? row.k : row.n;
  p.ldc = row.n;
  p.m = static_cast<int32_t>(row.m), p.n = static_cast<int32_t>(row.n);
  p.k = static_cast<int32_t>(row.k);
  p.beta = row.beta;
  p.wide = row.c == MTC_F32;
  if (row.epilogue) {
    p.bias = row.epilogue->bias ? x.bias : nullptr;
    p.aux = row.epilogue->aux ? x.aux : nullptr;
    p.ldaux = row.n;
    p.gelu = row.epilogue->gelu;
  }
  return p;
}

Status OwnGemms::issue(const GemmInfo &row, const GemmOperands &x,
                       StreamHandle stream) {
  Function function = nullptr;
  MTC_RETURN_IF_ERROR(find(row, function));
  const GemmTile &tile = row.ab == MTC_F32 ? kFloatTile : kHalfTile;
  GemmParams params = paramsOf(row, x);
  void *arguments[] = {&params};
  return driver_.check(
      driver_.launch(function,
                     static_cast<unsigned>(gemmBlocks(tile, row.m, row.n)), 1,
                     1, static_cast<unsigned>(tile.threads), 1, 1, 0, stream,
                     arguments, nullptr),
      "cuLaunchKernel", "a product of our own");
}

} // namespace mtc::cuda
