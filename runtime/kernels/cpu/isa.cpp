#include "runtime/kernels/cpu/isa.h"

#include "runtime/kernels/cpu/kernel_table.h"

#include <atomic>

namespace mtc::runtime {

namespace {
struct Isa {
  std::string_view name;
  const KernelTable *table;
};
// Attention computes in fp32, and bf16.h says why it rounds without
// AVX-512-BF16: that changes the GEMM library only.
constexpr Isa kIsas[] = {{"x86-64-v3", &kKernelsV3},
                         {"x86-64-v4", &kKernelsV4},
                         {"x86-64-v4-bf16", &kKernelsV4}};
std::atomic<const Isa *> selected = nullptr;
} // namespace

static const Isa *findIsa(std::string_view name) {
  for (const Isa &isa : kIsas)
    if (isa.name == name)
      return &isa;
  return nullptr;
}

bool mtc_kernels_cpu_has(std::string_view isa) {
  if (isa == "x86-64-v4-bf16")
    return __builtin_cpu_supports("x86-64-v4") &&
           __builtin_cpu_supports("avx512bf16");
  if (isa == "x86-64-v4")
    return __builtin_cpu_supports("x86-64-v4");
  return isa == "x86-64-v3" && __builtin_cpu_supports("x86-64-v3");
}

Status mtc_kernels_select_isa(std::string_view name) {
  const Isa *isa = findIsa(name);
  if (!isa)
    return {StatusCode::usage, "expected instruction set " +
                                   std::string(kIsaNames) + ", found '" +
                                   std::string(name) + "'"};
  if (!mtc_kernels_cpu_has(name))
    return {StatusCode::infeasible,
            "this program needs a CPU with " + std::string(name) +
                ", which this machine lacks: compile the plan for another "
                "instruction set"};
  selected.store(isa, std::memory_order_release);
  return Status::okay();
}

std::string_view mtc_kernels_isa() {
  const Isa *isa = selected.load(std::memory_order_acquire);
  return isa ? isa->name : std::string_view();
}

const KernelTable *selectedKernels() {
  const Isa *isa = selected.load(std::memory_order_acquire);
  return isa ? isa->table : nullptr;
}

} // namespace mtc::runtime
