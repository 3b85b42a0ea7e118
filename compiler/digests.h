//===- digests.h - what finds damage of a bundle ----------------*- C++ -*-===//
#ifndef MTC_COMPILER_DIGESTS_H
#define MTC_COMPILER_DIGESTS_H

#include "runtime/base/status.h"

#include "nlohmann/json.hpp"

#include <string>

namespace mtc::compiler {

/// Adds to a manifest, which is not written yet: `files`, the digest of every
/// other file of the folder, and then `digest`, that of the manifest without it
/// (runtime/control/bundle_files.h compares them). Errors: writeFailed.
runtime::Status addDigests(const std::string &folder,
                           nlohmann::ordered_json &manifest);

} // namespace mtc::compiler
#endif // MTC_COMPILER_DIGESTS_H
