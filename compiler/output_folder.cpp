//===- output_folder.cpp - a bundle appears whole or not at all -----------===//

#include "compiler/output_folder.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace fs = std::filesystem;
using mtc::runtime::AtomicFile;
using mtc::runtime::NameSync;
using mtc::runtime::Status;
using mtc::runtime::StatusCode;

namespace mtc::compiler {
namespace {

Status writeError(const std::string &what, const std::string &path,
                  const std::string &why) {
  return {StatusCode::writeFailed,
          fmt::format("cannot {} '{}': {}", what, path, why)};
}

/// What stands at the place of a bundle and is none of ours, for a message;
/// empty if the place is free or holds an earlier bundle and nothing else.
std::string somethingElse(const fs::path &path) {
  // A commit that was killed may have left the mark in a whole bundle.
  static const std::set<std::string> ours = {"explain.json", "manifest.json",
                                             "programs",     "report.json",
                                             "report.txt",   kUnfinishedMark};
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error)))
    return "";
  if (!fs::is_directory(path, error))
    return "a file";
  std::set<std::string> strays;
  for (const auto &entry : fs::directory_iterator(path, error))
    if (!ours.contains(entry.path().filename().string()))
      strays.insert(entry.path().filename().string());
  if (error)
    return "a folder that cannot be read: " + error.message();
  return strays.empty() ? "" : "'" + *strays.begin() + "' in it";
}

/// A lock on a folder that lasts as long as the process; -1 if another has it.
int lockFolder(const fs::path &folder) {
  int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
    close(fd);
    fd = -1;
  }
  return fd;
}

constexpr std::string_view kTemporary = ".tmp-";
constexpr size_t kRandom = 6; // of mkdtemp
/// Longer than from mkdtemp to the lock, whatever the machine does meanwhile.
constexpr auto kYoung = std::chrono::minutes(1);

/// A folder that a killed compilation to `target` left. The lock is `fd`'s.
bool isAbandoned(const fs::directory_entry &entry, const fs::path &target,
                 int &fd) {
  std::string name = entry.path().filename().string();
  std::string prefix = target.filename().string() + std::string(kTemporary);
  std::error_code error;
  if (!name.starts_with(prefix) || name.size() != prefix.size() + kRandom ||
      entry.is_symlink(error) || !entry.is_directory(error))
    return false;
  auto touched = entry.last_write_time(error);
  if (error || fs::file_time_type::clock::now() - touched < kYoung ||
      !fs::exists(entry.path() / kUnfinishedMark, error) ||
      !somethingElse(entry.path()).empty())
    return false;
  fd = lockFolder(entry.path());
  return fd >= 0;
}

/// Without a mark, where none can be written, a folder stays. What a link names
/// is never removed.
void mark(const fs::path &folder) {
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(folder, error)))
    std::ofstream(folder / kUnfinishedMark);
}

void unmark(const fs::path &folder) {
  std::error_code ignored;
  fs::remove(folder / kUnfinishedMark, ignored);
}

/// Removes a temporary folder, or what has its name. It has the mark until
/// nothing else is in it: a kill leaves what the next compilation removes.
void removeMarked(const fs::path &folder) {
  std::error_code ignored; // it is in nobody's way
  if (fs::is_directory(fs::symlink_status(folder, ignored))) {
    mark(folder);
    for (fs::directory_iterator it(folder, ignored), end; it != end;
         it.increment(ignored))
      if (it->path().filename() != kUnfinishedMark)
        fs::remove_all(it->path(), ignored);
  }
  fs::remove_all(folder, ignored);
}

void removeAbandoned(const fs::path &target) {
  std::error_code error;
  fs::path parent = target.has_parent_path() ? target.parent_path() : ".";
  for (const auto &entry : fs::directory_iterator(parent, error)) {
    int fd = -1;
    if (!isAbandoned(entry, target, fd))
      continue;
    removeMarked(entry.path());
    close(fd);
  }
}

std::string temporaryPattern(const std::string &target) {
  return target + std::string(kTemporary) + std::string(kRandom, 'X');
}

/// Of a bundle that is still there.
Status kept(const std::string &path, int error) {
  return writeError("replace", path,
                    fmt::format("{}; it is as it was; move it away or choose "
                                "another name",
                                std::strerror(error)));
}

/// The folder that a path names, behind links, from the root on.
fs::path placeOf(const std::string &path) {
  std::string folder = runtime::behindLinks(path);
  std::error_code error;
  fs::path whole = fs::weakly_canonical(folder, error);
  if (error)
    whole = fs::path(folder).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

/// Whether something is mounted there, as a volume of a container: nothing
/// takes the place of such a folder. False where the kernel does not say.
bool isMountPoint(const fs::path &folder) {
  struct statx found {};
  return statx(AT_FDCWD, folder.c_str(), 0, 0, &found) == 0 &&
         (found.stx_attributes & found.stx_attributes_mask &
          STATX_ATTR_MOUNT_ROOT) != 0;
}

/// A device or a pipe, which no rename may replace.
bool isInPlace(const std::string &path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) &&
         !fs::is_directory(status);
}

} // namespace

