//===- cuda_gemm.cpp - products on a GPU ----------------------------------===//

#include "runtime/device/cuda/cuda_gemm.h"

#include <bit>

#include <fmt/format.h>

using mtc::runtime::GemmInfo;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

/// The largest power of two, at most 256, that all addresses are multiples of.
static uint32_t alignmentOf(const GemmOperands &x) {
  auto bits = reinterpret_cast<uintptr_t>(x.a) |
              reinterpret_cast<uintptr_t>(x.b) |
              reinterpret_cast<uintptr_t>(x.c) | 256;
  return uint32_t(1) << std::countr_zero(bits);
}

struct CudaGemms::Chosen {
  explicit Chosen(const Blas &blas) : product(blas) {}
  GemmProduct product;
  MatmulAlgo algorithm{};
};

CudaGemms::CudaGemms() = default;
CudaGemms::~CudaGemms() {
  products_.clear();
  if (handle_)
    (void)blas_->destroy(handle_);
}

/// Before the first step: some products are of evaluations, or of steps of
/// another length, that come much later.
Status CudaGemms::checkTable(const std::vector<GemmInfo> &rows) const {
  std::string problems;
  for (const GemmInfo &row : rows)
    if (std::string problem = problemOf(row); !problem.empty())
      problems += fmt::format("\n  {}, {} bytes of scratch: {}", describe(row),
                              row.scratch, problem);
  if (problems.empty())
    return Status::okay();
  return {StatusCode::usage,
          fmt::format("{}: expected all products of the program, by algorithms "
                      "of cuBLASLt; make the table by `mtc tune` of this "
                      "bundle. Found{}",
                      tableFile_, problems)};
}

std::string CudaGemms::problemOf(const GemmInfo &row) const {
  if (!isForLibrary(row))
    return "";
  auto found = table_.rows.find(row);
  if (found == table_.rows.end())
    return "none";
  GemmProduct product(*blas_);
  if (Status status = product.create(row); !status.ok())
    return status.message();
  return product.takes(handle_, found->second.algorithm)
             ? ""
             : "an algorithm that cuBLASLt does not take";
}

Status CudaGemms::open(const std::vector<GemmInfo> &rows,
                       const std::string &table, const std::string &gpu) {
  MTC_RETURN_IF_ERROR(Blas::load(blas_));
  MTC_RETURN_IF_ERROR(blas_->check(blas_->create(&handle_), "cublasLtCreate"));
  if (table.empty())
    return Status::okay();
  MTC_RETURN_IF_ERROR(readGemmTable(table, table_));
  MTC_RETURN_IF_ERROR(
      table_.check(table, gpu, static_cast<int64_t>(blas_->version())));
  tableFile_ = table;
  return checkTable(rows);
}

Status CudaGemms::choose(const GemmInfo &row, const GemmOperands &x,
                         uint32_t alignment, Chosen &out) const {
  MTC_RETURN_IF_ERROR(out.product.create(row));
  if (!tableFile_.empty() && alignment >= kTunedAlignment) {
    out.algorithm = table_.rows.at(row).algorithm;
    return Status::okay();
  }
  std::vector<MatmulAlgo> found;
  MTC_RETURN_IF_ERROR(out.product.algorithms(handle_, x, alignment, 1, found));
  out.algorithm = found.front();
  return Status::okay();
}

Status CudaGemms::issue(const GemmInfo &row, const GemmOperands &x,
                        StreamHandle stream) {
  const uint32_t alignment = alignmentOf(x);
  std::unique_ptr<Chosen> &chosen = products_[{row, alignment}];
  if (!chosen) {
    auto made = std::make_unique<Chosen>(*blas_);
    MTC_RETURN_IF_ERROR(choose(row, x, alignment, *made));
    chosen = std::move(made);
  }
  return chosen->product.issue(handle_, chosen->algorithm, x, stream);
}

} // namespace mtc::cuda
