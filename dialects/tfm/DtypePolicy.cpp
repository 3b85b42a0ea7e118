//===- DtypePolicy.cpp - which type each kind of value has ----------------===//
#include "dialects/tfm/DtypePolicy.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace mtc::tfm {

DtypePolicy dtypePolicy(MLIRContext *context, StringRef name) {
  Type f32 = Float32Type::get(context), bf16 = BFloat16Type::get(context);
  struct Row {
    StringRef name;
    DtypePolicy policy;
  };
  //       name     compute statistics gradient main
  const Row table[] = {{"f32", {f32, f32, f32, f32}}, //
                       {"bf16", {bf16, f32, f32, f32}}};
  for (const Row &row : table)
    if (row.name == name)
      return row.policy;
  return {};
}

DtypePolicy dtypePolicy(ModuleOp module) {
  auto config = module->getAttrOfType<DictionaryAttr>("mtc.config");
  auto name = config ? config.getAs<StringAttr>("dtype") : StringAttr();
  return dtypePolicy(module.getContext(),
                     name ? name.getValue() : StringRef("f32"));
}

} // namespace mtc::tfm
