//===- crossings.cpp - what fragments send each other ---------------------===//
#include "passes/verify/checks.h"

#include <set>

using namespace mlir;

namespace mtc::passes::verify {
namespace {

class CrossingChecker {
public:
  CrossingChecker(const Model &model, Report &report)
      : model(model), report(report) {}

  void check() {
    for (const Stage &stage : model.stages)
      for (auto form : stage.op.getOps<rt::TensorFormOp>()) {
        hasForms = true;
        form.walk([&](Operation *op) { visit(op); });
      }
    if (!hasForms)
      return; // written by hand: checkValues sees what moves
    for (auto &[key, row] : model.arriving)
      for (bool sends : {true, false})
        if (!seen.count({row, sends}))
          report.error(row)
              << "expected a fragment that "
              << (sends ? "sends it" : "receives it") << ", found none";
  }

private:
  void visit(Operation *op) {
    auto send = dyn_cast<pipe::SendOp>(op);
    auto receive = dyn_cast<pipe::ReceivedOp>(op);
    auto of = pipe::FragmentAttr::of(op->getParentOp());
    if (of && send)
      compare(op, of, send.getName(), send.getValue().getType(), true);
    else if (of && receive)
      compare(op, of, receive.getName(), receive.getType(), false);
  }

  void compare(Operation *op, pipe::FragmentAttr of, CrossingName name,
               Type type, bool sends) {
    int64_t here = of.virtualStage(model.mesh.stages());
    const Model::Crossings &rows = sends ? model.leaving : model.arriving;
    auto found = rows.find({of.getEntry().str(), name, here});
    if (found == rows.end()) {
      report.error(op) << "expected a pipe.crossing of \"" << of.getEntry()
                       << "\" that says where " << name.text()
                       << (sends ? " goes from" : " comes from to")
                       << " virtual stage " << here << ", found none";
      return;
    }
    pipe::CrossingOp row = found->second;
    seen.insert({row, sends});
    if (row.getType() == type)
      return;
    auto diag = report.error(op) << "expected " << name.text() << " of type "
                                 << row.getType() << ", found " << type;
    diag.attachNote(row.getLoc()) << "by this pipe.crossing";
  }

  const Model &model;
  Report &report;
  bool hasForms = false;
  std::set<std::pair<Operation *, bool>> seen; ///< looked up only
};

} // namespace

void checkCrossings(const Model &model, Report &report) {
  CrossingChecker(model, report).check();
}

} // namespace mtc::passes::verify
