//===- unfinished_files.h - files that nobody has finished yet --*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_UNFINISHED_FILES_H
#define MTC_RUNTIME_BASE_UNFINISHED_FILES_H

#include <string>

namespace mtc::runtime {

/// Names of temporary files of this process, for ends of it that run no
/// destructors. Any thread may call these.
void noteUnfinished(const std::string &path);
void forgetUnfinished(const std::string &path);

/// Removes them: right before the process ends, when there may be no memory.
/// Names that a process had when this one was forked off are not this one's.
void removeUnfinished();

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_UNFINISHED_FILES_H
