//===- cuda_gemm.cpp - products on a GPU ----------------------------------===//

#include "runtime/device/cuda/cuda_gemm.h"

#include "runtime/device/cuda/version.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

using mtc::runtime::GemmInfo;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::cuda {

/// The largest power of two, at most kTunedAlignment, that all addresses are
/// multiples of.
static uint32_t alignmentOf(const GemmOperands &x) {
  auto bits = reinterpret_cast<uintptr_t>(x.a) |
              reinterpret_cast<uintptr_t>(x.b) |
              reinterpret_cast<uintptr_t>(x.c) | kTunedAlignment;
  return uint32_t(1) << std::countr_zero(bits);
}

/// That of an address of the larger type: the library refuses to be asked for
/// less. Operands of a product in two types that begin at less have none; those
/// of plans do not, as only gradients of weights have two, of aligned values.
static uint32_t leastAlignment(const GemmInfo &row) {
  return static_cast<uint32_t>(
      std::max(runtime::floatBytes(row.ab), runtime::floatBytes(row.c)));
}

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
  gpu_ = gpu;
  if (!table.empty()) {
    MTC_RETURN_IF_ERROR(readGemmTable(table, table_));
    MTC_RETURN_IF_ERROR(table_.check(table, gpu, library()));
    tableFile_ = table;
    MTC_RETURN_IF_ERROR(checkTable(rows));
  }
  for (const GemmInfo &row : rows)
    if (isForLibrary(row) && !products_.contains(row))
      MTC_RETURN_IF_ERROR(choose(row));
  return Status::okay();
}

/// Which alignments calls will have only they know.
Status CudaGemms::choose(const GemmInfo &row) {
  std::unique_ptr<GemmProduct> &product = products_[row];
  product = std::make_unique<GemmProduct>(*blas_);
  MTC_RETURN_IF_ERROR(product->create(row));
  for (uint32_t alignment = kTunedAlignment; alignment >= leastAlignment(row);
       alignment /= 2) {
    GemmChoice &choice = choices_[{row, alignment}];
    std::vector<MatmulAlgo> found;
    if (!tableFile_.empty() && alignment == kTunedAlignment)
      choice.algorithm = table_.rows.at(row).algorithm;
    else if (Status status = product->algorithms(handle_, anyOperands(),
                                                 alignment, 1, found);
             status.ok())
      choice.algorithm = found.front();
    else
      missing_[{row, alignment}] = status.message();
  }
  return Status::okay();
}

bool CudaGemms::takes(const AlignedGemm &of, const GemmChoice &choice) const {
  auto product = products_.find(of.product);
  return product == products_.end() || !choice.algorithm ||
         product->second->takes(handle_, *choice.algorithm);
}

Status CudaGemms::agree(runtime::Communicator &control, int ranks, int rank,
                        int32_t library) {
  MTC_RETURN_IF_ERROR(
      shareGemmChoices(control, ranks, rank, library, choices_));
  std::map<GemmInfo, int> refused; // by whose algorithm
  for (const auto &[of, choice] : choices_)
    if (choice.rank != rank && !takes(of, choice))
      refused.emplace(of.product, choice.rank);
  if (refused.empty())
    return Status::okay();
  const auto &[product, other] = *refused.begin();
  return {StatusCode::infeasible,
          fmt::format("expected rank {}, {} with cuBLASLt {}, to compute the "
                      "product {}, with {} bytes of scratch, by the algorithm "
                      "of rank {}, so that both round alike; it does not take "
                      "that, nor those of {} other products. Give all ranks "
                      "GPUs and libraries of one kind, or products of mtc's "
                      "own (MTC_CUDA_GEMM=own)",
                      rank, gpu_, versionName(library), describe(product),
                      product.scratch, other, refused.size() - 1)};
}

GemmTable CudaGemms::chosen() const {
  GemmTable out;
  out.gpu = gpu_;
  out.library = library();
  for (const auto &[of, choice] : choices_)
    if (of.alignment == kTunedAlignment && choice.algorithm)
      out.rows[of.product].algorithm = *choice.algorithm;
  return out;
}

Status CudaGemms::issue(const GemmInfo &row, const GemmOperands &x,
                        StreamHandle stream) {
  const uint32_t alignment = alignmentOf(x);
  auto choice = choices_.find({row, alignment});
  if (choice != choices_.end() && choice->second.algorithm)
    return products_.at(row)->issue(handle_, *choice->second.algorithm, x,
                                    stream);
  auto why = missing_.find({row, alignment});
  return {StatusCode::infeasible,
          fmt::format("expected an algorithm of cuBLASLt for the product {}, "
                      "with {} bytes of scratch and operands at multiples of "
                      "{} bytes, found none{}; products of mtc's own need none "
                      "(MTC_CUDA_GEMM=own)",
                      describe(row), row.scratch, alignment,
                      why == missing_.end() ? " on the first rank that has it"
                                            : ": " + why->second)};
}

} // namespace mtc::cuda
