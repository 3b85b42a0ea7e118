//===- parts_folder.cpp - where a file is until it is whole ---------------===//

#include "runtime/control/parts_folder.h"

#include "runtime/base/file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace mtc::runtime {

PartsFolder::~PartsFolder() {
  std::error_code ignored; // it is in nobody's way
  if (!path_.empty())
    std::filesystem::remove_all(path_, ignored);
}

Status PartsFolder::create(const std::string &file, PartsFolder &out) {
  constexpr size_t kRandom = 6; // letters that mkdtemp replaces
  std::string name = behindLinks(file) + ".parts-" + std::string(kRandom, 'X');
  if (!mkdtemp(name.data()))
    return {StatusCode::writeFailed,
            fmt::format("cannot create a folder beside '{}': {}", file,
                        std::strerror(errno))};
  out.path_.swap(name);
  return Status::okay();
}

} // namespace mtc::runtime
