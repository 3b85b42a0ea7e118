//===- Gemm.cpp - a contraction as one GEMM -------------------------------===//
#include "passes/plan/Gemm.h"

#include "passes/plan/Calls.h"
#include "passes/plan/Empty.h"
#include "passes/target/gemm_kernel.h"

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

std::optional<GemmForm> gemmForm(tfm::EinsumOp op) {
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
  return std::nullopt;
}

namespace {

/// A contraction is one GEMM. Where a sink is its only reader, the product is
/// added to the accumulator in place.
class EinsumToGemm : public CallPattern<tfm::EinsumOp> {
public:
  using CallPattern::CallPattern;

  LogicalResult matchAndRewrite(tfm::EinsumOp op,
                                PatternRewriter &b) const override {
    std::optional<GemmForm> form = gemmForm(op);
    if (!form)
      return b.notifyMatchFailure(op, "letters are not in groups");
    Value lhs = op.getLhs(), rhs = op.getRhs();
    if (form->swapped)
      std::swap(lhs, rhs);
    Operation *sink = soleSink(op.getResult());
    Value accumulator = sink ? around.accumulators.of(sink) : Value();
    SmallVector<Type> made;
    if (!accumulator)
      made.push_back(op.getResult().getType());
    Value into =
        accumulator ? accumulator : emptyOf(b, op.getLoc(), made.front());
    auto gemm = rt::GemmOp::create(
        b, op.getLoc(), made, lhs, rhs, /*bias=*/Value(), into, /*aux=*/Value(),
        /*scratch=*/Value(), form->m, form->n, form->k, form->ta, form->tb,
        static_cast<bool>(accumulator), /*stores_first=*/false,
        /*counts_last=*/false, /*gelu=*/false,
        /*kernel=*/rt::GemmKernelAttr(), /*packs=*/BoolAttr());
    if (auto kernel = target::gemmKernel(gemm))
      gemm.setKernel(*kernel);
    keepLayer(op, gemm);
    if (!accumulator) {
      b.replaceOp(op, gemm.getOutputs());
      return success();
    }
    b.eraseOp(sink);
    b.eraseOp(op);
    return success();
  }
};

} // namespace

void populateGemmPatterns(RewritePatternSet &patterns,
                          const FragmentContext &around) {
  patterns.add<EinsumToGemm>(patterns.getContext(), around);
}

} // namespace mtc::passes
