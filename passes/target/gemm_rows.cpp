//===- gemm_rows.cpp - the GEMMs of a program, as its runtime reads them --===//
#include "passes/target/gemm_rows.h"

using namespace mlir;

namespace mtc::target {

MtcDtype dtypeOf(Type element) {
  return element.isBF16() ? MTC_BF16 : element.isF16() ? MTC_F16 : MTC_F32;
}

MtcDtype dtypeOf(Value value) {
  return dtypeOf(cast<ShapedType>(value.getType()).getElementType());
}

runtime::GemmInfo gemmRow(rt::GemmOp op) {
  runtime::GemmInfo row{op.getM(),          op.getN(),          op.getK(),
                        op.getTa(),         op.getTb(),         op.getBeta(),
                        dtypeOf(op.getA()), dtypeOf(op.getC()), 0};
  if (Value scratch = op.getScratch())
    row.scratch = rt::bytesOf(scratch.getType());
  if (op.hasEpilogue())
    row.epilogue = {bool(op.getBias()), op.getGelu(), bool(op.getAux())};
  if (op.getKernel() == rt::GemmKernel::Own)
    row.kernel = runtime::GemmKernel::own;
  return row;
}

void GemmRows::add(func::FuncOp fragment) {
  for (auto gemm : fragment.getBody().getOps<rt::GemmOp>())
    if (runtime::GemmInfo row = gemmRow(gemm); !llvm::is_contained(all, row))
      all.push_back(row);
}

int64_t GemmRows::indexOf(rt::GemmOp op) const {
  return llvm::find(all, gemmRow(op)) - all.begin();
}

} // namespace mtc::target
