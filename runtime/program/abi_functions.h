//===- abi_functions.h - the functions that programs call -------*- C++ -*-===//
#ifndef MTC_RUNTIME_PROGRAM_ABI_FUNCTIONS_H
#define MTC_RUNTIME_PROGRAM_ABI_FUNCTIONS_H

#include <span>

namespace mtc::runtime {

/// The addresses of all functions that abi.h declares for fragments. Referring
/// to this table keeps them in an executable that opens programs with dlopen.
std::span<void *const> abiFunctions();

} // namespace mtc::runtime
#endif // MTC_RUNTIME_PROGRAM_ABI_FUNCTIONS_H
