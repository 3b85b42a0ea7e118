//===- continuations.cpp - what continues a product -----------------------===//
//
// Other checks take a product and what continues it for two ops, one behind the
// other. They run at the same time, block for block of the result: here it is
// seen that this is the same.
//
//===----------------------------------------------------------------------===//
#include "passes/verify/checks.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

class ContinuationChecker {
public:
  ContinuationChecker(const Stage &stage, Report &report) : report(report) {
    for (auto kernel : stage.op.getOps<rt::KernelOp>())
      kernels[kernel.getSymName()] = kernel;
  }

  /// `before`: what the op before the launch touches; null if it is the first.
  void check(rt::LaunchOp launch, const Touch &touch, const Touch *before) {
    rt::KernelOp kernel = kernels.lookup(launch.getKernel());
    if (!kernel)
      return; // which was said
    if (kernel.getTiled() != launch.getContinues())
      report.error(launch) << "expected a launch that continues a product of a "
                              "tiled kernel, and no other of one, found "
                           << (kernel.getTiled() ? "a tiled" : "another")
                           << " kernel \"" << launch.getKernel() << "\"";
    if (!launch.getContinues() || !kernel.getTiled())
      return;
    rt::GemmOp product = launch.productBefore();
    if (!product || !product.isOwn() || product.getBeta() ||
        product.hasEpilogue()) {
      report.error(launch)
          << "expected in front of a launch that continues it a product by "
             "own, to which nothing is added, found another op";
      return;
    }
    checkShape(launch, kernel, product);
    if (before && before->op == product)
      checkBytes(launch, kernel, touch, *before);
  }

private:
  void checkShape(rt::LaunchOp launch, rt::KernelOp kernel,
                  rt::GemmOp product) {
    if (kernel.getRows() != product.getM() ||
        kernel.getCols() != product.getN())
      report.error(launch) << "expected a kernel of " << product.getM()
                           << " rows and " << product.getN()
                           << " columns, as the product has that it "
                              "continues, found "
                           << kernel.getRows() << " and " << kernel.getCols();
  }

  /// The product still reads and writes while the kernel does. What is read of
  /// c is made of the same elements.
  void checkBytes(rt::LaunchOp launch, rt::KernelOp kernel, const Touch &touch,
                  const Touch &product) {
    if (touch.accesses.size() > kernel.getOperandsInfo().size())
      return; // which was said
    const Value c = cast<rt::GemmOp>(product.op).getC();
    bool isRead = false;
    for (const Access &mine : touch.accesses)
      for (const Access &its : product.accesses) {
        if (!mine.extent.overlaps(its.extent))
          continue;
        bool isC = its.view == c.getDefiningOp() && !its.moved && !mine.moved &&
                   mine.extent.sameBytes(its.extent);
        if (isC && !mine.writes && isOfElements(launch, kernel, mine))
          isRead = true;
        else if (mine.writes || its.writes)
          report.error(launch)
              << "expected to share no bytes with the product that it "
                 "continues, but the elements of c, each of which it reads "
                 "for its own, found bytes "
              << mine.extent.offset << " to " << mine.extent.end()
              << " of the arena " << kArenas[mine.extent.arena].name;
      }
    if (!isRead)
      report.error(launch)
          << "expected to read the product that it continues, found it does "
             "not";
  }

  /// Whether all operands of the view are of elements.
  static bool isOfElements(rt::LaunchOp launch, rt::KernelOp kernel,
                           const Access &access) {
    bool all = true;
    for (auto [buffer, info] :
         llvm::zip(launch.getBuffers(), kernel.getOperandsInfo()))
      if (buffer.getDefiningOp() == access.view)
        all &= cast<rt::OperandAttr>(info).getMode() == rt::Mode::Full;
    return all;
  }

  Report &report;
  llvm::StringMap<rt::KernelOp> kernels; ///< looked up only
};

} // namespace

void checkContinuations(const Model &model, Report &report) {
  forEachStage(model, report, [](const Stage &stage, Report &found) {
    ContinuationChecker checker(stage, found);
    for (const Fragment &fragment : stage.fragments) {
      const Touch *before = nullptr;
      for (const Touch &touch : fragment.touches) {
        if (auto launch = dyn_cast<rt::LaunchOp>(touch.op))
          checker.check(launch, touch, before);
        before = &touch;
      }
    }
  });
}

} // namespace mtc::passes::verify
