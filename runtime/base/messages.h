//===- messages.h - how messages reach people -------------------*- C++ -*-===//
#ifndef MTC_RUNTIME_BASE_MESSAGES_H
#define MTC_RUNTIME_BASE_MESSAGES_H

#include <string>
#include <string_view>

namespace mtc::runtime {

/// A message with names of the user's in it: control characters, which a
/// terminal would obey, become \xNN. Lines and tabs stay.
std::string printable(std::string_view text);

/// The first line and 20 more, and how many are left out. A file may have
/// thousands of problems.
std::string firstLines(const std::string &text);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_BASE_MESSAGES_H
