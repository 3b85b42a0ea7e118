//===- kernel_sets.h - the kernels that a program has -----------*- C++ -*-===//
//
// Internal. A program has the kernels of its instruction set, and products and
// attention by tiles of the types that its plan has: `mtc compile` names their
// sets in the program, and the linker leaves out what no set has. What is not a
// program, as mtc and the tests, has all of them.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_KERNELS_CPU_KERNEL_SETS_H
#define MTC_RUNTIME_KERNELS_CPU_KERNEL_SETS_H

#include "runtime/base/status.h"
#include "runtime/kernels/cpu/gemm_own_table.h"
#include "runtime/kernels/cpu/kernel_table.h"

#include <string_view>

namespace mtc::runtime {

/// What an instruction set has for all types, named `mtc_kernels_ISA`, or for
/// one, `mtc_products_ISA_TYPE`, with underscores in place of hyphens and the
/// type as descriptors write it.
struct KernelSet {
  std::string_view isa;               ///< one of kIsas
  const KernelTable *table = nullptr; ///< of all types
  MtcDtype type = MTC_F32;            ///< of one: that of operands
  const OwnKernels *products = nullptr;
  const AttentionKernels *attention = nullptr; ///< in place of the table's
};

/// Those of this program, then null.
extern "C" const KernelSet *const mtc_kernel_sets[];

/// That of all types, or of one; null: this program does not have it.
const KernelSet *findKernels(std::string_view isa);
const KernelSet *findKernels(std::string_view isa, MtcDtype type);

/// Says that it does not. Error: internal.
Status missingKernels(std::string_view isa);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_KERNELS_CPU_KERNEL_SETS_H
