//===- bundle_around.cpp - outputs that would change a bundle -------------===//

#include "tools/mtc/bundle_around.h"

#include <filesystem>

namespace mtc::tool {

std::string bundleAround(const std::string &file) {
  std::error_code error;
  std::filesystem::path folder =
      std::filesystem::absolute(file, error).lexically_normal();
  for (int level = 0; level < 2; ++level) {
    folder = folder.parent_path();
    if (std::filesystem::exists(folder / "manifest.json", error))
      return folder.string();
  }
  return "";
}

} // namespace mtc::tool
