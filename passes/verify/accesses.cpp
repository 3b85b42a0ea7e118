//===- accesses.cpp - what each op of a fragment touches ------------------===//
#include "passes/verify/model.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace mtc::passes::verify {
namespace {

struct Effect {
  bool reads = false, writes = false;
  int64_t adds = 0;
  bool stores = false; ///< of kernels, that may add as well
};

void addTo(Effect &effect) {
  effect.reads = effect.writes = true;
  ++effect.adds;
}

/// Effects of a kernel on its operands, from its body.
SmallVector<Effect> effectsOf(rt::KernelOp kernel) {
  SmallVector<Effect> effects(kernel.getOperandsInfo().size());
  for (Operation &op : kernel.getBody().front()) {
    if (auto load = dyn_cast<rt::LoadOp>(op)) {
      effects[load.getOperand()].reads = true;
    } else if (auto gather = dyn_cast<rt::GatherOp>(op)) {
      effects[gather.getOperand()].reads = true;
    } else if (auto store = dyn_cast<rt::StoreOp>(op)) {
      effects[store.getOperand()].writes = true;
      effects[store.getOperand()].stores = true;
    } else if (auto add = dyn_cast<rt::AccumulateOp>(op)) {
      addTo(effects[add.getOperand()]);
    } else if (auto scatter = dyn_cast<rt::ScatterAddOp>(op)) {
      addTo(effects[scatter.getOperand()]);
    }
  }
  return effects;
}

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
      kernels[kernel.getSymName()] = {kernel, effectsOf(kernel)};
  }

  Touch read(Operation *op) {
    touch = Touch{op, {}};
    if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
      readLaunch(launch);
    } else if (auto gemm = dyn_cast<rt::GemmOp>(op)) {
      add(gemm.getA(), {true, false});
      add(gemm.getB(), {true, false});
      add(gemm.getC(), {gemm.getBeta(), true, gemm.getBeta()});
      addScratch(gemm.getScratch());
    } else if (auto attention = dyn_cast<rt::AttentionOp>(op)) {
      for (Value v : attention.getInputs())
        add(v, {true, false});
      for (Value v : attention.getOutputsIn())
        add(v, {false, true});
      addScratch(attention.getScratch());
    } else if (auto collective = dyn_cast<rt::CollectiveOp>(op)) {
      add(collective.getBuffer(), {true, true}); // in place
    } else if (auto zero = dyn_cast<rt::ZeroOp>(op)) {
      add(zero.getBuffer(), {false, true});
    } else if (auto norm = dyn_cast<rt::NormOp>(op)) {
      add(norm.getRange(), {true, false});
    }
    return std::move(touch);
  }

private:
  void readLaunch(rt::LaunchOp launch) {
    auto it = kernels.find(launch.getKernel());
    if (it == kernels.end()) {
      report.error(launch) << "expected a kernel of this program, found \""
                           << launch.getKernel() << "\"";
      return;
    }
    auto &[kernel, effects] = it->second;
    if (static_cast<int64_t>(launch.getScalars().size()) != scalarsOf(kernel))
      report.error(launch) << "expected " << scalarsOf(kernel)
                           << " numbers for kernel \"" << launch.getKernel()
                           << "\", found " << launch.getScalars().size();
    if (effects.size() != launch.getBuffers().size()) {
      report.error(launch) << "expected a buffer for each of " << effects.size()
                           << " operands of kernel \"" << launch.getKernel()
                           << "\", found " << launch.getBuffers().size();
      return;
    }
    for (auto [value, effect, info] :
         llvm::zip(launch.getBuffers(), effects, kernel.getOperandsInfo())) {
      add(value, effect);
      auto operand = cast<rt::OperandAttr>(info);
      if (auto field = value.getDefiningOp<rt::StepFieldOp>();
          field && (effect.writes || operand.getMode() != rt::Mode::Scalar))
        report.error(launch) << "expected the step block's field "
                             << kStepFields[field.getField()].name
                             << " only as a scalar that kernel \""
                             << launch.getKernel() << "\" reads, found another";
      auto shaped = cast<ShapedType>(value.getType());
      int64_t expected = elementsOf(kernel, operand);
      if (expected >= 0 && shaped.getNumElements() != expected)
        report.error(launch)
            << "expected a buffer of " << expected << " elements for operand "
            << value.getType() << " of kernel \"" << launch.getKernel()
            << "\", found " << shaped.getNumElements();
      if (operand.getElement() != shaped.getElementType())
        report.error(launch)
            << "expected elements of type " << operand.getElement()
            << " as kernel \"" << launch.getKernel() << "\" has them, found "
            << value.getType();
    }
  }

  void addScratch(Value value) {
    if (!value)
      return;
    add(value, {false, true});
    if (!touch.accesses.empty())
      touch.accesses.back().scratch = true;
  }

  void add(Value value, Effect effect) {
    if (!value)
      return;
    // The runtime's own: readLaunch checks how a launch uses it.
    if (value.getDefiningOp<rt::StepFieldOp>() && isa<rt::LaunchOp>(touch.op))
      return;
    Access access;
    access.type = value.getType();
    access.reads = effect.reads;
    access.writes = effect.writes;
    access.adds = effect.adds;
    access.stores = effect.stores || (effect.writes && effect.adds == 0);
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
  llvm::DenseMap<StringRef, std::pair<rt::KernelOp, SmallVector<Effect>>>
      kernels;
  Touch touch;
};

} // namespace

std::vector<Touch> readTouches(rt::ProgramOp program, func::FuncOp fn,
                               Report &report) {
  TouchReader reader(program, report);
  std::vector<Touch> touches;
  for (Operation &op : fn.getBody().front())
    if (isa<rt::LaunchOp, rt::GemmOp, rt::AttentionOp, rt::CollectiveOp,
            rt::ZeroOp, rt::NormOp>(op))
      touches.push_back(reader.read(&op));
    else if (!isa<rt::ViewOp, rt::OffsetViewOp, rt::FlatRangeOp, rt::AffineOp,
                  rt::StepFieldOp, rt::RecordOp, rt::WaitOp, func::ReturnOp>(
                 op))
      report.error(&op) << "expected ops of fragments, of which it is known "
                           "what they touch, found another";
  return touches;
}

} // namespace mtc::passes::verify
