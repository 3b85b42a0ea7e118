//===- machine_parts.h - what there is of a machine -------------*- C++ -*-===//
#ifndef MTC_RUNTIME_INSPECT_MACHINE_PARTS_H
#define MTC_RUNTIME_INSPECT_MACHINE_PARTS_H

#include <string>
#include <vector>

namespace mtc::runtime {

/// Something that runs need, or some of them.
struct MachinePart {
  std::string name;   ///< "bf16", "NCCL", "GPU 0"
  std::string serves; ///< what it is for
  bool there = false;
  std::string found; ///< in words; if it is missing, why, and how to get it
};

/// Processor, number types, products.
std::vector<MachinePart> processorParts();
/// The libraries of MPI, by their engines in `folder`. Each is loaded by a
/// process of its own, as two of them do not go together.
std::vector<MachinePart> mpiParts(const std::string &folder);
/// Driver, GPUs, cuBLASLt and NCCL.
std::vector<MachinePart> gpuParts();

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_MACHINE_PARTS_H
