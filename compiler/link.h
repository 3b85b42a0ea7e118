//===- link.h - objects to executables and shared objects -------*- C++ -*-===//
#ifndef MTC_COMPILER_LINK_H
#define MTC_COMPILER_LINK_H

#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace mtc::compiler {

/// What links a program: the system's C++ compiler driver, a fast linker if
/// there is one, and the runtime's static libraries.
struct Toolchain {
  std::string driver;                 ///< absolute path of c++
  std::vector<std::string> linker;    ///< "-fuse-ld=mold" or nothing
  std::string libraries;              ///< folder with libmtc_*.a
  std::vector<std::string> arguments; ///< lines of libraries/mtc-link.txt
};

/// Finds it. `$CXX`, if set, names the driver. Errors: failed, saying what is
/// missing.
runtime::Status findToolchain(Toolchain &toolchain);

/// Links objects with the runtime to the program of a rank. Errors: failed,
/// with the linker's output. Equal inputs give equal bytes.
runtime::Status linkExecutable(const Toolchain &toolchain,
                               const std::vector<std::string> &objects,
                               const std::string &output);

/// Links objects to a shared object whose runtime functions are found in the
/// process that opens it.
runtime::Status linkShared(const Toolchain &toolchain,
                           const std::vector<std::string> &objects,
                           const std::string &output);

} // namespace mtc::compiler
#endif // MTC_COMPILER_LINK_H
