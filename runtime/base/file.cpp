//===- file.cpp - input files and atomic output files ---------------------===//

#include "runtime/base/file.h"

#include "runtime/base/unfinished_files.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace mtc::runtime {
namespace {

Status readError(const std::string &path, int error) {
  return {StatusCode::inputRejected,
          fmt::format("cannot read '{}': {}", path, std::strerror(error))};
}

Status writeError(const std::string &path, int error) {
  return {StatusCode::writeFailed,
          fmt::format("cannot write '{}': {}", path, std::strerror(error))};
}

const char *kindOf(mode_t mode) {
  return S_ISDIR(mode)    ? "a folder"
         : S_ISFIFO(mode) ? "a pipe (FIFO)"
         : S_ISSOCK(mode) ? "a socket"
                          : "a device";
}

std::string folderOf(const std::string &path) {
  std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

} // namespace

InputFile::~InputFile() {
  if (fd_ >= 0)
    close(fd_);
}

void InputFile::swap(InputFile &other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
}

Status InputFile::open(const std::string &path, InputFile &out) {
  InputFile file;
  file.path_ = path;
  // O_NONBLOCK: opening a fifo without a writer must not hang.
  file.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.fd_ < 0)
    return readError(path, errno);
  struct stat info;
  if (fstat(file.fd_, &info) != 0)
    return readError(path, errno);
  if (!S_ISREG(info.st_mode))
    return {StatusCode::inputRejected,
            fmt::format("cannot read '{}': expected a regular file, found {}",
                        path, kindOf(info.st_mode))};
  file.size_ = info.st_size;
  out = std::move(file);
  return Status::okay();
}

int64_t readAt(int fd, int64_t offset, void *out, int64_t bytes) {
  char *to = static_cast<char *>(out);
  int64_t done = 0;
  while (done < bytes) {
    ssize_t n = pread(fd, to + done, bytes - done, offset + done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return -1;
    if (n == 0)
      break;
    done += n;
  }
  return done;
}

Status InputFile::read(int64_t offset, void *out, int64_t bytes) const {
  int64_t done = readAt(fd_, offset, out, bytes);
  if (done < 0)
    return readError(path_, errno);
  if (done < bytes)
    return {StatusCode::inputRejected,
            fmt::format("cannot read '{}': it had {} bytes when it was "
                        "opened and ends at byte {} now; expected a file "
                        "that does not change while it is read",
                        path_, size_, offset + done)};
  return Status::okay();
}

void *InputFile::map() const {
  return mmap(nullptr, static_cast<size_t>(size_), PROT_READ, MAP_PRIVATE, fd_,
              0);
}

bool InputFile::isWhole() const {
  struct stat info;
  return fstat(fd_, &info) == 0 && info.st_size >= size_;
}

Status readWholeFile(const std::string &path, std::string &out) {
  InputFile file;
  MTC_RETURN_IF_ERROR(InputFile::open(path, file));
  std::string text(static_cast<size_t>(file.size()), '\0');
  MTC_RETURN_IF_ERROR(file.read(0, text.data(), file.size()));
  out = std::move(text);
  return Status::okay();
}

bool writeAll(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

bool isWritable(int fd, int milliseconds) {
  pollfd file{fd, POLLOUT, 0};
  int ready;
  do // a signal is no answer
    ready = poll(&file, 1, milliseconds);
  while (ready < 0 && errno == EINTR);
  return ready > 0;
}

std::string behindLinks(const std::string &name) {
  constexpr int kMost = 40; // as many as the kernel follows
  std::error_code error;
  // "a/" and "a/." are the folder "a".
  fs::path path = name;
  while (path.has_relative_path() &&
         (!path.has_filename() || path.filename() == "."))
    path = path.parent_path();
  if (path.empty() && !name.empty())
    path = ".";
  for (int i = 0; i < kMost && fs::is_symlink(path, error); ++i)
    path = path.parent_path() / fs::read_symlink(path, error);
  return path.string();
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) {
    close(fd_);
    unlink(temporary_.c_str());
    forgetUnfinished(temporary_);
  }
}

void AtomicFile::swap(AtomicFile &other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(fd_, other.fd_);
}

Status checkTarget(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode))
    return Status::okay(); // a new name is free
  return {StatusCode::writeFailed,
          fmt::format("cannot write '{}': expected a new name or a regular "
                      "file, found {}",
                      path, kindOf(info.st_mode))};
}

