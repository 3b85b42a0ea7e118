//===- numbers.cpp - one number for each different value ------------------===//
#include "passes/verify/numbers.h"

using namespace mlir;

namespace mtc::passes::verify {

Number Numbers::leaf(StringRef text) {
  auto [it, isNew] = leaves.try_emplace(text, values.size());
  if (isNew)
    values.push_back({{}, 0, nullptr, it->getKey()});
  return it->second;
}

Number Numbers::make(ArrayRef<int64_t> recipe, ArrayRef<Number> operands,
                     Operation *maker) {
  SmallVector<int64_t, 32> key(recipe);
  key.push_back(recipe.size()); // where recipe ends and operands begin
  key.append(operands.begin(), operands.end());
  if (auto it = known.find(ArrayRef<int64_t>(key)); it != known.end())
    return it->second;
  ArrayRef<int64_t> kept = ArrayRef<int64_t>(key).copy(memory);
  Number number = values.size();
  known.try_emplace(kept, number);
  values.push_back({kept, operands.size(), maker, {}});
  return number;
}

Numbers::Difference Numbers::firstDifference(Number expected,
                                             Number found) const {
  Operation *user = nullptr;
  while (true) {
    const Made &a = values[expected], &b = values[found];
    if (a.key.empty() || b.key.empty() || a.recipe() != b.recipe() ||
        a.operands != b.operands)
      return {expected, found, user};
    user = b.maker ? b.maker : user;
    size_t i = 0;
    while (a.uses()[i] == b.uses()[i])
      ++i; // equal in all would be one number
    expected = a.uses()[i];
    found = b.uses()[i];
  }
}

std::string Numbers::describe(Number number) const {
  const Made &made = values[number];
  if (made.key.empty())
    return made.text.str();
  if (!made.maker)
    return "a part of a value";
  return "what '" + made.maker->getName().getStringRef().str() + "' makes";
}

} // namespace mtc::passes::verify
