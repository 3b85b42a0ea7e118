#include "runtime/kernels/cpu/isa.h"

#include "runtime/kernels/cpu/kernel_sets.h"

#include <array>
#include <atomic>

namespace mtc::runtime {

namespace {

std::atomic<const KernelSet *> selected = nullptr;
/// By MtcDtype, so that no call compares names; null: no set of the type.
std::array<std::atomic<const AttentionKernels *>, MTC_F16 + 1> attention{};

void selectAttention(const KernelSet &all) {
  for (MtcDtype type : {MTC_F32, MTC_BF16, MTC_F16}) {
    const KernelSet *own = findKernels(all.isa, type);
    const AttentionKernels *kernels = nullptr;
    if (own)
      kernels = own->attention ? own->attention : &all.table->attention;
    attention[type].store(kernels, std::memory_order_release);
  }
}

} // namespace

const KernelSet *findKernels(std::string_view isa) {
  for (const KernelSet *const *set = mtc_kernel_sets; *set; ++set)
    if ((*set)->table && (*set)->isa == isa)
      return *set;
  return nullptr;
}

const KernelSet *findKernels(std::string_view isa, MtcDtype type) {
  for (const KernelSet *const *set = mtc_kernel_sets; *set; ++set)
    if ((*set)->products && (*set)->isa == isa && (*set)->type == type)
      return *set;
  return nullptr;
}

Status missingKernels(std::string_view isa) {
  return {StatusCode::internal,
          "this program was linked without kernels for " + std::string(isa)};
}

Status mtc_kernels_select_isa(std::string_view name) {
  if (!isKnownIsa(name))
    return {StatusCode::usage, "expected instruction set " + isaNames() +
                                   ", found '" + std::string(name) + "'"};
  if (!processorHas(name))
    return {StatusCode::infeasible,
            "this program needs a CPU with " + std::string(name) + ", " +
                lackOf(name) +
                ": compile the plan for another instruction set"};
  const KernelSet *kernels = findKernels(name);
  if (!kernels)
    return missingKernels(name);
  selectAttention(*kernels);
  selected.store(kernels, std::memory_order_release);
  return Status::okay();
}

std::string_view mtc_kernels_isa() {
  const KernelSet *kernels = selected.load(std::memory_order_acquire);
  return kernels ? kernels->isa : std::string_view();
}

const KernelTable *selectedKernels() {
  const KernelSet *kernels = selected.load(std::memory_order_acquire);
  return kernels ? kernels->table : nullptr;
}

const AttentionKernels *selectedAttention(MtcDtype type) {
  return attention[type].load(std::memory_order_acquire);
}

} // namespace mtc::runtime
