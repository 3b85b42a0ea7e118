//===- proof_log.cpp - hears what verify-plan proved ----------------------===//
#include "compiler/proof_log.h"

#include "mlir/IR/Remarks.h"

namespace mtc::compiler {
namespace {

/// The numbers of a remark are its arguments; the rest of it is for people.
class ProofLog : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit ProofLog(ProofCounts &proof) : proof(proof) {}
  void streamOptimizationRemark(
      const mlir::remark::detail::Remark &remark) override {
    if (!proof.empty()) // of the plan for the longest samples, which is first
      return;
    for (const auto &argument : remark.getArgs())
      if (int64_t count; !llvm::StringRef(argument.val).getAsInteger(10, count))
        proof.emplace_back(argument.key, count);
  }

private:
  ProofCounts &proof;
};

} // namespace

void listenForProof(mlir::MLIRContext &context, ProofCounts &proof) {
  mlir::remark::RemarkCategories categories;
  categories.analysis = "verify-plan";
  // Fails for a wrong expression only, and this one is none.
  (void)mlir::remark::enableOptimizationRemarks(
      context, std::make_unique<ProofLog>(proof),
      std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories);
}

} // namespace mtc::compiler
