//===- elf_symbol.h - reads a string out of an ELF file ---------*- C++ -*-===//
#ifndef MTC_RUNTIME_INSPECT_ELF_SYMBOL_H
#define MTC_RUNTIME_INSPECT_ELF_SYMBOL_H

#include "runtime/base/status.h"

#include <string>
#include <string_view>

namespace mtc::runtime {

/// The NUL-terminated text at symbol `name` of a 64-bit little-endian ELF
/// object, executable or shared object. Nothing of the file is executed.
/// Errors: inputRejected.
Status readElfText(const std::string &path, std::string_view name,
                   std::string &text);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_ELF_SYMBOL_H
