//===- bundle_files.h - is a bundle as it was written -----------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_BUNDLE_FILES_H
#define MTC_RUNTIME_CONTROL_BUNDLE_FILES_H

#include "runtime/base/json.h"

#include <string>

namespace mtc::runtime {

/// Whether `name` is a relative path that stays in its folder as it is written.
bool staysInside(const std::string &name);

/// Compares a bundle with the digests of its manifest: of each file that
/// `files` lists, and of the manifest itself without `digest`. Reads every file
/// once. A manifest without `digest` was edited by hand, and is taken as it is.
/// Errors: inputRejected, all files that are missing, damaged, or links that
/// leave the folder, at once.
Status checkBundleFiles(const std::string &folder, const Json &manifest);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_BUNDLE_FILES_H
