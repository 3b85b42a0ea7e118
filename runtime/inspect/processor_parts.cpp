//===- processor_parts.cpp - a processor and what it computes -------------===//

#include "mtc/runtime/abi.h"
#include "mtc/runtime/isa.h"
#include "runtime/base/cores.h"
#include "runtime/inspect/machine_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unistd.h>

namespace mtc::runtime {
namespace {

double memoryGib() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 30);
}

/// The first instruction set of the table that this processor has, the best.
std::string_view bestIsa() {
  const auto *best = std::ranges::find_if(
      kIsas, [](std::string_view isa) { return processorHas(isa); });
  return best == std::end(kIsas) ? "" : *best;
}

MachinePart numbers(const char *name, const char *serves,
                    std::string_view isa) {
  if (processorHas(isa))
    return {name, serves, true, fmt::format("programs for {}", bestIsa())};
  return {name, serves, false,
          fmt::format("expected a processor of {}; compile with --target "
                      "cuda:sm_90 for a GPU, or run elsewhere",
                      isa)};
}

/// A program for a better set has what one for `least` needs.
MachinePart bf16Products() {
  constexpr std::string_view kLeast = "x86-64-v4-bf16";
  MachinePart part{"products of bf16", "--dtype bf16 faster than f32",
                   processorHas(kLeast), ""};
  part.found = part.there
                   ? fmt::format("programs for {}", bestIsa())
                   : fmt::format("expected a processor of {}; bf16 runs at "
                                 "the rate of f32 here",
                                 kLeast);
  return part;
}

} // namespace

std::vector<MachinePart> processorParts() {
  return {{"processor", "everything", true,
           fmt::format("{}, {} for this process, {:.1f} GiB of memory",
                       processorName(), usableCores(), memoryGib())},
          numbers("f32, fp16, bf16", "training in every type", "x86-64-v3"),
          bf16Products(),
          {"oneDNN", "products with --gemm onednn", true, mtc_gemm_library()}};
}

} // namespace mtc::runtime
