//===- last_words.h - errors that cannot be returned ------------*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_LAST_WORDS_H
#define MTC_TOOLS_MTC_LAST_WORDS_H

#include <cstddef>

namespace mtc::tool {

/// From now on the end of memory, a library's abort, and exceptions that nobody
/// catches end the process with one line on standard error and exit code 1, or
/// that of a lost peer; what a compilation began and temporary files are
/// removed.
void installLastWords();

/// Ends the process so, as there is no memory.
[[noreturn]] void noMemory();

/// The same for an allocation of so many bytes, if they are so few that nobody
/// may have looked whether it failed; returns otherwise.
void smallAllocationFailed(std::size_t bytes);

/// Whether this thread ends the process for want of memory. It has some of its
/// own, as others would take what is given back to all.
bool isEnding();

/// So many bytes of that memory, for any type; null where too few are left.
void *allocateFromReserve(std::size_t bytes);

/// Whether they came from there: nobody frees them.
bool isOfReserve(const void *memory);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_LAST_WORDS_H
