//===- proof_log.cpp - hears what verify-plan proved ----------------------===//
#include "compiler/proof_log.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"

#include <mutex>

namespace mtc::compiler {
namespace {

/// What all plans of a module have one of; other numbers are of the step that a
/// plan is for.
bool isOfMachine(llvm::StringRef name) {
  return name == "ranks" || name == "communicators";
}

/// The numbers of a remark are its arguments; the rest of it is for people.
class ProofLog : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit ProofLog(ProofCounts &proof) : proof(proof) {}
  void streamOptimizationRemark(
      const mlir::remark::detail::Remark &remark) override {
    // Plans of a module are verified side by side.
    std::lock_guard lock(mutex);
    ++proof.plans;
    for (const auto &argument : remark.getArgs())
      if (int64_t count; !llvm::StringRef(argument.val).getAsInteger(10, count))
        add(argument.key, count);
  }

private:
  void add(llvm::StringRef name, int64_t count) {
    auto known = llvm::find_if(
        proof.counts, [&](const auto &each) { return each.first == name; });
    if (known == proof.counts.end())
      proof.counts.emplace_back(name, count);
    else if (!isOfMachine(name))
      known->second += count;
  }

  ProofCounts &proof;
  std::mutex mutex;
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
