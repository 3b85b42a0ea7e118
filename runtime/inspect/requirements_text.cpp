//===- requirements_text.cpp - for people and for programs ----------------===//

#include "runtime/inspect/requirements.h"

#include "mtc/runtime/gpu_chips.h"

#include <fmt/format.h>

namespace mtc::runtime {

std::string requirementsText(const Requirements &r) {
  std::string text = fmt::format("processor  {}\n", r.isa);
  if (!r.onednn.empty())
    text += fmt::format("oneDNN     {}, no other version\n", r.onednn);
  if (!r.gpu.empty())
    text += fmt::format("GPU        {}; a driver of CUDA 13.0 or newer, "
                        "libcublasLt.so.13, of several ranks libnccl.so.2\n",
                        describeGpusOf(r.gpu));
  text += fmt::format(
      "kernel     Linux {}{}\n", r.kernel,
      r.kernelFeature.empty() ? "" : fmt::format(" ({})", r.kernelFeature));
  text += "libraries\n";
  for (const auto &[name, versions] : r.elf.libraries) {
    std::string least =
        fmt::format("{}", fmt::join(highestVersions(versions), ", "));
    text += least.empty() ? fmt::format("  {}\n", name)
                          : fmt::format("  {:<22} {}\n", name, least);
  }
  return text;
}

Json requirementsJson(const Requirements &r) {
  Json json = {{"processor", r.isa},
               {"onednn", nullptr},
               {"gpu", nullptr},
               {"kernel", r.kernel}};
  if (!r.gpu.empty())
    json["gpu"] = r.gpu;
  if (!r.onednn.empty())
    json["onednn"] = r.onednn;
  json["libraries"] = Json::array();
  for (const auto &[name, versions] : r.elf.libraries)
    json["libraries"].push_back(
        {{"name", name}, {"versions", highestVersions(versions)}});
  return json;
}

} // namespace mtc::runtime
