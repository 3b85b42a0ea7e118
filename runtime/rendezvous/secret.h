//===- secret.h - by which the ranks of a job know each other ---*- C++ -*-===//
#ifndef MTC_RUNTIME_RENDEZVOUS_SECRET_H
#define MTC_RUNTIME_RENDEZVOUS_SECRET_H

#include "runtime/base/status.h"

#include <string>

namespace mtc::runtime {

/// The secret itself, in the environment of all ranks.
inline constexpr const char *kSecretVariable = "MTC_JOB_SECRET";
/// Or the file that has it.
inline constexpr const char *kSecretFileVariable = "MTC_JOB_SECRET_FILE";

/// The job's secret: that of the environment, that of the file which the
/// environment names, or that of ~/.mtc/job-secret, which is made if it is not
/// there: who shares a home folder shares the secret. Errors: usage, when a
/// file may be read by others than its owner, is empty, or is missing and
/// cannot be made.
Status findSecret(std::string &out);

/// A new one, of 64 digits. Errors: failed.
Status makeSecret(std::string &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_RENDEZVOUS_SECRET_H
