//===- digests.cpp - what finds damage of a bundle ------------------------===//

#include "compiler/digests.h"

#include "compiler/output_folder.h"
#include "runtime/base/digest.h"

#include "llvm/Support/MemoryBuffer.h"

#include <filesystem>
#include <map>

#include <fmt/format.h>

namespace fs = std::filesystem;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {

static Status unreadable(const fs::path &path, const std::error_code &error) {
  return {StatusCode::writeFailed, fmt::format("cannot read '{}' again: {}",
                                               path.string(), error.message())};
}

Status addDigests(const std::string &folder, nlohmann::ordered_json &manifest) {
  std::map<std::string, std::string> digests;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end;
       !error && at != end; at.increment(error)) {
    if (!at->is_regular_file() || at->path().filename() == kUnfinishedMark)
      continue;
    auto content = llvm::MemoryBuffer::getFile(at->path().string());
    if (!content)
      return unreadable(at->path(), content.getError());
    digests[at->path().lexically_relative(folder).string()] =
        runtime::digestOf((*content)->getBuffer());
  }
  if (error)
    return unreadable(folder, error);
  manifest["files"] = digests;
  manifest["digest"] = runtime::digestOf(manifest.dump());
  return Status::okay();
}

} // namespace mtc::compiler
