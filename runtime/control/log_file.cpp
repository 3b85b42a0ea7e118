//===- log_file.cpp - the file of a run's log -----------------------------===//

#include "runtime/control/log_file.h"

#include "mtc/runtime/log_fields.h"
#include "runtime/base/file.h"
#include "runtime/base/json.h"
#include "runtime/base/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace mtc::runtime {
namespace {

using Taken = std::function<bool(const std::string &)>;

Status writeError(const std::string &path, int error) {
  if (error == EINTR)
    return {StatusCode::interrupted,
            fmt::format("stopped by a signal before log '{}' was open", path)};
  return {StatusCode::writeFailed,
          fmt::format("cannot write log '{}': {}", path, std::strerror(error))};
}

/// Gives the file another name, which no file has. link fails where rename
/// would replace.
Status keep(const std::string &path, const Taken &taken) {
  for (int number = 1;; ++number) {
    std::string name = fmt::format("{}.{}", path, number);
    if (taken(name))
      continue;
    if (link(path.c_str(), name.c_str()) == 0) {
      if (unlink(path.c_str()) != 0)
        return writeError(path, errno);
      std::fprintf(stderr, "log '%s' is there already: kept as '%s'\n",
                   printable(path).c_str(), printable(name).c_str());
      return Status::okay();
    }
    if (errno != EEXIST)
      return {StatusCode::writeFailed,
              fmt::format("cannot keep log '{}' as '{}': {}; give --append or "
                          "another name",
                          path, name, std::strerror(errno))};
  }
}

/// Longer than any line of ours: a header has what a command may name (2 MiB),
/// of which a byte may be six.
constexpr int64_t kLongest = 1 << 24;

/// Whether a line is one that a run writes, or the beginning of one.
bool isOurs(std::string_view line) {
  auto isKey = [&](const char *key) {
    std::string start = fmt::format("{{\"{}\": ", key);
    return line.substr(0, start.size()) == start.substr(0, line.size());
  };
  return isKey(runFields()[0].key) || isKey(stepFields()[0].key) ||
         isKey(evaluationFields()[0].key);
}

Status notOurs(const std::string &path) {
  return {StatusCode::usage,
          fmt::format("log '{}': expected lines of a log to continue, found "
                      "something else at its end; give another name",
                      printable(path))};
}

/// A log to be continued ends with a line of ours, whole or cut short by the
/// end of the run that wrote it. Sets `end` to where the next line goes.
Status endOf(int fd, int64_t size, const std::string &path, int64_t &end) {
  std::string tail(static_cast<size_t>(std::min(size, kLongest)), '\0');
  auto length = static_cast<int64_t>(tail.size());
  if (readAt(fd, size - length, tail.data(), length) != length)
    return writeError(path, errno);
  end = size;
  if (tail.empty())
    return Status::okay();
  bool whole = tail.back() == '\n';
  size_t line = tail.rfind('\n', tail.size() - (whole ? 2 : 1)) + 1;
  if ((line == 0 && size > kLongest) || (whole && tail.size() < 2) ||
      !isOurs(std::string_view(tail).substr(line)))
    return notOurs(path);
  if (whole)
    return Status::okay();
  if (Json::accept(tail.substr(line))) { // only its end is lacking
    if (pwrite(fd, "\n", 1, size) != 1)
      return writeError(path, errno);
    end = size + 1;
    return Status::okay();
  }
  end = size - static_cast<int64_t>(tail.size() - line);
  if (ftruncate(fd, end) != 0)
    return writeError(path, errno);
  std::fprintf(stderr, "log '%s': half a line at its end was removed\n",
               printable(path).c_str());
  return Status::okay();
}

Status continueAt(int fd, int64_t size, const std::string &path) {
  int64_t end = 0;
  MTC_RETURN_IF_ERROR(endOf(fd, size, path, end));
  return lseek(fd, end, SEEK_SET) == end ? Status::okay()
                                         : writeError(path, errno);
}

/// A standard descriptor that is this file, such as /dev/stdout; or -1.
int standardFile(const struct stat &file) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    struct stat info;
    if (fstat(fd, &info) == 0 && info.st_dev == file.st_dev &&
        info.st_ino == file.st_ino)
      return fd;
  }
  return -1;
}

} // namespace

LogFile::~LogFile() {
  if (fd_ >= 0 && fd_ != lock_.fd())
    close(fd_);
}

Status LogFile::open(const std::string &path, bool append, const Taken &taken) {
  struct stat info;
  bool isThere = stat(path.c_str(), &info) == 0;
  // What is open already keeps its position, and is nobody's to rename.
  if (int standard = isThere ? standardFile(info) : -1; standard >= 0) {
    fd_ = dup(standard);
    return fd_ >= 0 ? Status::okay() : writeError(path, errno);
  }
  if (isThere && !S_ISREG(info.st_mode)) {
    fd_ = ::open(path.c_str(), O_WRONLY);
    return fd_ >= 0 ? Status::okay() : writeError(path, errno);
  }
  // It is the file that is kept, not its other name.
  return openRegular(behindLinks(path), append, taken);
}

Status LogFile::openRegular(const std::string &path, bool append,
                            const Taken &taken) {
  MTC_RETURN_IF_ERROR(FileLock::take(path, path, lock_));
  struct stat info;
  if (fstat(lock_.fd(), &info) != 0)
    return writeError(path, errno);
  if (append) {
    MTC_RETURN_IF_ERROR(continueAt(lock_.fd(), info.st_size, path));
  } else if (info.st_size > 0) {
    MTC_RETURN_IF_ERROR(keep(path, taken));
    MTC_RETURN_IF_ERROR(FileLock::take(path, path, lock_));
  }
  fd_ = lock_.fd();
  path_ = path;
  start_ = lseek(fd_, 0, SEEK_CUR);
  // Ranks inherit it itself: closing a copy of it would end the lock.
  (void)fcntl(fd_, F_SETFD, 0);
  return Status::okay();
}

/// The step of a whole line; none of a line that says none.
static std::optional<int64_t> stepOf(std::string_view line) {
  Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const char *key = stepFields()[0].key;
  if (!json.is_object() || !json.contains(key) ||
      !json[key].is_number_integer())
    return std::nullopt;
  return json[key].get<int64_t>();
}

Status LogFile::cutBehind(int64_t step) {
  if (!isLocked())
    return Status::okay();
  // By the descriptor that holds the lock: the lock ends when another one of
  // the file is closed.
  struct stat info;
  if (fstat(fd_, &info) != 0)
    return writeError(path_, errno);
  std::string text(static_cast<size_t>(info.st_size), '\0');
  if (readAt(fd_, 0, text.data(), info.st_size) != info.st_size)
    return writeError(path_, errno);
  auto at = static_cast<size_t>(start_);
  while (at < text.size()) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos ||
        stepOf(std::string_view(text).substr(at, end - at)).value_or(0) > step)
      break;
    at = end + 1;
  }
  auto bytes = static_cast<off_t>(at);
  if (ftruncate(fd_, bytes) != 0 || lseek(fd_, bytes, SEEK_SET) != bytes)
    return writeError(path_, errno);
  return Status::okay();
}

} // namespace mtc::runtime
