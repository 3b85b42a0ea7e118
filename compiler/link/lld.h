//===- lld.h - LLD as a library ---------------------------------*- C++ -*-===//
#ifndef MTC_COMPILER_LINK_LLD_H
#define MTC_COMPILER_LINK_LLD_H

#include "compiler/output_folder.h"

#include <string>
#include <vector>

namespace mtc::compiler {

/// Links in this process, as `ld.lld` would with `arguments` (without -o), and
/// writes to `file`: LLD maps a file that it writes itself, and where the disk
/// is full that ends the process. One link at a time: other threads wait.
/// Errors: failed, with LLD's messages; writeFailed.
runtime::Status runLld(const std::vector<std::string> &arguments,
                       WholeFile &file);

} // namespace mtc::compiler
#endif // MTC_COMPILER_LINK_LLD_H
