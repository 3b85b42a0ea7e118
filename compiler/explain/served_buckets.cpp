//===- served_buckets.cpp - which bucket a collective works on ------------===//

#include "compiler/explain/served_buckets.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <algorithm>

namespace mtc::compiler {
namespace {

constexpr const char *kBucket = "bucket";

std::vector<rt::CollectiveOp> collectivesOf(mlir::func::FuncOp fragment) {
  std::vector<rt::CollectiveOp> found;
  fragment.walk([&](rt::CollectiveOp op) { found.push_back(op); });
  return found;
}

std::optional<int64_t> bucketOf(mlir::Value buffer) {
  if (!buffer) // the norm has none
    return std::nullopt;
  while (auto moved = buffer.getDefiningOp<rt::OffsetViewOp>())
    buffer = moved.getView();
  auto ref = buffer.getDefiningOp<rt::RefOp>();
  if (!ref || !ref.getBucket() || ref.getKind() == rt::RefKind::State)
    return std::nullopt;
  return static_cast<int64_t>(*ref.getBucket());
}

bool areSame(rt::CollectiveOp a, rt::CollectiveOp b) {
  return a.getKind() == b.getKind() && a.getGroup() == b.getGroup() &&
         a.getCount() == b.getCount();
}

void matchForms(mlir::func::FuncOp bytes, mlir::func::FuncOp tensors,
                std::vector<ServedBucket> &out) {
  std::vector<rt::CollectiveOp> named = collectivesOf(bytes),
                                meant = collectivesOf(tensors);
  if (!std::equal(named.begin(), named.end(), meant.begin(), meant.end(),
                  areSame))
    return;
  for (size_t i = 0; i < named.size(); ++i)
    if (std::optional<int64_t> bucket = bucketOf(meant[i].getInit()))
      out.push_back({named[i], *bucket});
}

} // namespace

std::vector<ServedBucket> servedBuckets(mlir::ModuleOp module) {
  std::vector<ServedBucket> found;
  for (auto program : module.getOps<rt::ProgramOp>())
    for (auto form : program.getOps<rt::TensorFormOp>())
      for (auto tensors : form.getOps<mlir::func::FuncOp>())
        if (auto bytes =
                program.lookupSymbol<mlir::func::FuncOp>(tensors.getSymName()))
          matchForms(bytes, tensors, found);
  return found;
}

void writeServedBuckets(const std::vector<ServedBucket> &served) {
  for (ServedBucket each : served)
    each.op->setAttr(
        kBucket,
        mlir::Builder(each.op->getContext()).getI64IntegerAttr(each.bucket));
}

std::optional<int64_t> servedBucket(rt::CollectiveOp op) {
  auto bucket = op->getAttrOfType<mlir::IntegerAttr>(kBucket);
  return bucket ? std::optional(bucket.getInt()) : std::nullopt;
}

} // namespace mtc::compiler
