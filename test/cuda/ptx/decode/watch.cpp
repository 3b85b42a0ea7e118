//===- watch.cpp - registers that a wgmma has -----------------------------===//
#include "test/cuda/ptx/decode/watch.h"

namespace mtc::ptx {

void watchProducts(const Function &function,
                   const std::vector<RegisterUse> &uses, Code &code) {
  if (code.products.empty())
    return;
  std::vector<uint32_t> number(function.registers.size(), kNowhere);
  auto watch = [&](const std::vector<uint32_t> &registers,
                   std::vector<uint32_t> &to) {
    for (uint32_t reg : registers) {
      if (number[reg] == kNowhere) {
        number[reg] = uint32_t(code.watched.size());
        code.watched.push_back(function.registers[reg].name);
      }
      to.push_back(number[reg]);
    }
  };
  for (size_t k = 0; k < uses.size(); ++k) {
    if (uses[k].sums.empty())
      continue;
    WarpgroupProduct &product = code.products[code.instructions[k].target];
    watch(uses[k].sums, product.watchedSums);
    watch(uses[k].left, product.watchedLeft);
  }
  for (size_t k = 0; k < uses.size(); ++k) {
    if (!uses[k].sums.empty())
      continue;
    std::vector<uint32_t> touched;
    for (const auto *list : {&uses[k].reads, &uses[k].writes})
      for (uint32_t reg : *list)
        if (number[reg] != kNowhere)
          touched.push_back(number[reg]);
    if (touched.empty())
      continue;
    code.instructions[k].watched = true;
    code.instructions[k].watch = uint32_t(code.watches.size());
    code.watches.push_back(std::move(touched));
  }
}

} // namespace mtc::ptx
