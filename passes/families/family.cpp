//===- family.cpp - the registry of op families ---------------------------===//
#include "passes/families/family.h"

#include "passes/families/registry.h"

#include <map>

using namespace mlir;

namespace mtc::families {

static std::map<std::string, OpFamily> &table() {
  static std::map<std::string, OpFamily> families;
  return families;
}

void add(llvm::StringRef opName, OpFamily family) {
  table()[opName.str()] = std::move(family);
}

const OpFamily *lookup(llvm::StringRef opName) {
  static const bool registered = [] {
    registerPointwise();
    registerShape();
    registerDropout();
    registerEinsum();
    registerEmbedding();
    registerLoss();
    registerNorm();
    registerAttention();
    registerStructure();
    registerOptimizer();
    return true;
  }();
  (void)registered;
  auto it = table().find(opName.str());
  return it == table().end() ? nullptr : &it->second;
}

const OpFamily *lookup(Operation *op) {
  return lookup(op->getName().getStringRef());
}

std::string letters(int64_t rank, char first) {
  std::string text;
  for (int64_t i = 0; i < rank; ++i)
    text.push_back(static_cast<char>(first + i));
  return text;
}

} // namespace mtc::families
