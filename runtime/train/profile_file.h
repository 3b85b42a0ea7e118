//===- profile_file.h - a rank's profile as a file --------------*- C++ -*-===//
#ifndef MTC_RUNTIME_TRAIN_PROFILE_FILE_H
#define MTC_RUNTIME_TRAIN_PROFILE_FILE_H

#include "runtime/base/status.h"
#include "runtime/program/profile.h"

#include <string>

namespace mtc::runtime {

/// Where a rank writes its profile in a folder.
std::string profilePath(const std::string &folder, int64_t rank);

/// Errors: writeFailed.
Status writeProfile(const std::string &path, const RankProfile &profile);

/// Reads what writeProfile wrote. Errors: inputRejected.
Status readProfile(const std::string &path, RankProfile &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_TRAIN_PROFILE_FILE_H
