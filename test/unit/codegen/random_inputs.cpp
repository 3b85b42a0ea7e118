//===- random_inputs.cpp - what random kernels are given ------------------===//
#include "random_inputs.h"

#include <cmath>

using namespace mlir;
using namespace mtc;
using namespace mtc::test;

Buffer test::fill(std::mt19937 &rng, rt::KernelOp kernel, int64_t index,
                  int64_t count) {
  auto info = cast<rt::OperandAttr>(kernel.getOperandsInfo()[index]);
  bool stored = false;
  for (Operation &op : kernel.getBody().front())
    if (auto store = dyn_cast<rt::StoreOp>(op))
      stored |= int64_t(store.getOperand()) == index;
  Buffer out;
  for (int64_t i = 0; i < count; ++i) {
    if (info.getElement().isInteger(32))
      out.elements.push_back({0, uint32_t(int(rng() % 8) - 2), 0});
    else if (stored)
      out.elements.push_back({NAN, 0, 0});
    else
      out.elements.push_back(
          {roundToBf16(double(rng() % 4001) / 1000 - 2), 0, 0});
  }
  return out;
}
