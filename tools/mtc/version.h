//===- version.h - what this build of mtc is --------------------*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_VERSION_H
#define MTC_TOOLS_MTC_VERSION_H

#include <string>

namespace mtc::tool {

/// "mtc 0.1".
std::string versionName();

/// What `mtc --version` prints: that, and the versions of MLIR and oneDNN, the
/// targets, how it was built. Lines without the last newline.
std::string versionText();

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_VERSION_H
