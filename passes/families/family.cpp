//===- family.cpp - the list of families ----------------------------------===//
#include "passes/families/family.h"

#include "passes/families/kernel_body.h"
#include "passes/families/registry.h"

using namespace mlir;

#include "passes/families/FamilyInterfaces.cpp.inc"

namespace mtc::families {

void registerFamilies(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tfm::TfmDialect *) {
    attachPointwise(context);
    attachShape(context);
    attachDropout(context);
    attachEinsum(context);
    attachEmbedding(context);
    attachLoss(context);
    attachNorm(context);
    attachAttention(context);
    attachStructure(context);
    attachOptimizer(context);
  });
}

std::string factors(int64_t rank, char first) {
  std::string text;
  for (int64_t i = 0; i < rank; ++i)
    text.push_back(static_cast<char>(first + i));
  return text;
}

} // namespace mtc::families
