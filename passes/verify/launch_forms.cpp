//===- launch_forms.cpp - the integers of one launch ----------------------===//
#include "passes/verify/launch_forms.h"

using namespace mlir;

namespace mtc::passes::verify {

LaunchForms::LaunchForms(rt::LaunchOp launch, rt::KernelOp kernel,
                         const Mesh &mesh)
    : launch(launch), kernel(kernel), buffers(launch.getBuffers()) {
  for (const AxisInfo &axis : kAxes)
    forms.setExtent(axis.id, mesh[axis.id]);
  forms.setExtent(kRowIndex, kernel.getRows());
  forms.setExtent(kColIndex, kernel.getCols());
}

KernelIndices LaunchForms::indices() {
  SmallVector<IndexForm> arguments;
  for (Value scalar : launch.getScalars()) {
    auto affine = scalar.getDefiningOp<rt::AffineOp>();
    arguments.push_back(affine ? forms.of(affine.getValue()) : IndexForm());
  }
  return KernelIndices(kernel, arguments, forms);
}

IndexForm LaunchForms::elementNumber() {
  return forms.add(forms.mul(forms.variable(kRowIndex), kernel.getCols()),
                   forms.variable(kColIndex));
}

SmallVector<IndexForm> LaunchForms::indicesIn(ArrayRef<int64_t> shape,
                                              IndexForm element) {
  SmallVector<IndexForm> indices(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    indices[i] = i == 0 ? element : forms.rem(element, shape[i]);
    element = forms.div(element, shape[i]);
  }
  return indices;
}

IndexForm LaunchForms::numberIn(ArrayRef<int64_t> shape,
                                ArrayRef<IndexForm> indices) {
  IndexForm number = IndexForms::constant(0);
  for (auto [size, index] : llvm::zip(shape, indices))
    number = IndexForms::add(IndexForms::mul(number, size), index);
  return number;
}

void LaunchForms::settle(function_ref<void()> compute) {
  // Each run finds a digit more; of a plan's numbers there are a few.
  for (int64_t runs = 0; runs < 64; ++runs) {
    compute();
    if (!forms.isCut())
      return;
  }
}

static void
forEachLaunch(rt::TensorFormOp form,
              function_ref<void(rt::LaunchOp, rt::KernelOp)> check) {
  llvm::DenseMap<StringRef, rt::KernelOp> kernels; // looked up only
  for (auto kernel : form.getBody().front().getOps<rt::KernelOp>())
    kernels[kernel.getSymName()] = kernel;
  for (auto fn : form.getOps<func::FuncOp>()) {
    auto of = pipe::FragmentAttr::of(fn);
    if (of && of.isUpdate())
      continue; // on flat ranges: checkUpdate
    fn.walk([&](rt::LaunchOp launch) {
      rt::KernelOp kernel = kernels.lookup(launch.getKernel());
      if (kernel &&
          launch.getBuffers().size() == kernel.getOperandsInfo().size())
        check(launch, kernel);
    });
  }
}

void forEachLaunch(
    const Model &model, Report &report,
    function_ref<void(rt::LaunchOp, rt::KernelOp, Report &)> check) {
  forEachStage(model, report, [&](const Stage &stage, Report &found) {
    for (auto form : stage.op.getOps<rt::TensorFormOp>())
      forEachLaunch(form, [&](rt::LaunchOp launch, rt::KernelOp kernel) {
        check(launch, kernel, found);
      });
  });
}

} // namespace mtc::passes::verify
