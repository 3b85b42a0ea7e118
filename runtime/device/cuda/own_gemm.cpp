//===- own_gemm.cpp - products on a GPU without cuBLASLt ------------------===//

#include "runtime/device/cuda/own_gemm.h"

#include "runtime/cuda/gemm/gemm_params.h"
#include "runtime/cuda/ptx_texts.h"

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

Status OwnGemms::find(const std::string &type, const std::string &entry,
                      Function &out) {
  std::unique_ptr<CudaCode> &code = modules_[type];
  if (!code) {
    auto loaded = std::make_unique<CudaCode>(driver_);
    MTC_RETURN_IF_ERROR(loaded->load(ptxText("gemm_" + type), "gemm_" + type));
    code = std::move(loaded);
  }
  Function &function = functions_[entry];
  if (!function)
    MTC_RETURN_IF_ERROR(code->find(entry, 0, function));
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
  return p;
}

Status OwnGemms::issue(const GemmInfo &row, const GemmOperands &x,
                       StreamHandle stream) {
  std::string type = row.ab == MTC_F32    ? "f32"
                     : row.ab == MTC_BF16 ? "bf16"
                                          : "f16";
  std::string entry = gemmEntry(type, row.ta, row.tb);
  Function function = nullptr;
  MTC_RETURN_IF_ERROR(find(type, entry, function));
  const GemmTile &tile = row.ab == MTC_F32 ? kFloatTile : kHalfTile;
  GemmParams params = paramsOf(row, x);
  void *arguments[] = {&params};
  return driver_.check(
      driver_.launch(function,
                     static_cast<unsigned>(gemmBlocks(tile, row.m, row.n)), 1,
                     1, static_cast<unsigned>(tile.threads), 1, 1, 0, stream,
                     arguments, nullptr),
      "cuLaunchKernel", entry);
}

} // namespace mtc::cuda
