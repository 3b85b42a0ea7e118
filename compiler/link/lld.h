//===- lld.h - LLD as a library ---------------------------------*- C++ -*-===//
#ifndef MTC_COMPILER_LINK_LLD_H
#define MTC_COMPILER_LINK_LLD_H

#include "runtime/base/status.h"

#include <string>
#include <vector>

namespace mtc::compiler {

/// Links in this process, as `ld.lld` would with `arguments` (without -o), and
/// gives the bytes of the file: LLD maps a file that it writes, and where the
/// disk is full that ends the process. One link at a time: other threads wait.
/// Errors: failed, with LLD's messages.
runtime::Status runLld(const std::vector<std::string> &arguments,
                       std::string &bytes);

} // namespace mtc::compiler
#endif // MTC_COMPILER_LINK_LLD_H
