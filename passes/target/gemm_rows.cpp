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

/// Of every microbatch that is neither the first nor the one that counts.
static runtime::GemmInfo usualRow(rt::GemmOp op) {
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
  else if (op.getKernel() == rt::GemmKernel::InnerProduct)
    row.kernel = runtime::GemmKernel::innerProduct;
  return row;
}

static runtime::GemmInfo storing(runtime::GemmInfo row) {
  row.beta = false;
  // The update reads gradients, when all others have been made. What the
  // kernel streams are lines of fp32.
  if (row.kernel == runtime::GemmKernel::own && row.c == MTC_F32)
    row.kernel = runtime::GemmKernel::ownStreamed;
  return row;
}

static runtime::GemmInfo counting(runtime::GemmInfo row) {
  row.counts = true;
  return row;
}

SmallVector<MicrobatchRow, 4> gemmRows(rt::GemmOp op) {
  const runtime::GemmInfo usual = usualRow(op);
  SmallVector<MicrobatchRow, 4> rows{{usual}};
  if (op.getStoresFirst())
    rows.push_back({.row = storing(usual), .isFirst = true});
  if (op.getCountsLast())
    rows.push_back({.row = counting(usual), .isLast = true});
  if (op.getStoresFirst() && op.getCountsLast())
    rows.push_back(
        {.row = counting(storing(usual)), .isFirst = true, .isLast = true});
  return rows;
}

void GemmRows::add(func::FuncOp fragment) {
  for (auto gemm : fragment.getBody().getOps<rt::GemmOp>())
    for (const MicrobatchRow &each : gemmRows(gemm))
      if (!llvm::is_contained(all, each.row))
        all.push_back(each.row);
}

int64_t GemmRows::indexOf(const runtime::GemmInfo &row) const {
  return llvm::find(all, row) - all.begin();
}

} // namespace mtc::target
