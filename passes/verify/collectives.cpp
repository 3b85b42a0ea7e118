//===- collectives.cpp - collectives that shardings need ------------------===//
#include "passes/verify/checks.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// What form-clusters found before anything changed the fragment
/// (rt.collectives) is what the fragment still does, in this order. Not for
/// update fragments, which are checked for what they mean.
void checkFragment(const Model &model, const Stage &stage,
                   const Fragment &fragment, Report &report) {
  auto all = fragment.fn->getAttrOfType<ArrayAttr>("rt.collectives");
  if (!all) {
    report.error(fragment.fn) << "expected the attribute rt.collectives "
                                 "(written by form-clusters), found none";
    return;
  }
  auto expected = llvm::to_vector(all.getAsRange<DictionaryAttr>());
  auto next = expected.begin();
  // Sums of gradients over ranks are followed by checkUpdate, and by
  // checkAccumulators where each microbatch has them; gathers of parameters by
  // checkGathers.
  SmallVector<rt::CollectiveOp> collectives;
  for (const Touch &touch : fragment.touches)
    if (auto op = dyn_cast<rt::CollectiveOp>(touch.op);
        op && !sumsAccumulators(stage, touch) && !gathersParameters(touch) &&
        !sumsStaged(model, touch))
      collectives.push_back(op);
  for (rt::CollectiveOp op : collectives) {
    Builder b(op.getContext());
    if (next == expected.end() ||
        next->get("kind") !=
            b.getStringAttr(stringifyCollectiveKind(op.getKind())) ||
        next->get("group") != b.getStringAttr(groupName(op.getGroup())) ||
        next->get("count") != op.getCountAttr() ||
        next->get("serves") != op->getAttr("serves"))
      break;
    ++next;
  }
  size_t found = collectives.size();
  if (next == expected.end() && found == expected.size())
    return;
  auto diag = report.error(fragment.fn)
              << "expected the " << expected.size()
              << " collectives that the shardings need (rt.collectives), found "
              << found;
  if (next != expected.end())
    diag << "; the first that is missing or changed is " << *next;
}

} // namespace

void checkCollectives(const Model &model, Report &report) {
  forEachStage(model, report, [&](const Stage &stage, Report &found) {
    for (const Fragment &fragment : stage.fragments)
      if (!fragment.isUpdate())
        checkFragment(model, stage, fragment, found);
  });
}

} // namespace mtc::passes::verify
