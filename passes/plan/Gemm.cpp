//===- Gemm.cpp - a contraction as one GEMM -------------------------------===//
#include "passes/plan/Gemm.h"

#include <map>

using namespace mlir;

namespace mtc::passes {

/// The letters of `text` that also stand in `in`, in order.
static std::string common(const std::string &text, const std::string &in) {
  std::string out;
  for (char c : text)
    if (in.find(c) != std::string::npos)
      out.push_back(c);
  return out;
}

FailureOr<GemmForm> gemmForm(tfm::EinsumOp op) {
  tfm::Equation eq;
  tfm::parseEquation(op.getEquation(), eq);
  std::map<char, int64_t> size;
  for (auto [letters, v] : {std::pair<std::string, Value>{eq.lhs, op.getLhs()},
                            {eq.rhs, op.getRhs()}})
    for (auto [letter, dim] :
         llvm::zip(letters, cast<ShapedType>(v.getType()).getShape()))
      size[letter] = dim;
  auto product = [&](const std::string &letters) {
    int64_t n = 1;
    for (char c : letters)
      n *= size[c];
    return n;
  };
  for (bool swapped : {false, true}) {
    const std::string &a = swapped ? eq.rhs : eq.lhs,
                      &b = swapped ? eq.lhs : eq.rhs;
    std::string m = common(a, eq.result), n = common(b, eq.result),
                k = common(a, b);
    if (eq.result != m + n)
      continue;
    bool plainA = a == m + k, plainB = b == k + n;
    if ((plainA || a == k + m) && (plainB || b == n + k))
      return GemmForm{product(m), product(n), product(k),
                      !plainA,    !plainB,    swapped};
  }
  return op.emitOpError("expected letters in contiguous groups (rows, columns, "
                        "contracted), "
                        "found \"")
         << op.getEquation() << "\"";
}

} // namespace mtc::passes
