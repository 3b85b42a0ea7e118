//===- errors.h - did a family report an error ------------------*- C++ -*-===//
//
// Functions of a family (family.h) return values, not success: a body or a
// gradient that must refuse its op emits an error and returns something. A pass
// that calls them looks here afterwards.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_PASSES_FAMILIES_ERRORS_H
#define MTC_PASSES_FAMILIES_ERRORS_H

#include "mlir/IR/Diagnostics.h"

namespace mtc::families {

/// While it lives, remembers whether an error was emitted in `context`. All
/// diagnostics still reach the handlers that were there before.
class ReportedErrors {
public:
  explicit ReportedErrors(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          found |= diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
          return mlir::failure(); // not handled here
        }) {}
  bool any() const { return found; }

private:
  bool found = false;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace mtc::families
#endif // MTC_PASSES_FAMILIES_ERRORS_H
