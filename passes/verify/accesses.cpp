//===- accesses.cpp - what each op of a fragment touches ------------------===//
#include "dialects/rt/Rt.h"
#include "passes/verify/model.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

/// Elements that a kernel touches through an operand; -1 if its length is an
/// argument.
int64_t elementsOf(rt::KernelOp kernel, rt::OperandAttr operand) {
  int64_t rows = kernel.getRows();
  int64_t cols = kernel.getCols();
  switch (operand.getMode()) {
  case rt::Mode::Row:
    return rows;
  case rt::Mode::Scalar:
    return 1;
  case rt::Mode::Full:
    return cols < 0 ? -1 : rows * cols;
  case rt::Mode::Col:
    return cols;
  case rt::Mode::Periodic:
  case rt::Mode::Table:
    return cols < 0 ? -1 : operand.getExtent() * cols;
  }
  return -1;
}

/// Numbers that a launch passes: its arguments, and the columns where these are
/// not known before.
int64_t scalarsOf(rt::KernelOp kernel) {
  return kernel.getArgs() + (kernel.getCols() < 0 ? 1 : 0);
}

class TouchReader {
public:
  TouchReader(rt::ProgramOp program, Report &report) : report(report) {
    for (auto kernel : program.getOps<rt::KernelOp>())
      kernels[kernel.getSymName()] = {kernel, kernel.getOperandAccesses()};
  }

  Touch read(Operation *op) {
    touch = Touch{op, {}};
    ArrayRef<rt::AccessKind> effects;
    if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
      auto it = kernels.find(launch.getKernel());
      if (it == kernels.end()) {
        report.error(launch) << "expected a kernel of this program, found \""
                             << launch.getKernel() << "\"";
        return std::move(touch);
      }
      effects = it->second.second;
      if (!checkLaunch(launch, it->second.first, effects))
        return std::move(touch);
    }
    if (auto buffers = rt::accessesOf(op, effects); succeeded(buffers))
      for (const rt::Access &buffer : *buffers)
        add(buffer.value, buffer.kind);
    return std::move(touch);
  }

private:
  /// Numbers and buffers of a launch are those of its kernel; false if there
  /// are not as many buffers, or others are written.
  bool checkLaunch(rt::LaunchOp launch, rt::KernelOp kernel,
                   ArrayRef<rt::AccessKind> effects) {
    ArrayRef<Attribute> operands = kernel.getOperandsInfo().getValue();
    if (static_cast<int64_t>(launch.getScalars().size()) != scalarsOf(kernel))
      report.error(launch) << "expected " << scalarsOf(kernel)
                           << " numbers for kernel \"" << launch.getKernel()
                           << "\", found " << launch.getScalars().size();
    if (size_t found = launch.getBuffers().size(); found != operands.size()) {
      report.error(launch) << "expected a buffer for each of "
                           << operands.size() << " operands of kernel \""
                           << launch.getKernel() << "\", found " << found;
      return false;
    }
    bool isKnown = true;
    for (auto [operand, effect, info] :
         llvm::zip(launch.getKernelOperands(), effects, operands)) {
      checkBuffer(launch, kernel, operand->get(), effect,
                  cast<rt::OperandAttr>(info));
      isKnown &= launch.isDpsInit(operand) == effect.writes;
    }
    if (!isKnown)
      report.error(launch) << "expected in writes the operands that kernel \""
                           << launch.getKernel() << "\" writes, found others";
    return isKnown;
  }

  void checkBuffer(rt::LaunchOp launch, rt::KernelOp kernel, Value value,
                   const rt::AccessKind &effect, rt::OperandAttr operand) {
    if (auto field = value.getDefiningOp<rt::StepFieldOp>();
        field && (effect.writes || operand.getMode() != rt::Mode::Scalar))
      report.error(launch) << "expected the step block's field "
                           << kStepFields[field.getField()].name
                           << " only as a scalar that kernel \""
                           << launch.getKernel() << "\" reads, found another";
    auto shaped = cast<ShapedType>(value.getType());
    int64_t expected = elementsOf(kernel, operand);
    if (expected >= 0 && shaped.getNumElements() != expected)
      report.error(launch) << "expected a buffer of " << expected
                           << " elements for operand " << value.getType()
                           << " of kernel \"" << launch.getKernel()
                           << "\", found " << shaped.getNumElements();
    if (operand.getElement() != shaped.getElementType())
      report.error(launch) << "expected elements of type "
                           << operand.getElement() << " as kernel \""
                           << launch.getKernel() << "\" has them, found "
                           << value.getType();
  }

  void add(Value value, const rt::AccessKind &effect) {
    // The runtime's own: checkBuffer says how a launch may use it.
    if (value.getDefiningOp<rt::StepFieldOp>() && isa<rt::LaunchOp>(touch.op))
      return;
    Access access;
    access.type = value.getType();
    static_cast<rt::AccessKind &>(access) = effect;
    if ((access.moved = value.getDefiningOp<rt::OffsetViewOp>()))
      value = access.moved.getView();
    access.view = value.getDefiningOp<rt::ViewOp>();
    if (!access.view) {
      report.error(touch.op)
          << "expected operands made by rt.view, found " << value.getType();
      return;
    }
    auto view = access.view;
    access.extent = {view.getArena(), view.getOffset(),
                     rt::bytesOf(view.getType()), view.getPool(),
                     view.getStride().value_or(0)};
    touch.accesses.push_back(access);
  }

  Report &report;
  llvm::DenseMap<StringRef,
                 std::pair<rt::KernelOp, SmallVector<rt::AccessKind>>>
      kernels;
  Touch touch;
};

} // namespace

std::vector<Touch> readTouches(rt::ProgramOp program, func::FuncOp fn,
                               Report &report) {
  TouchReader reader(program, report);
  std::vector<Touch> touches;
  for (Operation &op : fn.getBody().front())
    if (isa<rt::AccessOpInterface>(&op))
      touches.push_back(reader.read(&op));
    else if (!isa<rt::ViewOp, rt::OffsetViewOp, rt::FlatRangeOp, rt::AffineOp,
                  rt::StepFieldOp, rt::RecordOp, rt::WaitOp, func::ReturnOp>(
                 op))
      report.error(&op) << "expected ops of fragments, of which it is known "
                           "what they touch, found another";
  return touches;
}

} // namespace mtc::passes::verify
