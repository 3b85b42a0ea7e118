//===- pieces.cpp - which bytes a product touches -------------------------===//
#include "test/cuda/blas/pieces.h"

#include <algorithm>

namespace mtc::standin::blas {
namespace {

void addRange(Operand &operand, CUdeviceptr at, size_t bytes) {
  if (!bytes)
    return;
  std::vector<MtcStandinRange> &ranges = operand.ranges;
  if (!ranges.empty() && ranges.back().address + ranges.back().bytes == at)
    ranges.back().bytes += bytes;
  else
    ranges.push_back({at, bytes, operand.reads, operand.writes});
}

Operand bytesOf(std::string name, bool writes, CUdeviceptr at, size_t bytes) {
  Operand operand{std::move(name), !writes, writes, {}};
  addRange(operand, at, bytes);
  return operand;
}

Operand matrixOf(std::string name, bool reads, bool writes,
                 const Matrix &matrix) {
  Operand operand{std::move(name), reads, writes, {}};
  // A stride of 0 is one matrix for all products.
  int64_t products = matrix.stride ? matrix.batch : 1;
  for (int64_t product = 0; product < products; ++product)
    for (int64_t col = 0; col < matrix.cols; ++col)
      addRange(operand, matrix.column(product, col),
               size_t(matrix.rows) * matrix.elementBytes());
  std::sort(operand.ranges.begin(), operand.ranges.end(),
            [](const MtcStandinRange &x, const MtcStandinRange &y) {
              return x.address < y.address;
            });
  return operand;
}

/// Both are sorted.
bool meet(const Operand &x, const Operand &y) {
  auto a = x.ranges.begin(), b = y.ranges.begin();
  while (a != x.ranges.end() && b != y.ranges.end()) {
    if (a->address + a->bytes <= b->address)
      ++a;
    else if (b->address + b->bytes <= a->address)
      ++b;
    else
      return true;
  }
  return false;
}

} // namespace

std::vector<Operand> operandsOf(const Product &product) {
  const Problem &of = product.problem;
  size_t element = of.d.elementBytes();
  std::vector<Operand> list;
  bool isInPlace = of.readsC() && product.isInPlace();
  list.push_back(matrixOf("D", isInPlace, true, of.d));
  list.push_back(matrixOf("A", true, false, of.a));
  list.push_back(matrixOf("B", true, false, of.b));
  if (of.readsC() && !isInPlace)
    list.push_back(matrixOf("C", true, false, of.c));
  if (of.hasBias())
    list.push_back(bytesOf("bias", false, of.bias, size_t(of.m) * element));
  if (of.gradientLength())
    list.push_back(bytesOf("bias gradient", true, of.bias,
                           size_t(of.gradientLength()) * element));
  if (of.hasAux())
    list.push_back(matrixOf("aux", of.isDgelu(), !of.isDgelu(), of.aux));
  if (of.deviceScalars) {
    list.push_back(bytesOf("alpha", false, of.alphaAt, sizeof(float)));
    list.push_back(bytesOf("beta", false, of.betaAt, sizeof(float)));
  }
  if (product.workspaceBytes)
    list.push_back(
        bytesOf("workspace", true, product.workspace, product.workspaceBytes));
  return list;
}

Verdict checkAliases(const std::vector<Operand> &operands) {
  for (size_t k = 0; k < operands.size(); ++k)
    for (size_t q = k + 1; q < operands.size(); ++q) {
      const Operand &x = operands[k], &y = operands[q];
      if ((x.writes || y.writes) && meet(x, y))
        return invalid(x.name + " and " + y.name +
                       " share bytes, and one is written");
    }
  return {};
}

std::vector<MtcStandinRange> rangesOf(const std::vector<Operand> &operands) {
  std::vector<MtcStandinRange> all;
  for (const Operand &each : operands)
    all.insert(all.end(), each.ranges.begin(), each.ranges.end());
  return all;
}

} // namespace mtc::standin::blas
