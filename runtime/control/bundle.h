//===- bundle.h - the folder that `mtc compile` writes ----------*- C++ -*-===//
#ifndef MTC_RUNTIME_CONTROL_BUNDLE_H
#define MTC_RUNTIME_CONTROL_BUNDLE_H

#include "mtc/runtime/model_flops.h"
#include "runtime/comm/comm.h"
#include "runtime/program/descriptor.h"

#include <string>
#include <vector>

namespace mtc::runtime {

enum class ProgramForm { executable, shared };

/// One program of a bundle, as the manifest lists it, with its descriptor as
/// found in the file.
struct BundleProgram {
  std::string path;
  Descriptor descriptor;
};

struct Bundle {
  std::string folder;
  std::string planHash;
  Mesh mesh;
  std::vector<ModelFlops> flops;     ///< by tokens of a sample; may be empty
  std::vector<BundleProgram> stages; ///< by stage
  const Descriptor &descriptor(int rank) const {
    return stages[mesh.coordinate(rank, MTC_AXIS_PP)].descriptor;
  }
};

/// Reads `folder`/manifest.json and the descriptors of its programs, and checks
/// that they belong together: one program per stage; equal plan hash, mesh and
/// batch; file names stay inside the folder. Errors: inputRejected, all
/// disagreements at once.
Status openBundle(const std::string &folder, ProgramForm form, Bundle &out);

/// Whether the bundle in a folder is still one of the plan that a run began
/// with, by its hash. Errors: those of openBundle and checkPlan.
Status checkBundle(const std::string &folder, const std::string &begun);

} // namespace mtc::runtime
#endif // MTC_RUNTIME_CONTROL_BUNDLE_H
