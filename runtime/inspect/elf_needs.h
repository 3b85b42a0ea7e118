//===- elf_needs.h - what an ELF file asks of a machine ---------*- C++ -*-===//
#ifndef MTC_RUNTIME_INSPECT_ELF_NEEDS_H
#define MTC_RUNTIME_INSPECT_ELF_NEEDS_H

#include "runtime/base/status.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace mtc::runtime {

/// A number such as 2.34 or 3.17.0, by its parts.
using Version = std::vector<unsigned>;

std::string versionText(const Version &version);

struct ElfNeeds {
  /// Names of the shared libraries it loads itself, each with the versions of
  /// symbols that it asks of it ("GLIBC_2.34").
  std::map<std::string, std::set<std::string>> libraries;
  Version kernel; ///< the oldest Linux it starts on; empty: not said
};

/// Adds the needs of an executable or shared object. Nothing of the file is
/// executed. Errors: inputRejected.
Status addElfNeeds(const std::string &path, ElfNeeds &needs);

/// Of versions with the same words before their number, the highest: what a
/// library must have. The others say nothing beside it.
std::vector<std::string> highestVersions(const std::set<std::string> &versions);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_ELF_NEEDS_H
