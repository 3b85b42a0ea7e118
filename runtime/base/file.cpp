//===- file.cpp - mapped input files and atomic output files --------------===//

#include "runtime/base/file.h"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

std::string folderOf(const std::string &path) {
  std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

} // namespace

MappedFile::~MappedFile() {
  if (data_)
    munmap(const_cast<std::byte *>(data_), size_);
}

void MappedFile::swap(MappedFile &other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
}

std::string_view MappedFile::text() const {
  return {reinterpret_cast<const char *>(data_), static_cast<size_t>(size_)};
}

Status MappedFile::open(const std::string &path, MappedFile &out) {
  // O_NONBLOCK: opening a fifo without a writer must not hang.
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return readError(path, errno);
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return {StatusCode::inputRejected,
            fmt::format("cannot read '{}': expected a regular file", path)};
  }
  MappedFile file;
  file.size_ = info.st_size;
  if (info.st_size > 0) {
    void *base = mmap(nullptr, info.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
      int error = errno;
      close(fd);
      file.size_ = 0;
      return readError(path, error);
    }
    file.data_ = static_cast<const std::byte *>(base);
  }
  close(fd);
  out = std::move(file);
  return Status::okay();
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) {
    close(fd_);
    unlink(temporary_.c_str());
  }
}

void AtomicFile::swap(AtomicFile &other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(fd_, other.fd_);
}

Status AtomicFile::create(const std::string &path, AtomicFile &out) {
  // Ranks may be threads of one process, so the pid alone is not unique.
  static std::atomic<int> counter{0};
  AtomicFile file;
  file.path_ = path;
  file.temporary_ = fmt::format("{}.tmp.{}.{}", path, getpid(), counter++);
  file.fd_ = ::open(file.temporary_.c_str(),
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file.fd_ < 0)
    return writeError(path, errno);
  out = std::move(file);
  return Status::okay();
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

Status AtomicFile::commit() {
  if (fsync(fd_) != 0)
    return writeError(path_, errno);
  int error = close(fd_) != 0 ? errno : 0;
  fd_ = -1;
  if (!error && rename(temporary_.c_str(), path_.c_str()) != 0)
    error = errno;
  if (error) {
    unlink(temporary_.c_str());
    return writeError(path_, error);
  }
  // Without this the rename may not survive a power failure.
  int folder = ::open(folderOf(path_).c_str(), O_RDONLY | O_CLOEXEC);
  if (folder >= 0) {
    (void)fsync(folder);
    close(folder);
  }
  return Status::okay();
}

Status writeTextFile(const std::string &path, std::string_view text) {
  AtomicFile file;
  MTC_RETURN_IF_ERROR(AtomicFile::create(path, file));
  MTC_RETURN_IF_ERROR(file.write(0, text.data(), text.size()));
  return file.commit();
}

Status checkWritable(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return writeError(path, EISDIR);
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode))
    return {StatusCode::writeFailed,
            fmt::format("cannot write '{}': expected a new name or a regular "
                        "file, found a device or a pipe",
                        path)};
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

} // namespace mtc::runtime
