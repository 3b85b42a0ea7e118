//===- fragment_values.h - values inside one fragment -----------*- C++ -*-===//
#ifndef MTC_PASSES_VERIFY_FRAGMENT_VALUES_H
#define MTC_PASSES_VERIFY_FRAGMENT_VALUES_H

#include "passes/verify/model.h"

namespace mtc::passes::verify {

/// Bytes in a slot that a fragment reads or writes, with the op that does.
struct SlotUse {
  Extent extent;
  mlir::Operation *op = nullptr;
};

/// What a fragment reads in slots and leaves in them. Bytes are of slot 0.
struct SlotSummary {
  std::vector<SlotUse> reads;  ///< before the fragment wrote there; each once
  std::vector<SlotUse> writes; ///< that are whole at its end; each once
};

/// Walks a fragment. A read of the workspace, or of bytes of a slot that the
/// fragment wrote, must find all bytes as one value wrote them: same bytes,
/// same type. `exports`: workspace bytes that must be whole at the end.
SlotSummary walkFragment(const Fragment &fragment,
                         llvm::ArrayRef<SlotUse> exports, Report &report);

} // namespace mtc::passes::verify
#endif // MTC_PASSES_VERIFY_FRAGMENT_VALUES_H
