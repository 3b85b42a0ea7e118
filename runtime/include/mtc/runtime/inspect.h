//===- inspect.h - what a bundle says of itself -----------------*- C++ -*-===//
//
// Of a program alone, run.h has inspectProgram and readDescriptorText. Nothing
// is executed. Library mtc_control.
//
//===----------------------------------------------------------------------===//
#ifndef MTC_RUNTIME_INSPECT_H
#define MTC_RUNTIME_INSPECT_H

#include "mtc/runtime/status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mtc::runtime {

/// Whether a path is taken for a bundle: it is a folder.
bool isBundle(const std::string &path);

/// A bundle and its programs as text for people. Errors: inputRejected.
Status inspectBundle(const std::string &folder, std::string &text);

/// The text of a bundle's manifest, if bundle and programs belong together.
/// Errors: inputRejected.
Status readManifestText(const std::string &folder, std::string &text);

/// What two bundles plan differently, as text for people or as JSON, and
/// whether they have the same plan. Errors: inputRejected.
Status diffBundles(const std::string &a, const std::string &b, bool json,
                   std::string &text, bool &same);

/// A question about a bundle; without one, an overview of what can be asked.
struct ExplainRequest {
  std::string folder;
  std::optional<std::string> parameter;  ///< its name
  std::optional<std::string> collective; ///< a number or group; "": all
  std::optional<int64_t> rank;           ///< >= 0: its memory over a step
  std::string svg;                       ///< file for a picture of that
  /// Calls and their least times on a card, by its name; "": that which the
  /// bundle is for.
  std::optional<std::string> kernels;
  std::optional<int64_t> stage; ///< whose; none: the busiest
  bool registers = false;       ///< asks ptxas for those of kernels
  bool json = false;
};

/// The answer as text for people or as JSON. Errors: usage for what the bundle
/// does not have; inputRejected; writeFailed.
Status explainBundle(const ExplainRequest &request, std::string &text);

/// Of a program in the folder `programs` of a bundle: whether it has the digest
/// that the manifest gives it. Others are taken as they are. Errors:
/// inputRejected.
Status checkProgramFile(const std::string &path);

/// What the machine that runs a program, or the executables of a bundle, needs
/// beside `mtc run`: instruction set, oneDNN, the oldest Linux, and the shared
/// libraries that they load themselves with the symbol versions that these must
/// have. As text, or as JSON: processor, onednn (null: none), kernel, libraries
/// (name, versions). Errors: inputRejected.
Status inspectRequirements(const std::string &path, bool json,
                           std::string &text);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_INSPECT_H
