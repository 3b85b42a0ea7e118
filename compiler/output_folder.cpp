//===- output_folder.cpp - a bundle appears whole or not at all -----------===//

#include "compiler/output_folder.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace fs = std::filesystem;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

Status writeError(const std::string &what, const std::string &path,
                  const std::string &why) {
  return {StatusCode::writeFailed,
          fmt::format("cannot {} '{}': {}", what, path, why)};
}

bool replaceable(const fs::path &path) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error)))
    return true;
  return fs::is_directory(path, error) &&
         (fs::is_empty(path, error) ||
          fs::exists(path / "manifest.json", error));
}

} // namespace

OutputFolder::~OutputFolder() {
  std::error_code error;
  if (!temporary_.empty())
    fs::remove_all(temporary_, error);
}

Status OutputFolder::create(const std::string &path) {
  fs::path target = fs::path(path).lexically_normal();
  if (!target.has_filename())
    target = target.parent_path();
  if (!replaceable(target))
    return {
        StatusCode::usage,
        fmt::format("'{}': expected a new folder, an empty one or an earlier "
                    "bundle, found something else; choose another name",
                    path)};
  std::error_code error;
  if (target.has_parent_path())
    fs::create_directories(target.parent_path(), error);
  std::string pattern = target.string() + ".tmp-XXXXXX";
  if (error || !mkdtemp(pattern.data()))
    return writeError("create a folder beside", path,
                      error ? error.message() : std::strerror(errno));
  // mkdtemp makes it private; a bundle is as readable as other output.
  fs::permissions(pattern,
                  fs::perms::owner_all | fs::perms::group_read |
                      fs::perms::group_exec | fs::perms::others_read |
                      fs::perms::others_exec,
                  error);
  path_ = target.string();
  temporary_ = pattern;
  return Status::okay();
}

Status OutputFolder::commit() {
  std::error_code error;
  if (!fs::exists(path_, error)) {
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
      return writeError("rename a folder to", path_, std::strerror(errno));
    temporary_.clear();
    return Status::okay();
  }
  // An exchange leaves no moment without a bundle; the old one is then removed.
  if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(),
                RENAME_EXCHANGE) == 0)
    return Status::okay();
  fs::remove_all(path_, error);
  if (error || std::rename(temporary_.c_str(), path_.c_str()) != 0)
    return writeError("replace", path_, std::strerror(errno));
  temporary_.clear();
  return Status::okay();
}

Status writeFile(const std::string &path, const std::string &text) {
  std::error_code error;
  fs::path parent = fs::path(path).parent_path();
  if (!parent.empty())
    fs::create_directories(parent, error);
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file ? Status::okay()
              : writeError("write", path, std::strerror(errno));
}

} // namespace mtc::compiler
