//===- newest_checkpoint.h - which checkpoint a path means ------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_NEWEST_CHECKPOINT_H
#define MTC_RUNTIME_CONTROL_NEWEST_CHECKPOINT_H

#include "runtime/checkpoint/checkpoint.h"

#include <string>

namespace mtc::runtime {

/// Whether a path is a checkpoint, whole or not, and no folder of some.
bool isOneCheckpoint(const std::string &path);

/// The error of a path that has no checkpoint at all (inputRejected).
Status noCheckpoint(const std::string &path);

/// The newest whole one of a folder; without a folder in it if there is none at
/// all. Says on standard error which newer ones are not whole. Errors:
/// noneWhole; those of findNewestWhole.
Status openNewestIn(const std::string &root, Checkpoint &out);

/// The checkpoint that `path` is, or the newest whole one of that folder; all
/// bytes are those that were written. Errors: those of openNewestIn and of
/// Checkpoint; inputRejected, when there is none.
Status openNewest(const std::string &path, Checkpoint &out);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_NEWEST_CHECKPOINT_H
