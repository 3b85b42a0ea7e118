//===- guarded_copy.h - a copy from pages that may be gone ------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_GUARDED_COPY_H
#define MTC_RUNTIME_BASE_GUARDED_COPY_H

#include <cstdint>

namespace mtc::runtime {

/// Installs the handler of SIGBUS that guardedCopy needs, once in a process.
/// What is no fault of such a copy goes on to the handler before it.
/// False: it could not, as errno says.
bool guardCopies();

/// Copies `bytes`, and whether it could: false when a page of `from`, in a
/// mapping of a file, cannot be had; `out` then has some of them. Any thread.
bool guardedCopy(void *out, const void *from, int64_t bytes);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_GUARDED_COPY_H
