//===- FamilyPass.h - a phase that asks families ----------------*- C++ -*-===//
#ifndef MTC_PASSES_FAMILIES_FAMILYPASS_H
#define MTC_PASSES_FAMILIES_FAMILYPASS_H

#include "passes/PhasePass.h"
#include "passes/families/family.h"

namespace mtc::passes {

/// The base of a phase that asks ops for their rules, gradients or bodies:
/// attaches them in the context that it runs in.
template <typename Base> class FamilyPass : public PhasePass<Base> {
public:
  using PhasePass<Base>::PhasePass;
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    PhasePass<Base>::getDependentDialects(registry);
    families::registerFamilies(registry);
  }
};

} // namespace mtc::passes
#endif // MTC_PASSES_FAMILIES_FAMILYPASS_H
