//===- requirements.cpp - what the machine that runs needs ----------------===//

#include "runtime/inspect/requirements.h"

#include "mtc/runtime/gpu_chips.h"
#include "mtc/runtime/run.h"
#include "runtime/control/bundle.h"
#include "runtime/program/descriptor.h"

#include <filesystem>

namespace mtc::runtime {
namespace {

/// What the runtime calls that a Linux that is old today did not have.
struct KernelFeature {
  const char *name;
  Version since;
};

const KernelFeature kKernelFeatures[] = {
    {"memfd_create", {3, 17}}, // memory that processes share
};

/// Which a process asks for (isa.h).
const KernelFeature kTiles = {"the registers of AMX", {5, 16}};

void addKernel(Requirements &out) {
  Version oldest = out.elf.kernel;
  auto need = [&](const KernelFeature &feature) {
    if (!(oldest < feature.since))
      return;
    oldest = feature.since;
    out.kernelFeature = feature.name;
  };
  for (const KernelFeature &feature : kKernelFeatures)
    need(feature);
  if (out.isa == "x86-64-v4-amx")
    need(kTiles);
  out.kernel = versionText(oldest);
}

void addDescriptor(const Descriptor &descriptor, Requirements &out) {
  out.isa = descriptor.isa;
  if (!descriptor.onednn.empty())
    out.onednn = descriptor.onednn;
  if (descriptor.isForGpu())
    out.gpu = gpuChipsOf(descriptor.device);
}

Status addProgram(const std::string &path, Requirements &out) {
  std::string text;
  Descriptor descriptor;
  MTC_RETURN_IF_ERROR(readDescriptorText(path, text));
  MTC_RETURN_IF_ERROR(parseDescriptor(text, descriptor));
  addDescriptor(descriptor, out);
  return addElfNeeds(path, out.elf);
}

Status addBundle(const std::string &folder, Requirements &out) {
  Bundle bundle;
  MTC_RETURN_IF_ERROR(openBundle(folder, ProgramForm::executable, bundle));
  for (const BundleProgram &program : bundle.stages) {
    addDescriptor(program.descriptor, out);
    MTC_RETURN_IF_ERROR(addElfNeeds(program.path, out.elf));
  }
  return Status::okay();
}

} // namespace

Status readRequirements(const std::string &path, Requirements &out) {
  out = {};
  std::error_code error;
  bool isFolder = std::filesystem::is_directory(path, error);
  MTC_RETURN_IF_ERROR(isFolder ? addBundle(path, out) : addProgram(path, out));
  addKernel(out);
  return Status::okay();
}

} // namespace mtc::runtime