int exchangeNames(const char *one, const char *other) {
  return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

OutputFolder::~OutputFolder() {
  if (!temporary_.empty())
    removeMarked(temporary_);
  if (lock_ >= 0)
    close(lock_);
}

Status OutputFolder::create(const std::string &path) {
  const fs::path target = placeOf(path);
  if (isMountPoint(target))
    return {StatusCode::usage,
            fmt::format("'{}': expected a folder that a bundle can take the "
                        "place of, found a mount point; name a folder in it",
                        path)};
  if (std::string found = somethingElse(target); !found.empty())
    return {
        StatusCode::usage,
        fmt::format("'{}': expected a new folder, an empty one or an earlier "
                    "bundle, found {}; choose another name",
                    path, found)};
  std::error_code error;
  if (target.has_parent_path())
    fs::create_directories(target.parent_path(), error);
  removeAbandoned(target);
  std::string pattern = temporaryPattern(target.string());
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
  lock_ = lockFolder(pattern);
  mark(temporary_);
  onInterrupt_.emplace(temporary_);
  return Status::okay();
}

Status OutputFolder::commit() {
  // An interrupt removes the new folder before this, or not at all.
  onInterrupt_.reset();
  std::error_code error;
  if (fs::exists(path_, error)) {
    MTC_RETURN_IF_ERROR(replace());
  } else {
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
      return writeError("rename a folder to", path_, std::strerror(errno));
    temporary_.clear();
  }
  // Last: until it has its place, a killed compilation leaves what is removed.
  unmark(path_);
  if (!temporary_.empty())
    removeMarked(temporary_);
  temporary_.clear();
  return Status::okay();
}

Status OutputFolder::replace() {
  mark(path_); // from the exchange on it is what a kill leaves
  if (exchange_(temporary_.c_str(), path_.c_str()) == 0)
    return Status::okay();
  int why = errno;
  unmark(path_);
  // The kernel or the file system has no exchange.
  if (why == EINVAL || why == ENOSYS || why == ENOTSUP)
    return replaceByTurns();
  return kept(path_, why);
}

Status OutputFolder::replaceByTurns() {
  // Without the mark: as long as the new bundle is not there, a kill leaves
  // both, and no compilation removes the earlier one.
  std::string aside = temporaryPattern(path_);
  if (!mkdtemp(aside.data()))
    return kept(path_, errno);
  if (std::rename(path_.c_str(), aside.c_str()) != 0) {
    int why = errno;
    rmdir(aside.c_str());
    return kept(path_, why);
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) {
    int why = errno;
    if (std::rename(aside.c_str(), path_.c_str()) == 0)
      return kept(path_, why);
    return writeError("replace", path_,
                      fmt::format("{}; the earlier bundle is '{}' now",
                                  std::strerror(why), aside));
  }
  temporary_ = aside;
  return Status::okay();
}

WholeFile::~WholeFile() {
  if (inPlace_ >= 0)
    close(inPlace_);
}

Status WholeFile::failed() {
  return status_ = writeError("write", path_, std::strerror(errno));
}

Status WholeFile::open() {
  open_ = true;
  if (isInPlace(path_)) {
    inPlace_ = ::open(path_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    return inPlace_ >= 0 ? Status::okay() : failed();
  }
  if (std::string folder = fs::path(path_).parent_path(); !folder.empty())
    status_ = sync_ == NameSync::nobody ? runtime::makeFolders(folder)
                                        : runtime::makeLastingFolders(folder);
  if (status_.ok())
    status_ = AtomicFile::create(path_, file_);
  return status_;
}

Status WholeFile::write(std::string_view bytes) {
  if (!open_)
    MTC_RETURN_IF_ERROR(open());
  if (!status_.ok())
    return status_;
  if (inPlace_ >= 0)
    return runtime::writeAll(inPlace_, bytes) ? Status::okay() : failed();
  status_ = file_.write(size_, bytes.data(), bytes.size());
  size_ += static_cast<int64_t>(bytes.size());
  return status_;
}

Status WholeFile::commit() {
  MTC_RETURN_IF_ERROR(write({})); // an empty file is one
  if (inPlace_ < 0)
    return status_ = file_.commit(sync_);
  return close(std::exchange(inPlace_, -1)) == 0 ? Status::okay() : failed();
}

Status writeFile(const std::string &path, const std::string &text,
                 NameSync sync) {
  WholeFile file(path, sync);
  MTC_RETURN_IF_ERROR(file.write(text));
  return file.commit();
}

} // namespace mtc::compiler
