//===- requirements.h - what the machine that runs needs --------*- C++ -*-===//
#ifndef MTC_RUNTIME_INSPECT_REQUIREMENTS_H
#define MTC_RUNTIME_INSPECT_REQUIREMENTS_H

#include "runtime/base/json.h"
#include "runtime/inspect/elf_needs.h"

#include <string>
#include <vector>

namespace mtc::runtime {

struct Requirements {
  std::string isa;              ///< as mtc/runtime/isa.h names it
  std::string onednn;           ///< the very version; empty: no products
  std::vector<std::string> gpu; ///< chips of code, "sm_90"; empty: none
  /// The oldest Linux, and what it is the first to have.
  std::string kernel, kernelFeature;
  ElfNeeds elf;
};

/// Of a program (executable or shared object), or in a folder of the
/// executables of a bundle, together. Errors: inputRejected.
Status readRequirements(const std::string &path, Requirements &out);

std::string requirementsText(const Requirements &requirements);
Json requirementsJson(const Requirements &requirements);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_REQUIREMENTS_H
