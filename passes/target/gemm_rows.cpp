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

SmallVector<runtime::GemmInfo, 2> gemmRows(rt::GemmOp op) {
  runtime::GemmInfo row{op.getM(),          op.getN(),          op.getK(),
                        op.getTa(),         op.getTb(),         op.getBeta(),
                        dtypeOf(op.getA()), dtypeOf(op.getC()), 0};
  if (Value scratch = op.getScratch())
    row.scratch = rt::bytesOf(scratch.getType());
  if (op.hasEpilogue())
    row.epilogue = {bool(op.getBias()), op.getGelu(), bool(op.getAux())};
  if (op.getKernel() == rt::GemmKernel::Own)
    row.kernel = runtime::GemmKernel::own;
  else if (op.readsPacked())
    row.kernel = runtime::GemmKernel::ownPacked;
  SmallVector<runtime::GemmInfo, 2> rows{row};
  if (op.getStoresFirst()) {
    row.beta = false;
    // The update reads gradients, when all others have been made. What the
    // kernel streams are lines of fp32.
    if (row.kernel == runtime::GemmKernel::own && row.c == MTC_F32)
      row.kernel = runtime::GemmKernel::ownStreamed;
    rows.push_back(row);
  }
  return rows;
}

void GemmRows::add(func::FuncOp fragment) {
  for (auto gemm : fragment.getBody().getOps<rt::GemmOp>())
    for (const runtime::GemmInfo &row : gemmRows(gemm))
      if (!llvm::is_contained(all, row))
        all.push_back(row);
}

SmallVector<int64_t, 2> GemmRows::indicesOf(rt::GemmOp op) const {
  SmallVector<int64_t, 2> indices;
  for (const runtime::GemmInfo &row : gemmRows(op))
    indices.push_back(llvm::find(all, row) - all.begin());
  return indices;
}

} // namespace mtc::target
