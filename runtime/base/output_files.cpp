//===- output_files.cpp - no output of a command is an input of it --------===//

#include "runtime/base/output_files.h"

#include "runtime/base/file.h"
#include "runtime/base/sealed_folder.h"

#include <fmt/format.h>

#include <compare>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sys/stat.h>

namespace fs = std::filesystem;

namespace mtc::runtime {
namespace {

/// An inode; or, with a name, what that name would be in a folder.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  std::string name;
  auto operator<=>(const Identity &) const = default;
};

std::optional<Identity> inodeOf(const fs::path &path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    return std::nullopt;
  return Identity{info.st_dev, info.st_ino, ""};
}

fs::path folderOf(const fs::path &path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Of a file in a folder that is yet to be made: its path.
Identity identityOf(const fs::path &name) {
  if (std::optional<Identity> file = inodeOf(name))
    return *file;
  fs::path path = behindLinks(name.string());
  std::optional<Identity> folder = inodeOf(folderOf(path));
  std::error_code error;
  return folder
             ? Identity{folder->device, folder->inode, path.filename().string()}
             : Identity{0, 0, fs::weakly_canonical(path, error).string()};
}

/// A stream that keeps nothing may be named twice.
bool isFileOrNew(const fs::path &path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  return !fs::exists(status) || fs::is_regular_file(status);
}

class Checker {
public:
  explicit Checker(const CommandFiles &files) : files_(files) {}

  Status check() {
    for (const NamedFile &input : files_.inputs)
      uses_.try_emplace(identityOf(input.path), "the file of " + input.option);
    collectBundle();
    for (const NamedFile &output : files_.outputs)
      check(output, /*isFolder=*/false);
    for (const NamedFile &folder : files_.folders)
      check(folder, /*isFolder=*/true);
    for (const NamedFile &lock : files_.locks)
      (void)isOwn(lock, /*isFolder=*/false); // in the folder of its output
    if (problems_.empty())
      return Status::okay();
    return {StatusCode::usage,
            fmt::format("outputs: expected files of their own, outside of "
                        "bundles and checkpoints; choose other names than\n  "
                        "{}",
                        fmt::join(problems_, "\n  "))};
  }

private:
  /// Its files may have other names outside of it.
  void collectBundle() {
    std::error_code error;
    for (const auto &entry :
         fs::recursive_directory_iterator(files_.bundle, error))
      if (std::optional<Identity> id = inodeOf(entry.path()))
        uses_.try_emplace(*id, fmt::format("a file of the bundle, '{}'",
                                           entry.path().string()));
  }

  /// Of several folders one may be another.
  bool isOwn(const NamedFile &output, bool isFolder) {
    if (!isFileOrNew(output.path))
      return true;
    Identity id = identityOf(output.path);
    auto use = uses_.find(id);
    if (use == uses_.end()) {
      if (!isFolder)
        uses_.emplace(id, "the file of " + output.option);
      return true;
    }
    problems_.push_back(fmt::format("{} '{}': it is {} already", output.option,
                                    output.path, use->second));
    return false;
  }

  void check(const NamedFile &output, bool isFolder) {
    if (!isOwn(output, isFolder))
      return;
    if (auto in = sealedAround(output.path, isFolder, files_.checkpoints))
      problems_.push_back(fmt::format(
          "{} '{}': it is {}the {} '{}'", output.option, output.path,
          in->isInside ? "inside " : "", in->what, in->path));
  }

  const CommandFiles &files_;
  std::map<Identity, std::string> uses_;
  std::vector<std::string> problems_;
};

} // namespace

bool sameFile(const std::string &a, const std::string &b) {
  return identityOf(a) == identityOf(b);
}

Status checkFiles(const CommandFiles &files) { return Checker(files).check(); }

} // namespace mtc::runtime
