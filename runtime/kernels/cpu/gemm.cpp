//===- gemm.cpp - the GEMMs of one rank -----------------------------------===//
#include "runtime/kernels/cpu/gemm.h"

#include "mtc/runtime/isa.h"
#include "runtime/kernels/cpu/gemm_check.h"
#include "runtime/kernels/cpu/gemm_onednn.h"
#include "runtime/kernels/cpu/gemm_own.h"
#include "runtime/kernels/cpu/kernel_sets.h"

#include <variant>
#include <vector>

namespace mtc::runtime {

namespace {

using Row = std::variant<OneDnnGemm, OwnGemm>;

/// The kernels of our own are those of the library's instruction set, for
/// operands of `type`.
Status ownIsa(MtcDtype type, std::string_view *isa) {
  *isa = gemmIsa();
  if (isa->empty())
    return {StatusCode::usage, "expected an instruction set for products "
                               "before the first one, found none"};
  return findKernels(*isa, type) ? Status::okay() : missingKernels(*isa);
}

} // namespace

Status gemmScratchBytes(const GemmDesc &desc, int threads, int64_t *bytes) {
  MTC_RETURN_IF_ERROR(checkGemm(desc, threads));
  if (!isOwn(desc.kernel))
    return oneDnnScratch(desc, threads, bytes);
  std::string_view isa;
  MTC_RETURN_IF_ERROR(ownIsa(desc.ab, &isa));
  *bytes = OwnGemm(desc, threads, isa).scratchBytes();
  return Status::okay();
}

/// One of those that read it: what is packed depends on op(b) alone.
static GemmDesc productOf(const PackedDesc &desc) {
  return {.m = 1,
          .n = desc.n,
          .k = desc.k,
          .tb = desc.tb,
          .ab = desc.type,
          .c = desc.type,
          .kernel = GemmKernel::ownPacked};
}

Status gemmPackedBytes(const PackedDesc &desc, std::string_view isa,
                       int64_t *bytes) {
  MTC_RETURN_IF_ERROR(checkPacked(desc, 1));
  if (!isKnownIsa(isa))
    return {StatusCode::usage,
            "expected " + isaNames() + ", found " + std::string(isa)};
  *bytes = OwnGemm(productOf(desc), 1, isa).packedBytes();
  return Status::okay();
}

Status gemmPack(const PackedDesc &desc, int threads, const void *b, void *to) {
  MTC_RETURN_IF_ERROR(checkPacked(desc, threads));
  std::string_view isa;
  MTC_RETURN_IF_ERROR(ownIsa(desc.type, &isa));
  OwnGemm(productOf(desc), threads, isa).pack(b, static_cast<float *>(to));
  return Status::okay();
}

struct GemmSet::Impl {
  std::vector<Row> rows;
};

GemmSet::GemmSet() = default;
GemmSet::~GemmSet() = default;
GemmSet::GemmSet(GemmSet &&) noexcept = default;
GemmSet &GemmSet::operator=(GemmSet &&) noexcept = default;

Status GemmSet::create(std::span<const GemmDesc> rows, int threads,
                       SecondLevel cache) {
  auto impl = std::make_unique<Impl>();
  for (const GemmDesc &desc : rows) {
    MTC_RETURN_IF_ERROR(checkGemm(desc, threads));
    if (isOwn(desc.kernel)) {
      std::string_view isa;
      MTC_RETURN_IF_ERROR(ownIsa(desc.ab, &isa));
      impl->rows.emplace_back(OwnGemm(desc, threads, isa, cache));
      continue;
    }
    OneDnnGemm row;
    MTC_RETURN_IF_ERROR(row.create(desc, threads));
    impl->rows.emplace_back(std::move(row));
  }
  impl_ = std::move(impl);
  return Status::okay();
}

int64_t GemmSet::size() const {
  return impl_ ? int64_t(impl_->rows.size()) : 0;
}

int64_t GemmSet::scratchBytes(int64_t index) const {
  return std::visit([](const auto &row) { return row.scratchBytes(); },
                    impl_->rows[size_t(index)]);
}

Status GemmSet::execute(int64_t index, const void *a, const void *b, void *c,
                        void *scratch, GemmThen then, NormSum *squares) {
  if (index < 0 || index >= size())
    return {StatusCode::usage, "expected a product below " +
                                   std::to_string(size()) + ", found " +
                                   std::to_string(index)};
  Row &row = impl_->rows[size_t(index)];
  if (const OwnGemm *own = std::get_if<OwnGemm>(&row)) {
    if (own->counts() && (!squares || then.call))
      return {StatusCode::usage,
              "product " + std::to_string(index) +
                  ": expected a sum for its squares, and nothing that "
                  "continues it, found " +
                  (squares ? "both" : "no sum")};
    own->run(a, b, c, static_cast<float *>(scratch), then, squares);
    return Status::okay();
  }
  if (then.call)
    return {StatusCode::usage,
            "product " + std::to_string(index) +
                ": expected a kernel of our own where a product is continued, "
                "found the library's"};
  Status status = std::get<OneDnnGemm>(row).run(a, b, c, scratch);
  if (!status.ok())
    return {status.code(),
            "product " + std::to_string(index) + ": " + status.message()};
  return status;
}

} // namespace mtc::runtime
