//===- standard_files.h - descriptors 0 to 2 are taken ----------*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_STANDARD_FILES_H
#define MTC_TOOLS_MTC_STANDARD_FILES_H

#include <string>

namespace mtc::tool {

/// Opens something for each standard descriptor that the caller closed: the
/// next file that is opened would get its number, and what is meant for people
/// would go there. Reading or writing it is an error, as when it was closed.
void holdStandardFiles();

/// A line for people on standard error: how far long work is.
void lineToStderr(const std::string &line);

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_STANDARD_FILES_H
