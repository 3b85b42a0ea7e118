//===- messages.h - what this process and a helper say ----------*- C++ -*-===//
#ifndef MTC_COMPILER_LINK_MESSAGES_H
#define MTC_COMPILER_LINK_MESSAGES_H

#include <string>
#include <vector>

namespace mtc::compiler {

/// Sends a list of strings to the other end of a socket. False if nobody reads
/// there any more.
bool sendStrings(int channel, const std::vector<std::string> &strings);

/// Waits for a list. False if the other end was closed.
bool receiveStrings(int channel, std::vector<std::string> &strings);

} // namespace mtc::compiler
#endif // MTC_COMPILER_LINK_MESSAGES_H