Status AtomicFile::create(const std::string &path, AtomicFile &out,
                          const std::string &meanwhile) {
  // Ranks may be threads of one process, so the pid alone is not unique.
  static std::atomic<int> counter{0};
  AtomicFile file;
  file.path_ = behindLinks(path);
  // The rename would take away what other programs wait at.
  MTC_RETURN_IF_ERROR(checkTarget(file.path_));
  std::string name =
      meanwhile.empty()
          ? file.path_
          : meanwhile + "/" + fs::path(file.path_).filename().string();
  do { // a file of that name is somebody's
    file.temporary_ = fmt::format("{}.tmp.{}.{}", name, getpid(), counter++);
    file.fd_ = ::open(file.temporary_.c_str(),
                      O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file.fd_ < 0 && errno == EEXIST);
  if (file.fd_ < 0)
    return writeError(path, errno);
  noteUnfinished(file.temporary_);
  out = std::move(file);
  return Status::okay();
}

Status AtomicFile::reserve(int64_t bytes) {
  int result;
  do
    result = fallocate(fd_, 0, 0, bytes);
  while (result != 0 && errno == EINTR);
  if (result == 0 || errno == EOPNOTSUPP || errno == ENOSYS)
    return Status::okay();
  return writeError(path_, errno);
}

Status AtomicFile::write(int64_t offset, const void *data, int64_t bytes) {
  const char *from = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t n = pwrite(fd_, from, bytes, offset);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return writeError(path_, n == 0 ? ENOSPC : errno);
    from += n;
    offset += n;
    bytes -= n;
  }
  return Status::okay();
}

Status AtomicFile::commit(NameSync names) {
  if (names != NameSync::nobody && fsync(fd_) != 0)
    return writeError(path_, errno);
  int error = close(fd_) != 0 ? errno : 0;
  fd_ = -1;
  if (!error && rename(temporary_.c_str(), path_.c_str()) != 0)
    error = errno;
  if (error)
    unlink(temporary_.c_str());
  forgetUnfinished(temporary_);
  if (error)
    return writeError(path_, error);
  return names == NameSync::here ? syncFolder(folderOf(path_)) : Status::okay();
}

Status syncFolder(const std::string &path) {
  int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return writeError(path, errno);
  // EINVAL: a file system that has no such thing.
  int error = fsync(folder) != 0 && errno != EINVAL ? errno : 0;
  close(folder);
  return error ? writeError(path, error) : Status::okay();
}

Status writeTextFile(const std::string &path, std::string_view text,
                     NameSync names) {
  AtomicFile file;
  MTC_RETURN_IF_ERROR(AtomicFile::create(path, file));
  MTC_RETURN_IF_ERROR(file.write(0, text.data(), text.size()));
  return file.commit(names);
}

Status checkWritable(const std::string &path) {
  MTC_RETURN_IF_ERROR(checkTarget(path));
  if (access(folderOf(path).c_str(), W_OK | X_OK) != 0)
    return writeError(path, errno);
  return Status::okay();
}

Status makeFolders(const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    return {
        StatusCode::writeFailed,
        fmt::format("cannot create folder '{}': {}", path, error.message())};
  return Status::okay();
}

Status makeLastingFolders(const std::string &path) {
  std::vector<std::string> made; // the deepest first
  std::error_code error;
  for (std::string at = path; !at.empty() && !fs::exists(at, error);
       at = fs::path(at).parent_path().string())
    made.push_back(at);
  MTC_RETURN_IF_ERROR(makeFolders(path));
  for (const std::string &folder : made)
    MTC_RETURN_IF_ERROR(syncFolder(folderOf(folder)));
  return Status::okay();
}

} // namespace mtc::runtime
