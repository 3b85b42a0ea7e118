//===- ptxas.h - NVIDIA's assembler of kernels -------------------*- C++
//-*-===//
//
// An optional tool of the CUDA toolkit; nothing needs it.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_BASE_PTXAS_H
#define MTC_RUNTIME_BASE_PTXAS_H

#include "runtime/base/status.h"

#include <map>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// What the assembler says of an entry.
struct AssembledEntry {
  int registers = 0;       ///< of a thread
  int64_t sharedBytes = 0; ///< static, beside what a launch asks for
  int64_t spillBytes = 0;  ///< stored to and loaded from local memory
  int64_t stackBytes = 0;  ///< of local memory, of a thread
};

/// What it makes of PTX.
struct Assembly {
  std::string cubin;                             ///< for the chip alone
  std::map<std::string, AssembledEntry> entries; ///< by name
};

/// The path of ptxas: in PATH, else in CUDA_HOME, by default the folder of
/// NVIDIA's packages; empty if there is none.
std::string findPtxas();

/// Assembles PTX for a chip, "sm_90". Nothing is written to a file. Errors:
/// inputRejected with what it said.
Status assemble(const std::string &ptxas, const std::string &ptx,
                const std::string &chip, Assembly &out);

/// The entries of what `ptxas -v` prints.
std::map<std::string, AssembledEntry> readPtxasReport(std::string_view text);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_PTXAS_H
