//===- picture.h - the file of --svg ----------------------------*- C++ -*-===//
#ifndef MTC_TOOLS_MTC_PICTURE_H
#define MTC_TOOLS_MTC_PICTURE_H

#include "runtime/base/output_files.h"

#include <string>
#include <vector>

namespace mtc::tool {

/// Checks the file of --svg, or of another option, before work begins; empty:
/// no picture is asked for. Errors: usage for "-", as the answer itself goes to
/// standard output, and those of checkFiles; writeFailed for what cannot be
/// written.
runtime::Status checkPicture(const std::string &svg,
                             const std::vector<runtime::NamedFile> &inputs,
                             const char *option = "--svg");

} // namespace mtc::tool
#endif // MTC_TOOLS_MTC_PICTURE_H
