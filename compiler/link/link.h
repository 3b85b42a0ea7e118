//===- link.h - objects to executables and shared objects -------*- C++ -*-===//
#ifndef MTC_COMPILER_LINK_LINK_H
#define MTC_COMPILER_LINK_LINK_H

#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace mtc::compiler {

/// A place in the command of the linker: a file, or, where `path` is empty, the
/// objects that are linked.
struct LinkItem {
  std::string path; ///< absolute
};

/// What programs are linked with: files that come with mtc and the shared
/// libraries that mtc itself runs with. No compiler has to be there.
struct Toolchain {
  std::vector<LinkItem> executable; ///< of executable.txt
  std::vector<LinkItem> shared;     ///< of shared.txt
};

/// Finds it. Errors: failed, saying what is missing.
runtime::Status findToolchain(Toolchain &toolchain);

/// Links objects with the runtime to the program of a rank. Errors: failed,
/// with the linker's output; writeFailed where the disk is full. Equal inputs
/// give equal bytes. Paths are paths, whatever they begin with.
runtime::Status linkExecutable(const Toolchain &toolchain,
                               const std::vector<std::string> &objects,
                               const std::string &output);

/// Links objects to a shared object whose runtime functions are found in the
/// process that opens it.
runtime::Status linkShared(const Toolchain &toolchain,
                           const std::vector<std::string> &objects,
                           const std::string &output);

/// The forms of a program that are linked.
enum class LinkForm { both, executable, shared };

/// A program: what it is linked of, and its name.
struct LinkJob {
  std::string file;
  std::vector<std::string> objects;
  LinkForm form = LinkForm::both;
};

/// The executable `file`, its shared object `file`.so, or both.
runtime::Status linkProgram(const Toolchain &toolchain, const LinkJob &job);

} // namespace mtc::compiler
#endif // MTC_COMPILER_LINK_LINK_H
