//===- DtypePolicy.cpp - which type each kind of value has ----------------===//
#include "dialects/mtc/Mtc.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace mtc {

DtypePolicy dtypePolicy(MLIRContext *context, Precision precision,
                        Precision gradients) {
  Type f32 = Float32Type::get(context), bf16 = BFloat16Type::get(context),
       f16 = Float16Type::get(context);
  Type sums = gradients == Precision::BF16   ? bf16
              : gradients == Precision::FP16 ? f16
                                             : f32;
  switch (precision) {
    //     compute statistics gradient accumulator main scalesLoss
  case Precision::F32:
    return {f32, f32, f32, sums, f32};
  case Precision::BF16:
    return {bf16, f32, f32, sums, f32};
  case Precision::FP16:
    return {f16, f32, f32, sums, f32, true};
  }
  llvm_unreachable("a precision without a row");
}

std::string DtypePolicy::storedTypes() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "'" << compute << "'";
  if (main != compute)
    out << " or '" << main << "'";
  return text;
}

} // namespace mtc
