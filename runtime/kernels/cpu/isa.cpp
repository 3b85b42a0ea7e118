#include "runtime/kernels/cpu/isa.h"

#include "runtime/kernels/cpu/kernel_table.h"

#include <atomic>

namespace mtc::runtime {

namespace {
struct IsaKernels {
  std::string_view name;
  const KernelTable *table;
  const AttentionKernels *bf16 = nullptr; ///< in place of the table's
};
constexpr IsaKernels kTables[] = {
    {"x86-64-v3", &kKernelsV3},
    {"x86-64-v4", &kKernelsV4},
    {"x86-64-v4-bf16", &kKernelsV4Bf16},
    {"x86-64-v4-amx", &kKernelsV4Bf16, &kAttentionAmx}};
std::atomic<const IsaKernels *> selected = nullptr;
} // namespace

static const IsaKernels *findIsa(std::string_view name) {
  for (const IsaKernels &isa : kTables)
    if (isa.name == name)
      return &isa;
  return nullptr;
}

Status mtc_kernels_select_isa(std::string_view name) {
  const IsaKernels *isa = findIsa(name);
  if (!isa)
    return {StatusCode::usage, "expected instruction set " + isaNames() +
                                   ", found '" + std::string(name) + "'"};
  if (!processorHas(name))
    return {StatusCode::infeasible,
            "this program needs a CPU with " + std::string(name) + ", " +
                lackOf(name) +
                ": compile the plan for another instruction set"};
  selected.store(isa, std::memory_order_release);
  return Status::okay();
}

std::string_view mtc_kernels_isa() {
  const IsaKernels *isa = selected.load(std::memory_order_acquire);
  return isa ? isa->name : std::string_view();
}

const KernelTable *selectedKernels() {
  const IsaKernels *isa = selected.load(std::memory_order_acquire);
  return isa ? isa->table : nullptr;
}

const AttentionKernels *selectedAttention(MtcDtype type) {
  const IsaKernels *isa = selected.load(std::memory_order_acquire);
  if (!isa)
    return nullptr;
  return type == MTC_BF16 && isa->bf16 ? isa->bf16 : &isa->table->attention;
}

} // namespace mtc::runtime
