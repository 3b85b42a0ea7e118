//===- checkpoints.h - looks at checkpoints ---------------------*- C++ -*-===//
//
// What `mtc checkpoint` does. A path is the folder of a checkpoint
// (DIR/step-00001000), or the folder of several, which stands for the newest
// whole one of them where one is expected; newer ones are named on standard
// error.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_CHECKPOINTS_H
#define MTC_RUNTIME_CHECKPOINTS_H

#include "mtc/runtime/status.h"

#include <cstdint>
#include <string>

namespace mtc::runtime {

/// What checkpoints say of themselves: one in full, of several a line each.
/// Reads no data of tensors. JSON instead of text if `json`. Errors:
/// inputRejected, when there is none; one of several that is not whole is a
/// line, and one that is removed meanwhile is not.
Status describeCheckpoints(const std::string &path, bool json,
                           std::string &text);

/// Reads all bytes and says of each whether they are those that were written.
/// Errors: inputRejected, when those of one are not; `text` is whole then, too.
Status verifyCheckpoints(const std::string &path, bool json, std::string &text);

/// Compares two, element by element, whatever layouts wrote them: of each
/// tensor how many differ, the first of them, and the largest difference in
/// units in the last place. Errors: inputRejected, noneWhole, when one is not
/// whole.
Status diffCheckpoints(const std::string &a, const std::string &b, bool json,
                       std::string &text, bool &same);

/// Removes what is older than the newest `keep` whole ones of a folder, which
/// no run may be writing to, but for what is being read. Errors: usage,
/// writeFailed.
Status pruneFolder(const std::string &folder, int64_t keep, std::string &text);

/// Writes the parameters as one safetensors file, F32, under the names of the
/// model: what --init-from takes. Errors: usage, when the file is one of a
/// checkpoint or a bundle; inputRejected, noneWhole, when the checkpoint is not
/// whole; writeFailed.
Status exportParameters(const std::string &path, const std::string &file);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CHECKPOINTS_H
