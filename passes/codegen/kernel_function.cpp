//===- kernel_function.cpp - functions made of kernels --------------------===//
#include "passes/codegen/kernel_function.h"

#include "passes/codegen/schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::codegen;

/// Elements of an operand; where cols is dynamic, more than any buffer has: the
/// type carries no size, only the address matters.
static int64_t elements(rt::KernelOp kernel, rt::OperandAttr info) {
  constexpr int64_t unknown = int64_t(1) << 40;
  int64_t rows = numRows(kernel), cols = numCols(kernel);
  if (cols < 0)
    return unknown;
  switch (info.getMode()) {
  case rt::Mode::Full:
    return rows * cols;
  case rt::Mode::Row:
    return rows;
  case rt::Mode::Col:
    return cols;
  case rt::Mode::Scalar:
    return 1;
  default:
    return info.getExtent() * cols;
  }
}

SmallVector<Type> codegen::kernelParameters(rt::KernelOp kernel, OpBuilder &b) {
  SmallVector<Type> types;
  for (Attribute attr : kernel.getOperandsInfo()) {
    auto info = cast<rt::OperandAttr>(attr);
    Type element =
        rt::isHalf(info.getElement()) ? b.getI16Type() : info.getElement();
    types.push_back(MemRefType::get({elements(kernel, info)}, element));
  }
  types.append(kernel.getArgs() + (numCols(kernel) < 0 ? 1 : 0),
               b.getI64Type());
  return types;
}

func::FuncOp codegen::makeKernelFunction(rt::KernelOp kernel,
                                         ImplicitLocOpBuilder &b,
                                         TypeRange more) {
  SmallVector<Type> types = kernelParameters(kernel, b);
  llvm::append_range(types, more);
  auto function = func::FuncOp::create(b, kernel.getSymName(),
                                       b.getFunctionType(types, {}));
  b.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

Value codegen::emitCols(rt::KernelOp kernel, func::FuncOp function,
                        ImplicitLocOpBuilder &b) {
  if (numCols(kernel) >= 0)
    return arith::ConstantIndexOp::create(b, numCols(kernel));
  auto behind = kernel.getOperandsInfo().size() + kernel.getArgs();
  return arith::IndexCastOp::create(
      b, b.getIndexType(), function.getArgument(static_cast<unsigned>(behind)));
}

void codegen::flattenPointwise(rt::KernelOp kernel) {
  if (numCols(kernel) < 0 || numRows(kernel) == 1)
    return;
  for (Operation &op : kernel.getBody().front()) {
    if (isa<rt::IndexOp, rt::RowReduceOp, rt::GatherOp, rt::ScatterAddOp>(op))
      return;
    int64_t index = operandIndex(&op);
    if (index < 0)
      continue;
    auto mode =
        cast<rt::OperandAttr>(kernel.getOperandsInfo()[index]).getMode();
    if (mode != rt::Mode::Full &&
        !(mode == rt::Mode::Scalar && isa<rt::LoadOp>(op)))
      return;
  }
  kernel.setCols(numRows(kernel) * numCols(kernel));
  kernel.setRows(1);
}
