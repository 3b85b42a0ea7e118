//===- doctor.cpp - what this machine can run -----------------------------===//

#include "mtc/runtime/doctor.h"

#include "runtime/base/json.h"
#include "runtime/inspect/machine_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace mtc::runtime {

static std::string textOf(const std::vector<MachinePart> &parts) {
  size_t widest = 0;
  for (const MachinePart &part : parts)
    widest = std::max(widest, part.name.size());
  std::string text;
  for (const MachinePart &part : parts) {
    text += fmt::format("{:<{}}  {}{}\n", part.name, widest,
                        part.there ? "" : "missing: ", part.found);
    if (!part.there)
      text += fmt::format("{:<{}}  needed for {}\n", "", widest, part.serves);
  }
  return text;
}

static Json jsonOf(const std::vector<MachinePart> &parts) {
  Json list = Json::array();
  for (const MachinePart &part : parts)
    list.push_back({{"name", part.name},
                    {"there", part.there},
                    {"found", part.found},
                    {"serves", part.serves}});
  return {{"parts", list}};
}

std::string describeMachine(const std::string &mpiFolder, bool json) {
  std::vector<MachinePart> parts = processorParts();
  for (auto &more : {mpiParts(mpiFolder), gpuParts()})
    parts.insert(parts.end(), more.begin(), more.end());
  return json ? jsonOf(parts).dump(2) + "\n" : textOf(parts);
}

} // namespace mtc::runtime
